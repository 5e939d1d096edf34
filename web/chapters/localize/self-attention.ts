import { short, tick } from '../../charts/format';
import { chartWithLegend, gridX, gridY, ruleX, ruleY } from '../../charts/plot';
import type { Table } from '../../charts/table';
import { brushed } from '../../heads/brush';
import { HeadPointer, distinct, headMarks, modelEntries, type Spot } from '../../heads/head-dots';
import type { HeadRegistry } from '../../heads/registry';
import { covarianceNames, selfLogit, traced, untraced } from '../../heads/traces';
import { Frame } from '../../ui/frame';
import { entryOf } from '../../ui/registry';
import { orderText } from '../shared/ordering';
import type { Figure, FigureContext, Store } from './state';

/** How much more a token attends to itself, against what the trace of W Sigma says. */
export class SelfAttentionFigure implements Figure {
  readonly id = 'self-attention';
  readonly inputs = ['sigma', 'sample'] as const;
  readonly repaintOn = ['head', 'brush'] as const;
  readonly frame = new Frame(this.id, () => this.table());
  private pointer: HeadPointer;
  private correlation: number | null = null;

  constructor(
    private store: Store,
    private registry: HeadRegistry,
  ) {
    const say = ({ x, y }: Spot) => `tr(WΣ)/λ ${short(x)}, measured excess ${short(y)}`;
    this.pointer = new HeadPointer(this.frame.chart, registry, store, say);
  }

  async compute(context: FigureContext): Promise<void> {
    const spots = this.spots();
    const [a, b] = [spots.map(({ x }) => x), spots.map(({ y }) => y)];
    this.correlation = a.length > 1 ? (await context.run('rank-correlation', { a, b })).rank_correlation : null;
    context.show(1);
  }

  paint(): void {
    const { width } = this.frame;
    const { state } = this.store;
    const spots = this.spots();
    const drawn = chartWithLegend({
      label: `Excess of a token’s attention to itself. ${this.caption(spots)}`,
      entries: modelEntries(this.registry.shown(state.sample), spots),
      width,
      height: this.frame.height({ share: 0.5, least: 280, most: 420 }),
      marginLeft: 60,
      marginRight: 16,
      marginBottom: 44,
      x: {
        labelAnchor: 'center',
        tickFormat: tick,
        nice: true,
        label: 'tr(WΣ)/λ, predicted excess of the self-logit →',
      },
      y: { label: 'measured self-attention excess', tickFormat: tick, nice: true, zero: true },
      marks: [
        gridX({ strokeOpacity: 0.08 }),
        gridY({ strokeOpacity: 0.08 }),
        ruleX([0], { strokeOpacity: 0.35 }),
        ruleY([0], { strokeOpacity: 0.35 }),
        ...headMarks(spots, state.head, brushed(state)),
      ],
    });
    this.frame.retitle(this.title());
    this.frame.put(drawn.svg);
    this.pointer.place([spots, drawn]);
    this.frame.say(this.caption(spots));
  }

  table(): Table | null {
    const { sigma } = this.store.state;
    const rows = this.spots().map(({ head, x, y }) => [head.id, sigma, x, head.measured?.self_logit ?? null, y]);
    const columns = ['head', 'covariance', 'predicted_self_logit', 'self_logit', 'self_weight'];
    return rows.length > 0 ? { columns, rows } : null;
  }

  private spots(): Spot[] {
    const { sample, sigma } = this.store.state;
    const spots = traced(this.registry.heads(sample), sigma)
      .map(({ head, traces }) => ({ head, x: selfLogit(traces, head), y: head.measured?.self_weight ?? NaN }))
      .filter(({ y }) => Number.isFinite(y));
    return distinct(spots);
  }

  /** How well the prediction orders the heads; the plain title while that is unknown. */
  private title(): string {
    const { correlation } = this;
    if (correlation === null) return entryOf(this.id).title;
    return `The trace ${orderText(correlation)} by self-attention excess: rank correlation ${short(correlation)}`;
  }

  private caption(spots: Spot[]): string {
    const { sigma, sample } = this.store.state;
    const { correlation } = this;
    return [
      spots.length > 0
        ? `Dots: ${spots.length} heads with ${covarianceNames[sigma]}` +
          `${correlation === null ? '' : `, rank correlation ${short(correlation)}`}.`
        : 'No head that is shown was measured on text.',
      untraced(this.registry.heads(sample), sigma),
    ]
      .filter(Boolean)
      .join(' ');
  }
}
