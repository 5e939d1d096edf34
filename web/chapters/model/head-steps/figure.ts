import stepFields from '../../../../src/checkpoint/step_fields.inc?raw';
import { capitalized, count, short } from '../../../charts/format';
import { MarkTip } from '../../../charts/mark-tip';
import { layerColour } from '../../../charts/palette';
import { finiteCell, type Table } from '../../../charts/table';
import type { Head } from '../../../engine/protocol';
import { brushed, placeOf } from '../../../heads/brush';
import { placeName, type PlacedHead } from '../../../heads/registry';
import { child } from '../../../ui/dom';
import { Frame } from '../../../ui/frame';
import { listed } from '../files/files';
import type { Checkpoints, Opened } from '../opening/checkpoints';
import { panels, type PanelOptions } from '../panel';
import { HeadMeasurements } from '../reading/measurements';
import type { Figure, Store } from '../state';
import { columns, type Column } from '../table/columns';

/** Ratio of numbers from which on their axis is logarithmic. */
const WIDE = 20;

/** What all steps of a head have alike. */
const ALIKE = listed(stepFields) as (keyof Head)[];

const LOSSES = [
  { name: 'loss', label: 'training loss', dash: undefined },
  { name: 'eval_loss', label: 'validation loss', dash: '7 3' },
] as const;

/** A head over the steps of its run. */
interface Path {
  place: string;
  heads: Head[];
}

/** The heads of several checkpoints of one training run, over its steps. */
export class HeadStepsFigure implements Figure {
  readonly id = 'head-steps';
  readonly inputs = [] as const;
  readonly repaintOn = ['steps_column', 'qk_clip', 'head', 'brush'] as const;
  readonly frame = new Frame(this.id, () => this.table());
  private tip = new MarkTip(this.frame.chart);
  private select = child<HTMLSelectElement>(this.frame.root, '[data-steps-column]');
  /** The checkpoints with a step in their order. */
  private run: readonly Opened[] = [];
  private paths: Path[] = [];

  constructor(
    private store: Store,
    private checkpoints: Checkpoints,
  ) {
    this.frame.setPresent(false);
    this.select.addEventListener('change', () => store.set({ steps_column: this.select.value }));
    checkpoints.changed.subscribe(() => this.follow());
  }

  private follow(): void {
    this.run = runOf(this.checkpoints.list);
    this.paths = pathsOf(this.run);
    this.select.replaceChildren(...this.columns().map(({ name, title }) => new Option(title, name)));
    this.frame.setPresent(this.run.length > 1);
  }

  paint(): void {
    const unlike = unlikeText(this.paths);
    this.frame.complain(unlike);
    if (this.run.length < 2 || this.paths.length === 0 || unlike) return this.frame.clear();
    const { name, title } = this.column();
    this.select.value = name;
    const losses = this.losses();
    const drawn = panels([this.heads(title), ...(losses ? [losses] : [])], this.frame.width, this.caption());
    this.tip.place(() => drawn.panels.map(({ points, chart }) => [points, chart] as const));
    this.frame.retitle(this.title());
    this.frame.put(drawn.svg);
    this.frame.say(this.caption());
  }

  table(): Table | null {
    if (this.paths.length === 0) return null;
    const columns = this.columns();
    const losses = LOSSES.map(({ name }) => name);
    const rows = this.paths.flatMap(({ heads }) =>
      heads.map((it) => [
        ...[it.step, it.stack, it.layer, it.head],
        ...columns.map((column) => finiteCell(this.value(column, it))),
        ...losses.map((name) => it[name]),
      ]),
    );
    return { columns: ['step', 'stack', 'layer', 'head', ...columns.map(({ name }) => name), ...losses], rows };
  }

  /** Columns of the table of heads that need no more than the scan, and have a number. */
  private columns(): Column[] {
    const heads = this.paths.flatMap((path) => path.heads);
    return columns.filter((it) => !it.ascends && heads.some((head) => Number.isFinite(this.value(it, head))));
  }

  private column(): Column {
    const all = this.columns();
    return all.find(({ name }) => name === this.store.state.steps_column) ?? all[0];
  }

  private value(column: Column, head: Head): number {
    return column.value(head as PlacedHead, { measurements: NOTHING, state: this.store.state });
  }

  private get steps(): number[] {
    return this.run.map(({ heads: [first] }) => first.step!);
  }

  private x() {
    return { label: 'training step →', values: this.steps, say: (step: number) => `step ${step}` };
  }

