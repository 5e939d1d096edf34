import { count, short } from '../../../charts/format';
import type { Provenance } from '../../../charts/provenance';
import { saveNumbers } from '../../../charts/save-numbers';
import type { Table } from '../../../charts/table';
import { child, hintScroll, html } from '../../../ui/dom';
import { draw } from '../../../ui/queue';
import { described } from '../../../state/described';
import { brushOnly, brushed, isBrushing, placeOf, toggle } from '../../../heads/brush';
import type { Checkpoints } from '../opening/checkpoints';
import { columnOf, columns, conditionsOf, optionalColumns, ordered, type Column, type Found } from './columns';
import { diagnosisOf } from './words';
import { HeadMeasurements } from '../reading/measurements';
import type { HeadRegistry, Model, PlacedHead } from '../../../heads/registry';
import type { State, Store } from '../state';

/** Rows that are shown at first: thousands would make every choice slow. */
const FEW = 200;
const STEPS: Record<string, number> = { ArrowUp: -1, ArrowDown: 1, PageUp: -10, PageDown: 10 };

/** Of a model that is being read. */
const NOTHING = new HeadMeasurements();

/** All heads of the model as a table that can be sorted, filtered and gone through by keys. */
export class HeadTable {
  private root = child(document, '[data-head-table]');
  private title = child(this.root, '#head-table-title');
  private scroll = child(this.root, '.rows-scroll');
  private grid = child<HTMLTableElement>(this.root, 'table');
  private body = child<HTMLTableSectionElement>(this.root, 'tbody');
  private status = child(this.root, '[data-table-status]');
  private problem = child(this.root, '[data-table-problem]');
  private more = child<HTMLButtonElement>(this.root, '[data-action="more-rows"]');
  private rows = new Map<string, HTMLTableRowElement>();
  private heads: PlacedHead[] = [];
  private shown: Column[] = [];
  private most = FEW;

  constructor(
    private store: Store,
    private registry: HeadRegistry,
    private checkpoints: Checkpoints,
    private measurements: HeadMeasurements,
  ) {
    this.wireButtons();
    child(this.root, '[data-columns]').append(...columns.flatMap(termOf));
    this.wireColumns();
    hintScroll(this.scroll);
    this.root.addEventListener('toggle', () => this.showChosen());
    this.body.addEventListener('keydown', (event) => this.press(event));
    this.body.addEventListener('click', (event) => this.click(event));
    this.body.addEventListener('focusin', (event) => this.point(event));
    this.body.addEventListener('pointerover', (event) => this.point(event));
    this.body.addEventListener('pointerleave', () => registry.hover(''));
    registry.hovering.subscribe(() => this.mark());
    for (const changed of [registry.changed, measurements.changed, checkpoints.readingChanged]) {
      changed.subscribe(() => draw(this.build));
    }
    store.changed.subscribe(({ names }) => {
      const has = (...list: (keyof State)[]) => list.some((name) => names.has(name));
      if (has('order', 'filter', 'level', 'columns', 'qk_clip')) this.build();
      else if (has('brush', 'head')) this.mark();
      if (has('head')) this.showChosen();
    });
    this.build();
  }

  private wireButtons(): void {
    const on = (action: string, act: () => void) =>
      child(this.root, `[data-action="${action}"]`).addEventListener('click', act);
    on('brush-rows', () => brushOnly(this.store, this.heads.map(placeOf)));
    on('brush-none', () => brushOnly(this.store, []));
    on('more-rows', () => {
      this.most = Infinity;
      this.build();
    });
    on('table-csv', () => saveNumbers('csv', this.table(), this.provenance(), 'heads'));
    on('table-json', () => saveNumbers('json', this.table(), this.provenance(), 'heads'));
  }

  /** A box for each column that is shown where it is chosen. */
  private wireColumns(): void {
    const boxes = columns
      .filter(({ optional }) => optional)
      .map(({ name, title }) => {
        const box = html('input', { type: 'checkbox', value: name });
        const label = html('label', {}, box, html('span', { textContent: title }));
        child(this.root, '[data-optional-columns]').append(label);
        return box;
      });
    const follow = () => {
      const chosen = this.store.state.columns.split(',');
      for (const box of boxes) box.checked = chosen.includes(box.value);
    };
    for (const box of boxes) {
      box.addEventListener('change', () => {
        const chosen = boxes.filter(({ checked }) => checked).map(({ value }) => value);
        this.store.set({ columns: chosen.join() });
      });
    }
    this.store.changed.subscribe(follow);
    follow();
  }

