import { short, tick } from '../../charts/format';
import { chartWithLegend, gridX, gridY, ruleX, ruleY } from '../../charts/plot';
import type { Table } from '../../charts/table';
import { brushed } from '../../heads/brush';
import { HeadPointer, headMarks, modelEntries, type Spot } from '../../heads/head-dots';
import type { HeadRegistry } from '../../heads/registry';
import { covarianceNames, untraced } from '../../heads/traces';
import { Frame } from '../../ui/frame';
import { entryOf, type FigureOf } from '../../ui/registry';
import type { Figure, FigureContext, State, Store } from './state';

/** A quantity of the theory against what heads do on text, a dot a head, with the rank correlation of both. */
export abstract class HeadScatter implements Figure {
  abstract readonly inputs: readonly (keyof State & string)[];
  readonly repaintOn = ['head', 'brush'] as const;
  readonly frame: Frame;
  /** What is plotted: of the theory across, measured upwards. */
  protected abstract readonly axes: { x: string; y: string };
  private pointer: HeadPointer;
  private correlation: number | null = null;

  constructor(
    readonly id: FigureOf<'localize'>,
    protected store: Store,
    protected registry: HeadRegistry,
    said: { x: string; y: string },
  ) {
    this.frame = new Frame(id, () => this.table());
    const say = ({ x, y }: Spot) => `${said.x} ${short(x)}, ${said.y} ${short(y)}`;
    this.pointer = new HeadPointer(this.frame.chart, registry, store, say);
  }

  /** Asks the engine for what the dots need beside the heads' own numbers. */
  protected async ask(_: FigureContext): Promise<void> {}
  /** The heads that are drawn. */
  protected abstract spots(): Spot[];
  /** The claim for a rank correlation. */
  protected abstract titleOf(correlation: number): string;
  abstract table(): Table | null;

  async compute(context: FigureContext): Promise<void> {
    await this.ask(context);
    const spots = this.spots();
    const [a, b] = [spots.map(({ x }) => x), spots.map(({ y }) => y)];
    this.correlation = a.length > 1 ? (await context.run('rank-correlation', { a, b })).rank_correlation : null;
    context.show(1);
  }

  paint(): void {
    const { axes, correlation } = this;
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
      x: { labelAnchor: 'center', tickFormat: tick, nice: true, label: `${axes.x} →` },
      y: { label: axes.y, tickFormat: tick, nice: true, zero: true },
      marks: [
        gridX({ strokeOpacity: 0.08 }),
        gridY({ strokeOpacity: 0.08 }),
        ruleX([0], { strokeOpacity: 0.35 }),
        ruleY([0], { strokeOpacity: 0.35 }),
        ...headMarks(spots, state.head, brushed(state)),
      ],
    });
    this.frame.retitle(correlation === null ? title : this.titleOf(correlation));
    this.frame.put(drawn.svg);
    this.pointer.place([spots, drawn]);
    this.frame.say(caption);
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
