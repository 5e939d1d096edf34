import { decade, decades, tick } from '../../charts/format';
import type { Table } from '../../charts/table';
import { rankDomain } from './depth-axes';
import {
  curveColumns,
  curveMarks,
  curveRows,
  depthChart,
  depthOf,
  endsText,
  sampledText,
  SHAPE,
  tipsOf,
} from './depth-chart';
import { MarkTip } from '../../charts/mark-tip';
import { compose, shifted } from '../../charts/plot';
import { entropyChart, entropyMeasures, entropyText } from './entropy-chart';
import { Frame } from '../../ui/frame';
import { entryOf } from '../../ui/registry';
import { child } from '../../ui/dom';
import { claimText, titleText } from './collapse-claim';
import { pointsOf, type LayerPoint, type StackCurves } from './stack-curves';
import { type Figure, type FigureContext, type Rank, STACK, type Store } from './state';

const AXES: Record<Rank, string> = {
  residual: 'relative residual',
  stable_rank: 'stable rank',
  effective_rank: 'effective rank',
  cosine: 'mean cosine of two tokens',
};

/** Below this width the two charts stand one above the other. */
const NARROW = 640;

/** Along the layers of a stack: how alike the tokens become, and how sharp attention is. */
export class DepthFigure implements Figure {
  readonly id = 'depth';
  readonly inputs = STACK;
  readonly repaintOn = ['rank', 'rows', 'collapse_threshold'] as const;
  readonly frame = new Frame(this.id, () => this.table());
  private claim = child(this.frame.root, '[data-claim]');
  private tip = new MarkTip(this.frame.chart);

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
      domain,
      label: AXES[rank],
      clamp: true,
      ...(rank === 'residual'
        ? { type: 'log' as const, ticks: decades(domain), tickFormat: decade }
        : { ticks: 6, tickFormat: tick }),
    };
    this.judge();
    const { frame } = this;
    const wide = frame.width >= NARROW;
    const width = wide ? Math.floor(frame.width / 2) : frame.width;
    const height = () => frame.height({ ...SHAPE, share: SHAPE.share * (wide ? 0.5 : 1) });
    const ranks = depthChart(
      known,
      { label: AXES[rank], width, height, y, entries: [] },
      known.map((curve, i) => curveMarks(curve, lists[i], domain, this.curves.isFresh(curve))),
    );
    const [entropyTips, entropies] = entropyChart(this.curves, this.store.state, { width, height });
    const [first, second] = [ranks, entropies].map(({ svg }) => svg.viewBox.baseVal.height);
    const parts = [
      { svg: ranks.svg, x: 0, y: wide ? Math.max(0, second - first) : 0 },
      { svg: entropies.svg, x: wide ? width : 0, y: wide ? Math.max(0, first - second) : first },
    ];
    const rankTips = known.flatMap((curve, i) => tipsOf(curve, lists[i], AXES[rank]));
    this.tip.place(() => [
      [rankTips, shifted(ranks, parts[0].x, parts[0].y)],
      [entropyTips, shifted(entropies, parts[1].x, parts[1].y)],
    ]);
    const size = { width: frame.width, height: wide ? Math.max(first, second) : first + second };
    frame.put(compose(parts, size, this.describe()));
    frame.say(this.caption());
  }

  table(): Table | null {
    const { known } = this.curves;
    if (known.length === 0) return null;
    const { state } = this.store;
    const measures = [state.rank, ...entropyMeasures(state)];
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
    const { mean, collapse_threshold: threshold } = this.store.state;
    this.claim.textContent = claimText(known, mean, threshold);
    const chosen = known.find(({ place }) => place === 0);
    this.frame.retitle((chosen && titleText(chosen, threshold)) || entryOf(this.id).title);
  }

  private caption(): string {
    const { known } = this.curves;
    const { rank } = this.store.state;
    const ends = endsText(known, rank);
    const end = ends && `After the last layer the ${AXES[rank]} is ${ends}.`;
    const entropy = entropyText(known, this.store.state);
    return [sampledText(known), end, entropy].filter(Boolean).join(' ');
  }

  private describe(): string {
    const { known } = this.curves;
    const shown = `${AXES[this.store.state.rank]} and attention entropy`;
    return `${shown} over ${depthOf(known)} layers. ${this.caption()}`;
  }
}