  private heads(title: string): PanelOptions {
    const { state } = this.store;
    const { paths } = this;
    const column = this.column();
    const chosen = placeOf(this.checkpoints.head(state.head));
    const brushes = brushed(state);
    const layers = 1 + Math.max(...paths.map(({ heads: [first] }) => first.layer));
    const isClear = (place: string) => brushes.size === 0 || brushes.has(place);
    const colours = Array.from({ length: layers }, (_, layer) => layerColour(layer, layers));
    const curves = paths.map(({ place, heads }) => ({
      name: placeName(heads[0]),
      y: heads.map((head) => this.value(column, head)),
      colour: colours[heads[0].layer],
      width: place === chosen ? 3.5 : 1.5,
      opacity: isClear(place) ? 1 : 0.15,
    }));
    return {
      title: capitalized(title),
      entries: [{ text: 'heads, first to last layer', kind: 'strip', colours }],
      x: this.x(),
      y: { name: title, log: isWide(curves.flatMap(({ y }) => y)) },
      curves,
    };
  }

  /** The losses of trainer_state.json, where there are any. */
  private losses(): PanelOptions | null {
    const curves = LOSSES.map(({ name, label, dash }) => ({
      name: label,
      y: this.run.map(({ heads: [first] }) => first[name] ?? NaN),
      colour: 'currentColor',
      dash,
    })).filter(({ y }) => y.some(Number.isFinite));
    if (curves.length === 0) return null;
    const entries = curves.map(({ name, dash }) => ({
      text: name,
      kind: 'line' as const,
      colours: ['currentColor'],
      dash,
    }));
    return { title: 'Loss', entries, x: this.x(), y: { name: 'loss' }, curves };
  }

  /** The first and the last number of a head. */
  private ends({ heads }: Path): [number, number] {
    const column = this.column();
    return [this.value(column, heads[0]), this.value(column, heads[heads.length - 1])];
  }

  private title(): string {
    const grown = this.paths.filter((path) => {
      const [first, last] = this.ends(path);
      return last > first;
    });
    const { steps } = this;
    return (
      `${this.column().title} grows in ${count(grown.length)} of ${count(this.paths.length)} heads ` +
      `from step ${steps[0]} to ${steps[steps.length - 1]}`
    );
  }

  private caption(): string {
    const place = placeOf(this.checkpoints.head(this.store.state.head));
    const chosen = this.paths.find((it) => it.place === place);
    const most = Math.max(...this.run.map(({ heads }) => heads.length));
    const left = most > this.paths.length ? ` ${most - this.paths.length} heads are not in all of them.` : '';
    const count = `${this.run.length} checkpoints.${left}`;
    if (!chosen) return count;
    const [first, last] = this.ends(chosen);
    const { title, help } = this.column();
    return `${count} Thick: ${placeName(chosen.heads[0])}, ${title} from ${short(first)} to ${short(last)}. ${title}: ${help}.`;
  }
}

/** For columns that need no measurements. */
const NOTHING = new HeadMeasurements();

/**
 * The checkpoints that have a step, in their order; none where two of one step differ, which are of two runs. A Trainer
 * saves the last checkpoint twice.
 */
function runOf(list: readonly Opened[]): Opened[] {
  const run = list.filter(({ heads }) => Number.isFinite(heads[0]?.step ?? NaN));
  run.sort((a, b) => a.heads[0].step! - b.heads[0].step!);
  const isSame = (a: Opened, b?: Opened) =>
    b?.heads.length === a.heads.length &&
    a.heads.every((it, i) => it.step === b.heads[i].step && it.mean === b.heads[i].mean);
  const once = run.filter((it, i) => !isSame(it, run[i - 1]));
  return once.some((it, i) => it.heads[0].step === once[i - 1]?.heads[0].step) ? [] : once;
}

/** Heads that all checkpoints have. */
function pathsOf(run: readonly Opened[]): Path[] {
  const found = new Map<string, Head[]>();
  for (const head of run.flatMap(({ heads }) => heads)) {
    found.set(placeOf(head), [...(found.get(placeOf(head)) ?? []), head]);
  }
  const all = [...found].map(([place, heads]) => ({ place, heads }));
  return all.filter(({ heads }) => heads.length === run.length);
}

/** Which field of a head is another at a later step, so that these are no steps of one model; '' for none. */
function unlikeText(paths: readonly Path[]): string {
  for (const { heads } of paths) {
    const [first] = heads;
    for (const name of ALIKE) {
      const other = heads.find((it) => it[name] !== first[name]);
      if (!other) continue;
      return (
        `${name} must be that of all steps: ${placeName(first)} has ${first[name]} at step ${first.step}, ` +
        `${other[name]} at step ${other.step}`
      );
    }
  }
  return '';
}

/** Whether numbers need a logarithmic axis. */
function isWide(values: readonly number[]): boolean {
  return Math.min(...values) > 0 && Math.max(...values) > WIDE * Math.min(...values);
}
