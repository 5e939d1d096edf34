import { short } from '../../charts/format';
import type { Bitmap } from '../../charts/picture';
import { compose, partOf } from '../../charts/plot';
import type { Table } from '../../charts/table';
import type { HeadRegistry } from '../../heads/registry';
import { MASKING, meansOf, QUERY, SETTING } from '../../state/setting';
import { Frame, type Shape } from '../../ui/frame';
import { AttentionPanel } from './attention-panel';
import { HeadSpots, type HeadSpot } from './head-spots';
import { LocalizationAnswers, type Curves, type FirstResult } from './localization-answers';
import { AXES, endsText, otherTokensText, othersText, pointsText, titleOf } from './localization-claim';
import { localizationTable } from './localization-table';
import { LevelsPanel } from './levels-panel';
import { isSameLayout, layoutOf, PANELS, type Layout, type PanelName } from './panel';
import { meanEntropy, type Point } from './point';
import { pointText } from './point-text';
import { SpectrumPanel } from './spectrum-panel';
import { topOf, VariancePanel } from './variance-panel';
import type { Figure, FigureContext, Store } from './state';

/** Of a row of panels. */
const SHAPE: Shape = { share: 0.4, least: 350, most: 440 };

/** The picture: its panels, and what each of them was drawn from. */
interface Drawn {
  svg: SVGSVGElement;
  layout: Layout;
  parts: Record<PanelName, SVGSVGElement>;
  from: Record<PanelName, unknown[]>;
}

/** Three linked panels: the eigenspectrum, one attention matrix, and localization against the variance. */
export class LocalizationFigure implements Figure {
  readonly id = 'lead';
  readonly inputs = [...SETTING, ...QUERY, ...MASKING, 'samples', 'measure', 'sigma'] as const;
  readonly repaintOn = ['spread', 'sample', 'head', 'brush', 'dots', 'plot', 'level'] as const;
  readonly frame = new Frame(this.id, () => this.table());
  private answers: LocalizationAnswers;
  private heads: HeadSpots;
  private spectrum: SpectrumPanel;
  private attention: AttentionPanel;
  private variance: VariancePanel;
  private levels: LevelsPanel;
  private drawn: Drawn | null = null;
  /** What the panels followed last. */
  private followed: unknown[] = [];

  constructor(
    private store: Store,
    private registry: HeadRegistry,
    first: FirstResult | null,
  ) {
    const { chart } = this.frame;
    this.answers = new LocalizationAnswers(registry, first);
    this.heads = new HeadSpots(store, registry);
    this.spectrum = new SpectrumPanel(chart, store, registry);
    this.attention = new AttentionPanel(chart);
    this.variance = new VariancePanel(chart, store, registry, this.heads);
    this.levels = new LevelsPanel(chart, store, registry);
    registry.hovering.subscribe(() => {
      this.spectrum.followHead();
      this.variance.followHead();
    });
  }

  async compute(context: FigureContext): Promise<void> {
    // Each shows what it has: a point that the ensemble cannot have leaves the lines as they are.
    const parts = [this.takePoint(context), this.answers.askCurves(context)];
    for (const part of await Promise.allSettled(parts)) {
      if (part.status === 'rejected') throw part.reason;
    }
  }

  /** Shows the point as soon as it is known, before the next frame: a hand may be waiting for it. */
  private async takePoint(context: FigureContext): Promise<void> {
    if (await this.answers.askPoint(context)) this.follow();
  }

  /** Draws what has changed: a panel whose axes or lines are others as a whole, what moves in place. */
  paint(): void {
    const { point, curves } = this.answers;
    if (!point || !curves) return;
    const { frame, drawn } = this;
    const layout = layoutOf(frame.width, frame.heightInSight(SHAPE, 0));
    const from = this.sourcesOf(point, curves);
    if (!drawn || !isSameLayout(drawn.layout, layout)) this.drawAll(layout, from, point, curves);
    else {
      const isOther = (name: PanelName) => from[name].some((it, i) => it !== drawn.from[name][i]);
      for (const name of PANELS.filter(isOther)) {
        const part = partOf(this.draw(name, layout, point, curves));
        for (const side of ['x', 'y'] as const) part.setAttribute(side, String(layout[name][side]));
        drawn.parts[name].replaceWith(part);
        drawn.parts[name] = part;
        drawn.from[name] = from[name];
        this.followed = [];
      }
      const isNew = this.sources().some((it, i) => it !== this.followed[i]);
      if (isNew) this.follow();
    }
    frame.retitle(this.store.state.plot === 'heads' ? this.levels.title() : titleOf(curves.lines));
    frame.say(this.caption(point, curves));
  }

  table(): Table | null {
    const { point, curves } = this.answers;
    if (!point || !curves) return null;
    const { state } = this.store;
    return localizationTable({
      point,
      curves,
      keys: this.answers.keysOf(state),
      dots: state.dots,
      spots: this.spotsOf(curves).spots,
      eigenvalues: this.spectrum.rows(point),
      levels: state.plot === 'heads' ? this.levels.rows() : [],
    });
  }