  private provenance(): Provenance {
    const { state } = this.store;
    const names = ['order', 'filter', 'level', 'length', 'tokens', 'correlation', 'qk_clip'] as const;
    const parameters = Object.fromEntries(names.map((name) => [name, state[name]]));
    return {
      title: `Heads of ${this.model.name}`,
      caption: '',
      link: location.href,
      settings: described(this.store.view, parameters),
      parameters,
    };
  }

  /** The rows that are shown, in their order, with every column that something is known of. */
  private table(): Table {
    this.build(); // what has arrived may wait for a frame to be shown
    const found = this.found;
    const known = columns.filter(({ value }) => this.heads.some((head) => !Number.isNaN(value(head, found))));
    const cell = (head: PlacedHead) => (column: Column) => {
      const value = column.value(head, found);
      return column.text?.(head, found) ?? (Number.isNaN(value) ? null : value);
    };
    return { columns: known.map(({ name }) => name), rows: this.heads.map((head) => known.map(cell(head))) };
  }

  /** The model whose heads are in the rows. */
  private get model(): Model {
    return this.checkpoints.reading ?? this.checkpoints.model;
  }

  private get found(): Found {
    return { measurements: this.checkpoints.reading ? NOTHING : this.measurements, state: this.store.state };
  }

  private build = (): void => {
    const all = this.model.heads;
    const { order } = this.store.state;
    const found = this.found;
    const known = columns.filter(({ value }) => all.some((head) => !Number.isNaN(value(head, found))));
    this.shown = known.filter(({ optional }) => !optional);
    try {
      const chosen = optionalColumns(this.store.state.columns);
      this.shown = known.filter((column) => !column.optional || chosen.includes(column));
      this.heads = this.wanted(all, found);
      this.problem.textContent = '';
    } catch (error) {
      this.heads = all;
      this.problem.textContent = (error as Error).message;
    }
    if (!this.checkpoints.reading) child(document, '[data-diagnosis]').textContent = diagnosisOf(all, found);
    this.buildTitles(order);
    this.buildRows(found);
    this.mark();
  };

  /** The heads that the filter lets pass, in their order. Throws what the two throw. */
  private wanted(all: PlacedHead[], found: Found): PlacedHead[] {
    const { order, filter } = this.store.state;
    const conditions = conditionsOf(filter);
    const by = columnOf(order);
    const passing = all.filter((head) =>
      conditions.every(({ name, holds }) => {
        const column = columnOf(name);
        return holds(column.value(head, found), column.text?.(head, found));
      }),
    );
    return ordered(passing, order, (head) => by.value(head, found));
  }

  private buildTitles(order: string): void {
    const row = html('tr', {});
    for (const { name, title, help, ascends } of this.shown) {
      const up = order === name;
      const down = order === `-${name}`;
      const button = html('button', { type: 'button', textContent: title });
      button.dataset.sort = name;
      button.addEventListener('click', () => {
        const isFalling = up || (!ascends && !down);
        this.store.offer('order', isFalling ? `-${name}` : name, true);
        child(this.grid, `[data-sort="${name}"]`).focus();
      });
      const cell = html('th', { scope: 'col', title: `${help}; “${name}” in the filter` }, button);
      if (up || down) cell.ariaSort = up ? 'ascending' : 'descending';
      row.append(cell);
    }
    this.grid.tHead?.replaceChildren(row);
  }

  /** Rows that are there already are kept, and changed: new ones at each partial result would take 100 MB. */
  private buildRows(found: Found): void {
    const focused = (document.activeElement as HTMLElement | null)?.dataset.row;
    const some = this.heads.slice(0, this.most);
    this.rows = new Map(some.map((head) => [head.id, this.rowOf(head, found)]));
    const rows = [...this.rows.values()];
    const { children } = this.body;
    if (rows.length !== children.length || rows.some((row, i) => row !== children[i])) {
      this.body.replaceChildren(...rows);
      if (focused) this.rows.get(focused)?.focus({ preventScroll: true });
    }
    rows.forEach((row, i) => (row.tabIndex = i === 0 ? 0 : -1));
    this.more.hidden = some.length === this.heads.length;
    this.more.textContent = `Show all ${count(this.heads.length)} rows`;
  }

