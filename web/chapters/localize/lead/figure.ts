import { short } from '../../../charts/format';
import { compose } from '../../../charts/plot';
import type { Cell, Table } from '../../../charts/table';
import type { HeadRegistry } from '../../../heads/registry';
import type { Origin } from '../../../state/heads';
import { MASKING, meansOf, QUERY, SETTING } from '../../../state/setting';
import { Signal } from '../../../state/signal';
import { Frame, type Shape } from '../../../ui/frame';
import { LocalizationAnswers, meanEntropy, type FirstResult } from '../answers';
import { MatrixPanel } from '../matrix/figure';
import { matrixOf, type Box, type HeadMatrix, type Panel, type Scene } from '../panel';
import { PositionsPanel } from '../positions/figure';
import { SpectrumPanel } from '../spectrum/figure';
import { showsAll, showsHeads, type Figure, type FigureContext, type Store } from '../state';
import { VariancePanel } from '../variance/figure';
import type { HeadSpot } from '../variance/words';
import { AXES, endsText, otherTokensText, othersText, pointsText, pointText, titleOf } from './words';

/** Of the picture on a wide screen. */
const SHAPE: Shape = { share: 0.5, least: 350, most: 600 };

const PANELS = ['positions', 'spectrum', 'matrix', 'variance'] as const;
type PanelName = (typeof PANELS)[number];

/** Where the panels stand, and the size of the picture. */
interface Layout extends Record<PanelName, Box> {
  width: number;
  height: number;
}

/** Below this width spectrum and matrix stand above the curve. */
const NARROW = 720;
/** Heights on a narrow screen: the positions, spectrum and matrix, the curve. */
const HEIGHTS = { positions: 98, upper: 176, lower: 184 };
/** What the curve takes there from spectrum and matrix where its legend names heads. */
const LEGEND = 26;
/** Height of the positions on a wide screen, and its gap to the panels below, which have gaps of their own. */
const [POSITIONS, BELOW, GAP] = [124, 14, 22];

/** Places the panels: the positions above the others, these side by side, or in two rows on a narrow screen. */
function layoutOf(width: number, height: number, hasHeads: boolean): Layout {
  if (width < NARROW) {
    const taken = hasHeads ? LEGEND : 0;
    const { positions } = HEIGHTS;
    const [upper, lower] = [HEIGHTS.upper - taken, HEIGHTS.lower + taken];
    const half = Math.floor((width - 8) / 2);
    return {
      positions: { x: 0, y: 0, width, height: positions },
      spectrum: { x: 0, y: positions + 6, width: half, height: upper },
      matrix: { x: width - half, y: positions + 6, width: half, height: upper },
      variance: { x: 0, y: positions + upper + 8, width, height: lower },
      width,
      height: positions + upper + lower + 8,
    };
  }
  const y = POSITIONS + BELOW;
  const rest = height - y;
  const side = Math.min(Math.round(width * 0.28), rest);
  const third = Math.round((width - side - 2 * GAP) / 2);
  return {
    positions: { x: 0, y: 0, width, height: POSITIONS },
    spectrum: { x: 0, y, width: third, height: rest },
    matrix: { x: third + GAP, y, width: side, height: rest },
    variance: { x: width - third, y, width: third, height: rest },
    width,
    height,
  };
}

/** The positions that pass the gradient, above the eigenspectrum, one attention matrix, and L against the variance. */
export class LocalizationFigure implements Figure {
  readonly id = 'lead';
  readonly inputs = [...SETTING, ...QUERY, ...MASKING, 'samples', 'measure', 'sigma'] as const;
  readonly repaintOn = ['detail', 'spread', 'sample', 'head', 'brush', 'dots'] as const;
  readonly frame = new Frame(this.id, () => this.table());
  private answers: LocalizationAnswers;
  private panels: Readonly<Record<PanelName, Panel>>;
  private spectrum: SpectrumPanel;
  private matrix: MatrixPanel;
  private variance: VariancePanel;
  /** The picture, and of which parts it is made. */
  private whole: { svg: SVGSVGElement; parts: readonly SVGSVGElement[] } | null = null;
  private ofHead: HeadMatrix | null = null;
  /** Why a head's matrix is not shown; may be empty. */
  private withoutMatrix = '';
  /** The engine has answered. */
  readonly answered = new Signal();

