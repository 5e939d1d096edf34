import { count, short, withSubscripts } from '../../../charts/format';
import { legend } from '../../../charts/legend';
import { MOVES } from '../../../charts/matrix';
import { fieldRamp, stripOf } from '../../../charts/palette';
import { element } from '../../../charts/picture';
import { nameOf, placeName, type Model, type HeadRegistry, type PlacedHead } from '../../../heads/registry';
import { covarianceNames, tracesOf, untraced } from '../../../heads/traces';
import { child, html } from '../../../ui/dom';
import { draw } from '../../../ui/queue';
import { referTo } from '../../../ui/registry';
import { AXES } from '../lead/words';
import type { Store } from '../state';

/** All heads as a table of buttons, layer by layer: the way to a head without a pointer. */
export class HeadButtons {
  private host = child(document, '[data-heads]');
  private key = child(document, '[data-heads-key]');
  private detail = child(document, '[data-head-detail]');
  private buttons = new Map<string, HTMLButtonElement>();
  private built = '';

  constructor(
    private store: Store,
    private registry: HeadRegistry,
  ) {
    registry.changed.subscribe(() => draw(this.follow));
    registry.hovering.subscribe(() => this.showDetail());
    store.changed.subscribe(({ names }) => {
      const own = ['sample', 'head', 'sigma'] as const;
      if (own.some((name) => names.has(name))) this.follow();
    });
    child(document, '[data-action="take"]').addEventListener('click', () => this.take());
    this.follow();
  }

  /** Draws the table again after a change of the models, the choice or the colours. */
  follow = (): void => {
    const shown = this.registry.shown(this.store.state.sample);
    const key = shown.map((model) => `${model.key} ${model.name} ${model.heads.length} ${model.rows.join()}`).join();
    if (key !== this.built) this.build(shown);
    this.built = key;
    this.colour();
    this.showDetail();
  };

  private build(registry: Model[]): void {
    this.buttons.clear();
    this.host.replaceChildren(...registry.map((model) => this.tableOf(model)));
    const [first] = this.buttons.values();
    if (first) first.tabIndex = 0;
  }

  private tableOf(model: Model): HTMLTableElement {
    const grid = html('table', { className: 'heads' });
    const columns = 1 + Math.max(...model.heads.map((head) => head.head));
    const caption = grid.createCaption();
    caption.textContent = `${model.name}: ${count(model.heads.length)} heads, one row a layer`;
    this.addTitles(grid, columns);
    model.rows.forEach((textContent, place) => {
      const row = grid.insertRow();
      row.append(html('th', { scope: 'row', textContent }));
      for (let i = 0; i < columns; i++) {
        const head = model.heads.find((it) => it.row === place && it.head === i);
        const cell = row.insertCell();
        if (head) cell.append(this.button(head));
      }
    });
    grid.addEventListener('keydown', (event) => this.press(event, model));
    return grid;
  }

  private addTitles(grid: HTMLTableElement, columns: number): void {
    const row = grid.createTHead().insertRow();
    row.insertCell();
    for (let i = 0; i < columns; i++) row.append(html('th', { scope: 'col', textContent: String(i) }));
  }

  private button(head: PlacedHead): HTMLButtonElement {
    const button = html('button', { type: 'button', tabIndex: -1 });
    button.dataset.head = head.id;
    button.addEventListener('click', () => {
      const chosen = this.store.state.head === head.id;
      this.store.set({ head: chosen ? '' : head.id });
    });
    for (const event of ['focus', 'pointerenter']) {
      button.addEventListener(event, () => this.registry.hover(head.id));
    }
    for (const event of ['blur', 'pointerleave']) {
      button.addEventListener(event, () => this.registry.hover(''));
    }
    this.buttons.set(head.id, button);
    return button;
  }

  private press(event: KeyboardEvent, model: Model): void {
    const move = MOVES[event.key];
    const here = (event.target as HTMLElement).dataset.head;
    const head = model.heads.find((it) => it.id === here);
    if (!move || !head) return;
    event.preventDefault();
    const last = Math.max(...model.heads.filter((it) => it.row === head.row).map((it) => it.head));
    const row = head.row + move[0];
    const column = event.key === 'End' ? last : Math.max(0, head.head + move[1]);
    const other = model.heads.find((it) => it.row === row && it.head === column);
    const next = other && this.buttons.get(other.id);
    if (!next) return;
    for (const button of this.buttons.values()) button.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }

  private colour(): void {
    const { measure, value } = this.registry.predictions;
    const ramp = fieldRamp();
    const most = Math.max(1e-9, ...[...value.values()].filter(Number.isFinite));
    this.explain(`${AXES[measure]}, predicted: 0 to ${short(most)}`);
    for (const [id, button] of this.buttons) {
      const predicted = value.get(id) ?? NaN;
      const head = this.registry.find(id);
      const text = Number.isFinite(predicted) ? `, predicted ${measure} ${short(predicted)}` : '';
      button.setAttribute('aria-label', `${head ? placeName(head) : ''}${text}`);
      button.setAttribute('aria-pressed', String(id === this.store.state.head));
      button.style.background = `rgb(${ramp(Number.isFinite(predicted) ? predicted / most : 0).join(' ')})`;
    }
  }

  /** What the colours of the buttons mean. */
  private explain(text: string): void {
    const key = legend([{ text, kind: 'strip', colours: stripOf(fieldRamp()) }], 0, 400);
    const picture = element('svg', { width: 400, height: key.height, role: 'img', 'aria-label': text });
    picture.append(key.render());
    this.key.replaceChildren(picture);
  }

  private showDetail(): void {
    const head = this.registry.find(this.registry.hovered || this.store.state.head);
    const take = child<HTMLButtonElement>(document, '[data-action="take"]');
    take.disabled = !this.registry.find(this.store.state.head);
    for (const [id, button] of this.buttons) {
      button.classList.toggle('hovered', id === this.registry.hovered);
    }
    const text = head
      ? this.numbersOf(head)
      : `Point at a head or choose one: its numbers stand here, its eigenvalues in ${referTo('lead')}.`;
    this.detail.replaceChildren(...withSubscripts(text));
  }

  /** What the theory sees of a head, with the chosen covariance of the tokens. */
  private numbersOf(head: PlacedHead): string {
    const { sigma } = this.store.state;
    const traces = tracesOf(head, sigma);
    if (!traces) return `${nameOf(head)}: ${untraced([head], sigma)}`;
    return (
      `${nameOf(head)}, ${covarianceNames[sigma]}: mean ${short(traces.mean)}; variance ` +
      `${short(traces.variance)} (trace), ${short(traces.variance_modulus)} (modulus), ` +
      `${short(traces.variance_frobenius)} (Frobenius), rank floor ${short(traces.rank_floor)}; ` +
      `ξ ${short(traces.xi)}, η_S ${short(traces.eta_s)}, η_F ${short(traces.eta_f)}.`
    );
  }

  /** Makes the chosen head's numbers the setting: a random head with its mean and its spread. */
  private take(): void {
    const head = this.registry.find(this.store.state.head);
    const traces = head && tracesOf(head, this.store.state.sigma);
    if (!traces) return;
    const rounded = (value: number) => Number(value.toPrecision(6));
    this.store.set({
      ensemble: 'factored',
      width: head.width,
      head_width: head.head_width,
      mean: rounded(traces.mean),
      variance: rounded(traces.variance_frobenius),
      temperature: rounded(Math.sqrt(head.head_width)),
    });
  }
}