  private rowOf(head: PlacedHead, found: Found): HTMLTableRowElement {
    const row = this.rows.get(head.id) ?? html('tr', {});
    row.dataset.row = head.id;
    while (row.cells.length > this.shown.length) row.deleteCell(-1);
    this.shown.forEach(({ value, text }, i) => {
      const cell = row.cells[i] ?? row.insertCell();
      const number = value(head, found);
      const said = text?.(head, found) ?? (Number.isNaN(number) ? '' : short(number));
      if (cell.textContent !== said) cell.textContent = said;
    });
    return row;
  }

  /** Shows which rows are brushed, chosen, and under the hand. */
  private mark(): void {
    const { state } = this.store;
    const chosen = brushed(state);
    const { model } = this;
    for (const head of this.heads) {
      const row = this.rows.get(head.id);
      if (!row) continue;
      row.setAttribute('aria-selected', String(chosen.has(placeOf(head))));
      row.classList.toggle('hovered', head.id === this.registry.hovered);
      if (head.id === state.head) row.setAttribute('aria-current', 'true');
      else row.removeAttribute('aria-current');
    }
    const brushes = model.heads.filter((head) => chosen.has(placeOf(head))).length;
    this.status.textContent =
      `${model.name}: ${count(this.heads.length)} of ${count(model.heads.length)} heads` +
      (this.checkpoints.reading ? ' read so far' : '') +
      (brushes > 0 ? `, ${count(brushes)} highlighted.` : '.');
    this.title.textContent = `All heads of ${model.name}${model.key === 'sample' ? ' (sample)' : ''}`;
    child<HTMLButtonElement>(this.root, '[data-action="brush-none"]').disabled = chosen.size === 0;
  }

  /** Scrolls the table, and not the page, to the chosen head. */
  private showChosen(): void {
    const row = this.rows.get(this.store.state.head);
    if (!row) return;
    const { scrollTop, clientHeight } = this.scroll;
    const top = row.offsetTop - row.offsetHeight; // below the titles, which stay
    if (top < scrollTop || row.offsetTop + row.offsetHeight > scrollTop + clientHeight) {
      this.scroll.scrollTop = row.offsetTop - clientHeight / 2;
    }
  }

  private headOf(event: Event): PlacedHead | undefined {
    const id = (event.target as Element).closest<HTMLElement>('[data-row]')?.dataset.row;
    return this.heads.find((head) => head.id === id);
  }

  private point(event: Event): void {
    this.registry.hover(this.headOf(event)?.id ?? '');
  }

  private click(event: MouseEvent): void {
    const head = this.headOf(event);
    if (!head) return;
    if (isBrushing(event)) toggle(this.store, placeOf(head));
    else this.choose(head);
  }

  private choose({ id }: PlacedHead): void {
    this.store.set({ head: this.store.state.head === id ? '' : id });
  }

  private press(event: KeyboardEvent): void {
    const head = this.headOf(event);
    if (!head) return;
    if (event.key === 'Enter') this.choose(head);
    else if (event.key === ' ') toggle(this.store, placeOf(head));
    else if (!this.move(event.key, head)) return;
    event.preventDefault();
  }

  private move(key: string, from: PlacedHead): boolean {
    const last = this.rows.size - 1;
    const ends: Record<string, number> = { Home: 0, End: last };
    const step = STEPS[key];
    if (step === undefined && !(key in ends)) return false;
    const at = this.heads.indexOf(from);
    const to = ends[key] ?? Math.min(last, Math.max(0, at + step));
    const next = this.rows.get(this.heads[to].id);
    for (const row of this.rows.values()) row.tabIndex = -1;
    if (next) next.tabIndex = 0;
    next?.focus();
    return true;
  }
}

/** What the titles of columns mean, for a list of terms. */
function termOf({ title, help }: Column): HTMLElement[] {
  return [html('dt', { textContent: title }), html('dd', { textContent: help })];
}
