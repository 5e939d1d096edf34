import { decade, tick } from '../../charts/format';
import type { Table } from '../../charts/table';
import { STACK } from '../../state/setting';
import type { Store } from '../../state/store';
import type { Rank } from '../../state/table';
import { decades, rankDomain } from '../shared/depth-axes';
import {
  curveColumns,
  curveMarks,
  curveRows,
  depthChart,
  depthOf,
  endsText,
  sampledText,
  SHAPE,
} from './depth-chart';
import { Frame } from '../../ui/frame';
import type { FigureContext, Figure } from '../../ui/figure';
import { child } from '../../ui/dom';
import { claimText } from './collapse-claim';
import { pointsOf, type LayerPoint, type StackCurves } from './stack-curves';

const AXES: Record<Rank, string> = {
  residual: 'relative residual',
  stable_rank: 'stable rank',
  effective_rank: 'effective rank',
  cosine: 'mean cosine of two tokens',
};

/** How alike the tokens become along the layers of a stack. */
export class DepthFigure implements Figure {
  readonly id = 'depth';
  readonly inputs = STACK;
  readonly repaintOn = ['rank', 'floor'] as const;
  readonly frame = new Frame(this.id, () => this.table());
  private claim = child(this.frame.root, '[data-claim]');

  constructor(
    private store: Store,
    private curves: StackCurves,
  ) {}

  compute(context: FigureContext): Promise<void> {
    return this.curves.ask(context);
  }

  paint(): void {
    const { known } = this.curves;
    const { rank } = this.store.state;
    if (known.length === 0) return;
    const lists = known.map((curve) => this.points(pointsOf(curve, rank)));
    const domain = rankDomain(rank, lists.flat());
    const y = {
      ...{ domain, label: AXES[rank], clamp: true },
      ...(rank === 'residual'
        ? { type: 'log' as const, ticks: decades(domain), tickFormat: decade }
        : { ticks: 6, tickFormat: tick }),
    };
    this.judge();
    const { width } = this.frame;
    const height = (legend: number) => this.frame.heightInSight(SHAPE, legend);
    const svg = depthChart(
      known,
      { label: this.describe(), width, height, y, entries: [] },
      known.map((curve, i) => curveMarks(curve, lists[i], domain, this.curves.isFresh(curve))),
    );
    this.frame.put(svg);
    this.frame.say(this.caption());
  }

  table(): Table | null {
    const { known } = this.curves;
    if (known.length === 0) return null;
    const measures = [this.store.state.rank];
    return { columns: curveColumns(measures), rows: curveRows(known, measures) };
  }

  /** A logarithmic axis has no place for zero. */
  private points(points: LayerPoint[]): LayerPoint[] {
    return this.store.state.rank === 'residual' ? points.filter(({ value }) => value > 0) : points;
  }

  /** Says whether the paper's claim holds in the stacks shown, once all curves are theirs. */
  private judge(): void {
    const { known } = this.curves;
    if (!known.every((curve) => this.curves.isFresh(curve))) return;
    const { mean, floor } = this.store.state;
    this.claim.textContent = claimText(known, mean, floor);
  }

  private caption(): string {
    const { known } = this.curves;
    const { rank } = this.store.state;
    const ends = endsText(known, rank);
    const end = ends && `At the end the ${AXES[rank]} is ${ends}.`;
    return [sampledText(known), end].filter(Boolean).join(' ');
  }

  private describe(): string {
    const { known } = this.curves;
    return `${AXES[this.store.state.rank]} over ${depthOf(known)} layers. ${this.caption()}`;
  }
}