  constructor(
    private store: Store,
    registry: HeadRegistry,
    first: FirstResult | null,
  ) {
    const { chart } = this.frame;
    this.answers = new LocalizationAnswers(registry, first);
    this.spectrum = new SpectrumPanel(chart, store, registry);
    this.matrix = new MatrixPanel(chart);
    this.variance = new VariancePanel(chart, store, registry);
    const { spectrum, matrix, variance } = this;
    this.panels = { positions: new PositionsPanel(chart), spectrum, matrix, variance };
    registry.hovering.subscribe(() => {
      spectrum.followHead();
      variance.followHead();
    });
  }

  /** The handle of the standard deviation. */
  get handle(): HTMLElement {
    return this.spectrum.handle;
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
    if (!(await this.answers.askPoint(context))) return;
    this.paint();
    this.answered.send();
  }

  paint(): void {
    const scene = this.scene();
    if (!scene || this.frame.width === 0) return;
    const layout = layoutOf(this.frame.width, this.frame.heightInSight(SHAPE, 0), showsHeads(scene.state));
    const parts = PANELS.map((name) => this.panels[name].paint(scene, layout[name]));
    if (!this.whole || parts.some((part, i) => part !== this.whole?.parts[i])) {
      const places = PANELS.map((name, i) => ({ svg: parts[i], ...layout[name] }));
      const svg = compose(places, layout, '');
      svg.setAttribute('font-size', '12');
      this.whole = { svg, parts };
    }
    this.whole.svg.setAttribute('aria-label', this.describe(scene));
    this.frame.put(this.whole.svg, this.matrix.cells);
    if (this.store.busy && this.frame.said !== '') return; // under a hand the words wait
    const heads = showsHeads(scene.state) ? this.variance.drawnHeads.length : 0;
    this.frame.retitle(titleOf(scene.curves.lines, heads));
    this.frame.say(this.caption(scene));
  }

  table(): Table | null {
    const scene = this.scene();
    if (!scene) return null;
    return localizationTable({
      ...scene,
      dots: scene.state.dots,
      spots: this.variance.drawnHeads,
      eigenvalues: this.spectrum.rows(scene.point),
    });
  }

  /** Shows the matrix of a trained head in the place of the random one; null: no longer, and why not. */
  showMatrix(ofHead: HeadMatrix | null, why = ''): void {
    if (ofHead === this.ofHead && why === this.withoutMatrix) return;
    this.ofHead = ofHead;
    this.withoutMatrix = why;
    this.paint();
  }

  /** Draws the heads anew: they or what is known of them changed. */
  headsChanged(): void {
    this.variance.forget();
  }

  private scene(): Scene | null {
    const { point, curves } = this.answers;
    const { state } = this.store;
    if (!point || !curves) return null;
    return { state, point, curves, keys: this.answers.keysOf(state), ofHead: this.ofHead, isMoving: this.store.busy };
  }

  private caption(scene: Scene): string {
    const { state, point, curves, keys } = scene;
    const { lines, points } = curves;
    const refused = points.find((it) => it.refused !== '');
    const isKnown = points.some((it) => it.refused === '' && it[lines.measure] !== null);
    const sentences = [
      showsAll(state) && isKnown && pointsText(curves),
      this.variance.headsCaption(scene),
      this.ofHead && `The matrix is its measured attention in “${this.ofHead.sentence}”.`,
      this.withoutMatrix && `Its attention matrix is not shown: ${this.withoutMatrix}`,
      pointText(point, keys, state.samples, this.ofHead),
      this.spectrum.caption(point),
      showsAll(state) && refused && `Points left out: ${refused.refused}.`,
      showsAll(state) && othersText(lines),
      otherTokensText(lines),
      this.outside(curves.domain),
    ];
    return sentences.filter(Boolean).join(' ');
  }

  private outside([low, high]: Scene['curves']['domain']): string {
    const { variance } = this.store.state;
    if (variance >= low && variance <= high) return '';
    const side = variance < low ? 'left' : 'right';
    return `The current variance, ${short(variance)}, lies ${side} of this axis.`;
  }

