import { capitalized, short } from '../../../charts/format';
import { MarkTip } from '../../../charts/mark-tip';
import { layerColour } from '../../../charts/palette';
import type { Table } from '../../../charts/table';
import type { Head } from '../../../engine/protocol';
import { brushed, placeOf } from '../../../heads/brush';
import { placeName, spreadNames } from '../../../heads/registry';
import { Frame } from '../../../ui/frame';
import type { Checkpoints } from '../opening/checkpoints';
import { panels, type PanelOptions } from '../panel';
import type { Figure, Store } from '../state';

/** Ratio of numbers from which on their axis is logarithmic. */
const WIDE = 20;

/** A head over the steps of its run. */
interface Path {
  place: string;
  heads: Head[];
}

/** The heads of several checkpoints of one training run, over its steps. */
export class HeadStepsFigure implements Figure {
  readonly id = 'head-steps';
  readonly inputs = [] as const;
  readonly repaintOn = ['spread', 'head', 'brush'] as const;
  readonly frame = new Frame(this.id, () => this.table());
  private tip = new MarkTip(this.frame.chart);

  constructor(
    private store: Store,
    private checkpoints: Checkpoints,
  ) {
    this.frame.setPresent(false);
    checkpoints.changed.subscribe(() => this.frame.setPresent(this.steps().length > 1));
  }

  paint(): void {
    const steps = this.steps();
    const paths = this.paths();
    if (steps.length < 2 || paths.length === 0) return this.frame.clear();
    const { spread } = this.store.state;
    const drawn = panels(
      [
        this.panel(spreadNames[spread], (head) => head[spread]),
        this.panel('mean of the eigenspectrum', ({ mean }) => mean),
      ],
      this.frame.width,
      this.caption(),
    );
    this.tip.place(() => drawn.panels.map(({ points, chart }) => [points, chart] as const));
    this.frame.retitle(this.title());
    this.frame.put(drawn.svg);
    this.frame.say(this.caption());
  }

  table(): Table | null {
    const paths = this.paths();
    if (paths.length === 0) return null;
    const measures = ['mean', 'variance', 'variance_modulus', 'variance_frobenius'] as const;
    const rows = paths.flatMap(({ heads }) =>
      heads.map((it) => [it.step, it.stack, it.layer, it.head, ...measures.map((name) => it[name])]),
    );
    return { columns: ['step', 'stack', 'layer', 'head', ...measures], rows };
  }

  /** Steps of the opened checkpoints in their order; none where one is of no training run, or two are of one step. */
  private steps(): number[] {
    const steps = this.checkpoints.list.map(({ heads }) => heads[0]?.step ?? NaN).sort((a, b) => a - b);
    const isRun = steps.every(Number.isFinite) && new Set(steps).size === steps.length;
    return isRun ? steps : [];
  }

  /** Heads that all checkpoints have. */
  private paths(): Path[] {
    const steps = this.steps();
    const found = new Map<string, Head[]>();
    const inOrder = [...this.checkpoints.list].sort((a, b) => (a.heads[0]?.step ?? 0) - (b.heads[0]?.step ?? 0));
    for (const head of inOrder.flatMap(({ heads }) => heads)) {
      found.set(placeOf(head), [...(found.get(placeOf(head)) ?? []), head]);
    }
    const all = [...found].map(([place, heads]) => ({ place, heads }));
    return all.filter(({ heads }) => heads.length === steps.length);
  }

  private panel(label: string, of: (head: Head) => number): PanelOptions {
    const { state } = this.store;
    const paths = this.paths();
    const chosen = placeOf(this.checkpoints.head(state.head));
    const brushes = brushed(state);
    const layers = 1 + Math.max(...paths.map(({ heads: [first] }) => first.layer));
    const isClear = (place: string) => brushes.size === 0 || brushes.has(place);
    const colours = Array.from({ length: layers }, (_, layer) => layerColour(layer, layers));
    return {
      title: capitalized(label),
      entries: [{ text: `heads, layers 0–${layers - 1}`, kind: 'strip', colours }],
      x: { label: 'training step →', values: this.steps(), say: (step) => `step ${step}` },
      y: { name: label, log: isWide(paths.flatMap(({ heads }) => heads.map(of))) },
      curves: paths.map(({ place, heads }) => ({
        name: placeName(heads[0]),
        y: heads.map(of),
        colour: colours[heads[0].layer],
        width: place === chosen ? 3.5 : 1.5,
        opacity: isClear(place) ? 1 : 0.15,
      })),
    };
  }

  private title(): string {
    const { spread } = this.store.state;
    const paths = this.paths();
    const grown = paths.filter(({ heads }) => heads[heads.length - 1][spread] > heads[0][spread]).length;
    const steps = this.steps();
    return (
      `The ${spreadNames[spread]} of ${grown} of ${paths.length} heads grows ` +
      `from step ${steps[0]} to ${steps[steps.length - 1]}`
    );
  }

  private caption(): string {
    const place = placeOf(this.checkpoints.head(this.store.state.head));
    const chosen = this.paths().find((it) => it.place === place);
    const { spread } = this.store.state;
    const count = `${this.steps().length} checkpoints`;
    if (!chosen) return `${count}.`;
    const [first, last] = [chosen.heads[0], chosen.heads[chosen.heads.length - 1]];
    return (
      `${count}. Thick: ${placeName(first)}, ${spreadNames[spread]} from ${short(first[spread])} to ` +
      `${short(last[spread])}.`
    );
  }
}

/** Whether numbers need a logarithmic axis. */
function isWide(values: readonly number[]): boolean {
  return Math.min(...values) > 0 && Math.max(...values) > WIDE * Math.min(...values);
}