  /** Forgets how the heads were drawn: they or what is known of them changed. */
  headsChanged(): void {
    if (this.drawn) this.drawn.from.plot = [];
  }

  /** What each panel is drawn from: another of these, another drawing. */
  private sourcesOf(point: Point, curves: Curves): Record<PanelName, unknown[]> {
    const { state } = this.store;
    const { theme } = document.documentElement.dataset;
    const looks = ['spread', 'sample', 'head', 'brush', 'dots', 'sigma'] as const;
    const heads = [this.registry.predictions, ...looks.map((name) => state[name])];
    return {
      spectrum: [theme, this.spectrum.axisFor(point)],
      attention: [theme, point.attention.length],
      plot: [theme, state.plot, ...(state.plot === 'variance' ? [curves, ...heads] : [])],
    };
  }

  private draw(name: PanelName, layout: Layout, point: Point, curves: Curves): SVGSVGElement {
    const box = layout[name];
    if (name === 'spectrum') return this.spectrum.draw(point, box);
    if (name === 'attention') return this.attention.draw(point, box);
    const isVariance = this.store.state.plot === 'variance';
    (isVariance ? this.levels : this.variance).hide();
    if (!isVariance) return this.levels.draw(box);
    const { spots, top } = this.spotsOf(curves);
    return this.variance.draw(curves, spots, top, box);
  }

  private drawAll(layout: Layout, from: Drawn['from'], point: Point, curves: Curves): void {
    const parts = Object.fromEntries(
      PANELS.map((name) => [name, this.draw(name, layout, point, curves)]),
    ) as Drawn['parts'];
    const places = PANELS.map((name) => ({ svg: parts[name], ...layout[name] }));
    const svg = compose(places, layout, this.describe(point));
    svg.setAttribute('font-size', '12');
    this.drawn = { svg, layout, parts, from };
    this.frame.put(svg, this.follow());
  }

  /** Moves what follows the point in the panels as they are; returns the matrix. */
  private follow(): Bitmap[] {
    const { drawn, store } = this;
    const { point } = this.answers;
    if (!drawn || !point) return [];
    this.followed = this.sources();
    this.spectrum.follow(point);
    if (store.state.plot === 'heads') this.levels.follow();
    else this.variance.follow(point);
    drawn.svg.setAttribute('aria-label', this.describe(point));
    if (drawn.from.attention[1] !== point.attention.length) return []; // drawn anew a moment later
    const bitmap = this.attention.follow(point);
    this.attention.simulated(this.answers.keysOf(store.state));
    return [bitmap];
  }

  /** What moves the panels. */
  private sources(): unknown[] {
    const { state } = this.store;
    return [this.answers.point, state, this.answers.keysOf(state)];
  }

  /** The heads of the variance panel: all, those on its axes, and where the vertical axis ends. */
  private spotsOf(curves: Curves): { placed: HeadSpot[]; spots: HeadSpot[]; top: number } {
    const placed = this.heads.placed(curves.lines.measure);
    const top = topOf(
      curves,
      placed.map(({ y }) => y),
    );
    return { placed, spots: this.heads.on(placed, top), top };
  }

  private caption(point: Point, curves: Curves): string {
    const { state } = this.store;
    if (state.plot === 'heads') return this.levels.caption();
    const { lines, points } = curves;
    const { placed, spots, top } = this.spotsOf(curves);
    const refused = points.find((it) => it.refused !== '');
    const isKnown = points.some((it) => it.refused === '' && it[lines.measure] !== null);
    const sentences = [
      isKnown && pointsText(curves),
      this.heads.caption(placed, spots, lines.measure, top),
      pointText(point, this.answers.keysOf(state), state.samples),
      this.spectrum.caption(point),
      refused && `Points left out: ${refused.refused}.`,
      othersText(lines),
      otherTokensText(lines),
      this.outside(curves.domain),
    ];
    return sentences.filter(Boolean).join(' ');
  }

  private outside([low, high]: Curves['domain']): string {
    const { variance } = this.store.state;
    if (variance >= low && variance <= high) return '';
    const side = variance < low ? 'left' : 'right';
    return `The current variance, ${short(variance)}, lies ${side} of this axis.`;
  }

  /** The picture for those who do not see it. */
  private describe({ mean, variance, attention, theory }: Point): string {
    const { state } = this.store;
    const { curves } = this.answers;
    const now =
      `Eigenspectrum with mean ${short(mean)} and variance ${short(variance)}; attention among ` +
      `${attention.length} tokens, mean attention entropy ${short(meanEntropy(attention))}; ` +
      `L = ${short(theory.localization)}.`;
    if (state.plot === 'heads') return `${now} ${this.levels.caption()}`;
    const means = meansOf(state).map(short).join(', ');
    const against = `${AXES[state.measure]} against the variance, means ${means}.`;
    return `${now} ${against} ${curves ? endsText(curves.lines) : ''}`;
  }
}
