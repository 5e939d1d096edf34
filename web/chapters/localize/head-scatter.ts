import { short, tick } from '../../charts/format';
import { chartWithLegend, gridX, gridY, ruleX, ruleY } from '../../charts/plot';
import { tableOfRows, type Table } from '../../charts/table';
import { brushed } from '../../heads/brush';
import { HeadPointer, distinct, headMarks, modelEntries, type Spot } from '../../heads/head-dots';
import type { HeadRegistry, PlacedHead } from '../../heads/registry';
import { covarianceNames, traced, untraced, type HeadTraces } from '../../heads/traces';
import { Frame } from '../../ui/frame';
import { entryOf, type FigureOf } from '../../ui/registry';
import { orderText } from '../shared/ordering';
import type { Figure, FigureContext, State, Store } from './state';

/** A quantity of the theory against what heads do on text. */
export interface Scatter {
  id: FigureOf<'localize'>;
  inputs: readonly (keyof State & string)[];
  /** Of the theory across, measured upwards: the name of the axis, and that in tips. */
  x: { axis: string; name: string };
  y: { axis: string; name: string };
  /** The title for a rank correlation: what is claimed to order the heads, and by what. */
  claim: readonly [subject: string, measure: string];
  /** Asks the engine for a number of each head, by its id, where its own are not enough. */
  ask?(context: FigureContext, registry: HeadRegistry): Promise<ReadonlyMap<string, number>>;
  /** Where a head stands, with the number that was asked for; NaN or nothing where it is not measured. */
  placeOf(head: PlacedHead, traces: HeadTraces, asked: number): readonly [x: number, y: number | undefined];
  /** The cells of exports beside the head and the covariance, by the names of their columns. */
  cells(spot: Spot): Record<string, number | null>;
}

/** A figure of a dot a head, with the rank correlation of both quantities. */
export class HeadScatter implements Figure {
  readonly id: Scatter['id'];
  readonly inputs: Scatter['inputs'];
  readonly repaintOn = ['head', 'brush'] as const;
  readonly frame: Frame;
  private pointer: HeadPointer;
  private asked: ReadonlyMap<string, number> = new Map();
  private correlation: number | null = null;

  constructor(
    private of: Scatter,
    private store: Store,
    private registry: HeadRegistry,
  ) {
    this.id = of.id;
    this.inputs = of.inputs;
    this.frame = new Frame(of.id, () => this.table());
    const say = ({ x, y }: Spot) => `${of.x.name} ${short(x)}, ${of.y.name} ${short(y)}`;
    this.pointer = new HeadPointer(this.frame.chart, registry, store, say);
  }

  async compute(context: FigureContext): Promise<void> {
    if (this.of.ask) this.asked = await this.of.ask(context, this.registry);
    const spots = this.spots();
    const [a, b] = [spots.map(({ x }) => x), spots.map(({ y }) => y)];
    this.correlation = a.length > 1 ? (await context.run('rank-correlation', { a, b })).rank_correlation : null;
    context.show(1);
  }

  paint(): void {
    const { correlation } = this;
    const { x, y, claim } = this.of;
    const { state } = this.store;
    const spots = this.spots();
    const caption = this.caption(spots);
    const title = entryOf(this.id).title;
    const drawn = chartWithLegend({
      label: `${title}. ${caption}`,
      entries: modelEntries(this.registry.shown(state.sample), spots),
      width: this.frame.width,
      height: this.frame.height({ share: 0.5, least: 280, most: 420 }),
      marginLeft: 60,
      marginRight: 16,
      marginBottom: 44,
      x: { labelAnchor: 'center', tickFormat: tick, nice: true, label: `${x.axis} →` },
      y: { label: y.axis, tickFormat: tick, nice: true, zero: true },
      marks: [
        gridX({ strokeOpacity: 0.08 }),
        gridY({ strokeOpacity: 0.08 }),
        ruleX([0], { strokeOpacity: 0.35 }),
        ruleY([0], { strokeOpacity: 0.35 }),
        ...headMarks(spots, state.head, brushed(state)),
      ],
    });
    this.frame.retitle(
      correlation === null
        ? title
        : `${claim[0]} ${orderText(correlation)} by ${claim[1]}: rank correlation ${short(correlation)}`,
    );
    this.frame.put(drawn.svg);
    this.pointer.place([spots, drawn]);
    this.frame.say(caption);
  }

  table(): Table | null {
    const covariance = this.store.state.sigma;
    const rows = this.spots().map((spot) => ({ head: spot.head.id, covariance, ...this.of.cells(spot) }));
    return rows.length > 0 ? tableOfRows(rows) : null;
  }

  private spots(): Spot[] {
    const { sample, sigma } = this.store.state;
    const spots = traced(this.registry.heads(sample), sigma).map(({ head, traces }) => {
      const [x, y = NaN] = this.of.placeOf(head, traces, this.asked.get(head.id) ?? NaN);
      return { head, x, y };
    });
    return distinct(spots.filter(({ x, y }) => Number.isFinite(x) && Number.isFinite(y)));
  }

  private caption(spots: readonly Spot[]): string {
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
