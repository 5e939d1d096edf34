import type { Markish } from '@observablehq/plot';
import { tick } from '../../charts/format';
import type { Entry } from '../../charts/legend';
import type { Table } from '../../charts/table';
import type { LayerMeasure } from '../../engine/protocol';
import { STACK } from '../../state/setting';
import type { Store } from '../../state/store';
import {
  curveColumns,
  curveMarks,
  curveRows,
  depthChart,
  depthOf,
  endsText,
  sampledText,
  SHAPE,
  thinMarks,
} from './depth-chart';
import { Frame } from '../../ui/frame';
import type { FigureContext, Figure } from '../../ui/figure';
import { pointsOf, type Curve, type StackCurves } from './stack-curves';

const RANGE = [0, 1] as const;

/** What is drawn below the mean, each through marks of its own shape. */
const MINIMUM = { measure: 'entropy_minimum', name: 'smallest row', symbol: 'triangle' } as const;
const BOUND = { measure: 'entropy_bound', name: 'lower bound', symbol: 'times' } as const;

/** How the attention's entropy changes along the layers, with its lower bound. */
export class EntropyDepthFigure implements Figure {
  readonly id = 'entropy-depth';
  readonly inputs = STACK;
  readonly repaintOn = ['rows'] as const;
  readonly frame = new Frame(this.id, () => this.table());

  constructor(
    private store: Store,
    private curves: StackCurves,
  ) {}

  compute(context: FigureContext): Promise<void> {
    return this.curves.ask(context);
  }

  paint(): void {
    const { known } = this.curves;
    if (known.length === 0) return;
    const label = 'row entropy H / log of the keys seen';
    const y = { domain: RANGE, label, ticks: 6, tickFormat: tick };
    const { width } = this.frame;
    const height = () => this.frame.height(SHAPE);
    const svg = depthChart(
      known,
      { label: this.describe(), width, height, y, entries: this.entries() },
      known.map((curve) => this.marks(curve)),
    );
    this.frame.put(svg);
    this.frame.say(this.caption());
  }

  table(): Table | null {
    const { known } = this.curves;
    if (known.length === 0) return null;
    const measures = [this.mean(), ...this.extremes().map(({ measure }) => measure)];
    return { columns: curveColumns(measures), rows: curveRows(known, measures) };
  }

  /** Whether only the queries of the last block are shown, which see all the others. */
  private onlyLast(): boolean {
    const { mask, rows } = this.store.state;
    return mask === 'blocks' && rows === 'last';
  }

  private mean(): LayerMeasure {
    return this.onlyLast() ? 'entropy_final' : 'entropy';
  }

  /** They are known for all rows together only. */
  private extremes(): (typeof MINIMUM | typeof BOUND)[] {
    if (this.onlyLast()) return [];
    return this.store.state.softmax === 'exact' ? [MINIMUM, BOUND] : [MINIMUM];
  }

  private entries(): Entry[] {
    const mean: Entry = { text: 'mean of the rows', kind: 'ring', colours: ['var(--ink)'] };
    const others = this.extremes().map(({ name, symbol }): Entry => ({
      text: name,
      kind: symbol === 'times' ? 'cross' : symbol,
      colours: ['var(--ink)'],
    }));
    return [mean, ...others];
  }

  private marks(curve: Curve): Markish[] {
    const fresh = this.curves.isFresh(curve);
    return [
      ...this.extremes().flatMap(({ measure, ...look }) =>
        thinMarks(curve, pointsOf(curve, measure), look, fresh),
      ),
      ...curveMarks(curve, pointsOf(curve, this.mean()), RANGE, fresh),
    ];
  }

  private caption(): string {
    const { known } = this.curves;
    const ends = endsText(known, this.mean());
    const end = ends && `In the last layer the mean entropy is ${ends}.`;
    return [sampledText(known), end].filter(Boolean).join(' ');
  }

  private describe(): string {
    const whose = this.onlyLast() ? ' of the queries of the last block' : '';
    return `Row entropy${whose} over ${depthOf(this.curves.known)} layers. ${this.caption()}`;
  }
}