  /** The picture for those who do not see it. */
  private describe({ state, curves, ofHead, point: { mean, variance, head } }: Scene): string {
    const matrix = ofHead
      ? `attention of ${ofHead.name} in “${ofHead.sentence}”`
      : `attention among ${head.length} tokens, mean attention entropy ${short(meanEntropy(head))}`;
    const now =
      `${head.rho.length} positions with the probability that each passes the gradient; eigenspectrum with mean ` +
      `${short(mean)} and variance ${short(variance)}; ${matrix}; L = ${short(head.localization)}.`;
    const means = meansOf(state).slice(0, showsAll(state) ? undefined : 1);
    const heads = showsHeads(state) ? ` ${this.variance.drawnHeads.length} trained heads.` : '';
    const against = `${AXES[state.measure]} against the variance, m = ${means.map(short).join(', ')}.`;
    return `${now} ${against} ${endsText(curves.lines)}${heads}`;
  }
}

/** What the table has beside the scene. */
interface Shown extends Omit<Scene, 'state'> {
  /** Heads of the variance panel, and what their places are made of. */
  spots: readonly HeadSpot[];
  dots: Origin;
  /** Eigenvalues of the ensemble and of the head that is shown: kind, real and imaginary part. */
  eigenvalues: readonly [kind: string, re: number, im: number][];
}

/** Cells by the names of their columns. */
type Named = Record<string, Cell>;

/** The table of the first screen; the cells of the attention matrix come first, as a grid. */
function localizationTable(shown: Shown): Table {
  const { measure } = shown.curves.lines;
  const columns = [
    'kind',
    'mean',
    'variance',
    measure,
    'standard_error',
    'samples',
    'head',
    're',
    'im',
    'query',
    'key',
    'weight',
    'row_entropy',
    'rho_theory',
    'rho',
    'rho_error',
    'sensitivity',
    'sensitivity_error',
    'logit_mean_theory',
    'logit_std_theory',
    'logit_mean',
    'logit_std',
  ];
  const rows = [...curveRows(shown), ...headRows(shown), ...pointRows(shown)];
  const { length, values } = matrixOf(shown);
  const places = Array.from({ length }, (_, i) => i + 1);
  return {
    columns,
    rows: rows.map((row) => columns.map((name) => row[name] ?? null)),
    grid: {
      kind: shown.ofHead ? `weight of ${shown.ofHead.name}` : 'weight',
      axes: [
        { name: 'query', at: places },
        { name: 'key', at: places },
      ],
      values: { weight: values },
      choices: {},
    },
  };
}

function curveRows({ curves: { lines, points } }: Shown): Named[] {
  const { measure, means, variances, value, error, others } = lines;
  const theory = means.flatMap((mean, line) =>
    variances.map((variance, i) => {
      const at = line * variances.length + i;
      return { kind: 'theory', mean, variance, [measure]: value[at], standard_error: error[at] };
    }),
  );
  const beside = others.flatMap(({ tokens, value }) =>
    variances.map((variance, i) => ({ kind: `theory ${tokens}`, mean: means[0], variance, [measure]: value[i] })),
  );
  const simulated = points
    .filter((it) => it[measure] !== null)
    .map((it) => {
      const numbers = { [measure]: it[measure], standard_error: it[`${measure}_error`] };
      const { mean, variance, samples } = it;
      return { kind: 'simulation', mean, variance, ...numbers, samples };
    });
  return [...theory, ...beside, ...simulated];
}

function headRows({ curves: { lines }, spots, dots }: Shown): Named[] {
  return spots.map(({ head, x, y }) => ({
    kind: `head ${dots}`,
    mean: head.mean,
    variance: x,
    [lines.measure]: y,
    head: head.id,
  }));
}

function pointRows({ point, keys, eigenvalues }: Shown): Named[] {
  const { head } = point;
  const own = { mean: point.mean, variance: point.variance };
  return [
    ...eigenvalues.map(([kind, re, im]) => ({ kind, ...own, re, im })),
    ...Array.from(head.entropy, (row_entropy, i) => ({
      kind: 'query',
      ...own,
      query: i + 1,
      row_entropy: Number.isNaN(row_entropy) ? null : row_entropy,
    })),
    ...Array.from(head.rho, (rho, i) => ({
      kind: 'key',
      ...own,
      key: i + 1,
      rho_theory: rho,
      logit_mean_theory: head.mean[i],
      logit_std_theory: head.std[i],
      ...(keys && {
        rho: keys.rho[i],
        rho_error: keys.rho_error[i],
        samples: keys.samples,
        sensitivity: keys.sensitivity[i],
        sensitivity_error: keys.sensitivity_error[i],
        logit_mean: keys.mean[i],
        logit_std: keys.std[i],
      }),
    })),
  ];
}
