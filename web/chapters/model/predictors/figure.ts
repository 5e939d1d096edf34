import { capitalized, count, short, tick } from '../../../charts/format';
import { chartWithLegend, line, link, text, type Chart } from '../../../charts/plot';
import { RectangleBrush, type Box } from '../../../charts/rectangle';
import { finiteCell, type Table } from '../../../charts/table';
import type { Input, Predicted, PredictedMeasure } from '../../../engine/protocol';
import { brushOnly, brushed, placeOf } from '../../../heads/brush';
import { limitsOf } from '../../../state/control';
import { Signal } from '../../../state/signal';
import type { Checkpoints } from '../opening/checkpoints';
import { missingOf } from '../files/files';
import { readerOf, type Checkpoint } from '../../shared/checkpoint';
import type { HeadMeasurements } from '../reading/measurements';
import type { HeadRegistry, PlacedHead } from '../../../heads/registry';
import { PASSAGE, QUERIES } from '../reading/reading';
import { loadSamplePredictions } from '../reading/samples';
import { orderText } from '../../shared/ordering';
import { OWN_TEXT, type Text, type TextSource } from '../../shared/text-source';
import { Frame } from '../../../ui/frame';
import { entryOf } from '../../../ui/registry';
import { HeadPointer, headMarks, modelEntries, type Spot } from '../../../heads/head-dots';
import { LAWS, LEVELS, intervalOf, isDone, isNested, levelCalled, rotaryRow, summaryRow } from './words';
import { modelView, predictedMeasures, type Figure, type FigureContext, type State, type Store } from '../state';

/** Ends of both axes: those of a share, otherwise the least and largest value of any level, 0 included. */
function rangeOf(predictions: Predicted, quantity: PredictedMeasure): [number, number] {
  if (predictedMeasures[quantity].share) return [0, 1];
  const values = [...predictions[quantity], ...predictions[`measured_${quantity}`]];
  const finite = [0, ...values.filter(Number.isFinite)];
  return [Math.min(...finite), Math.max(...finite)];
}

/** Milliseconds between two partial results that are shown: drawing all heads takes longer than predicting one. */
const BETWEEN = 400;
/** Milliseconds where fewer than one head in twenty is new: each drawing of a thousand heads leaves megabytes. */
const BETWEEN_FEW = 5000;

const SEQUENCES = levelCalled('sequences');

/** Rows of the summary with which a level is compared. */
const BESIDE = {
  ceiling: 'ceiling (other passages of the text)',
  transfer: 'null (another text)',
  null: 'null (one constant)',
};

/** What the state asks for. */
function questionOf(checkpoint: Checkpoint, text: Uint8Array, state: Readonly<State>): Input<'predict'> {
  const { passages, seed, tokens_source, tokens_order, zipf_exponent, zipf_offset } = state;
  const law = tokens_source === 'text' ? {} : { tokens_law: tokens_source };
  const statistics = tokens_source === 'text' ? 'file' : 'measure_file';
  const { default: resamples } = limitsOf('resamples');
  return {
    ...readerOf(checkpoint),
    [statistics]: text,
    ...law,
    tokens_order,
    zipf_exponent,
    zipf_offset,
    length: PASSAGE,
    fit_length: true,
    passages,
    seed,
    queries: QUERIES,
    resamples,
  };
}

/** A head with what a level predicts of it and what the level below did. */
interface Step {
  head: PlacedHead;
  measured: number;
  before: number;
  after: number;
}

/** Predicted against measured attention, one level of the theory after the other. */
export class PredictorsFigure implements Figure {
  readonly id = 'predictors';
  readonly inputs = ['passages', 'seed', 'tokens_source', 'tokens_order', 'zipf_exponent', 'zipf_offset'] as const;
  readonly repaintOn = ['level', 'quantity', 'brush', 'head'] as const;
  readonly background = true;
  readonly frame = new Frame(this.id, () => this.table());
  private pointer: HeadPointer;
  private chart: Chart | null = null;
  private text = '';
  /** A text that a person gave, until the engine has read it: where it is refused, all stays as it is. */
  private offered: Text | null = null;
  /** Another text was read. */
  readonly accepted = new Signal();
  /** Also hears why the offered text was refused. */
  private refuse?: (why: string) => void;
  /** What the answers of all sources depend on. */
  private asked: unknown[] = [];
  /** When a result was last shown. */
  private shown = 0;

  constructor(
    private store: Store,
    registry: HeadRegistry,
    private checkpoints: Checkpoints,
    private measurements: HeadMeasurements,
    private texts: TextSource,
  ) {
    const { chart } = this.frame;
    const say = ({ x, y }: Spot) => `measured ${short(x)}, predicted ${short(y)}`;
    this.pointer = new HeadPointer(chart, registry, store, say);
    new RectangleBrush(chart, (box) => this.brush(box));
  }

  /** `refusal`: why an offered text was refused, said while the question before it is answered. */
  async compute(context: FigureContext, refusal = ''): Promise<void> {
    const { passages, seed, tokens_source, tokens_order } = context.state;
    const { zipf_exponent, zipf_offset } = context.state;
    const { files } = this.checkpoints;
    if (context.quality === 'quick') return; // takes too long for a hand
    if (!files) return this.takeSample(context);
    if (missingOf(files)) return; // the place of the typed text says what is missing
    const { offered } = this;
    const text = offered ?? (await this.texts.load());
    const askedOf = ({ bytes }: Text) => [files, bytes, passages, seed, tokens_order, zipf_exponent, zipf_offset];
    const begin = () => {
      if (this.measurements.predictions) this.measurements.set({ predictions: null }); // another question
      if (!this.wasAsked(askedOf(text))) this.measurements.sources.clear();
      this.asked = askedOf(text);
      this.text = text.name;
      this.frame.complain(refusal);
    };
    if (!offered) begin();
    const question = questionOf(files, text.bytes, context.state);
    let newest: { part: Predicted; progress: number } | null = null;
    const take = (part: Predicted, progress: number) => {
      if (this.offered) this.accept(this.offered, begin);
      newest = { part, progress };
      this.takePart(context, part, progress);
    };
    const predictions = await context.run('predict', question, take).catch(async (error: unknown) => {
      if (context.signal.aborted) throw error;
      if (newest) this.take(context, newest.part, newest.progress); // the heads before what failed
      if (this.offered) {
        this.offered = null;
        this.refuse?.((error as Error).message);
        const known = this.measurements.sources.get(tokens_source);
        if (known && this.wasAsked(askedOf(await this.texts.load()))) this.take(context, known, 1);
        else await this.compute(context, (error as Error).message);
      }
      throw error;
    });
    if (this.offered) this.accept(this.offered, begin);
    this.measurements.sources.set(tokens_source, predictions);
    this.take(context, predictions, 1);
  }

  /** The answers that are known are to this question, whatever the source of the statistics. */
  private wasAsked(question: readonly unknown[]): boolean {
    return question.every((it, i) => it === this.asked[i]);
  }

  /** Takes a text in the place of the present one, which stays where the engine refuses the new one. */
  offer(text: Text, refuse?: (why: string) => void): void {
    this.offered = text;
    this.refuse = refuse;
  }

  private accept(text: Text, begin: () => void): void {
    this.offered = null;
    this.texts.take(text);
    begin();
    this.accepted.send();
  }

  /** The sample's weights are not loaded: the page knows the answer to one question about it. */
  private async takeSample(context: FigureContext): Promise<void> {
    const { passages, seed, tokens_order, zipf_exponent, zipf_offset } = modelView.defaults;
    const { state } = context;
    await this.showSample();
    const { name } = await this.texts.load();
    const law =
      state.tokens_source !== 'zipf' || (state.zipf_exponent === zipf_exponent && state.zipf_offset === zipf_offset);
    const order = state.tokens_source === 'text' || state.tokens_order === tokens_order;
    if (state.passages === passages && state.seed === seed && law && order && name === OWN_TEXT) return;
    throw new Error(
      `The sample’s numbers were made with ${passages} passages of ${OWN_TEXT}, seed ${seed} and ` +
        'the default law of random tokens: ' +
        'open its folder for other settings.',
    );
  }

  /** Shows what is known of the sample, unless a model is opened meanwhile. */
  async showSample(): Promise<void> {
    const sources = await loadSamplePredictions();
    if (this.checkpoints.files) return;
    this.text = OWN_TEXT;
    for (const [source, predictions] of sources) this.measurements.sources.set(source, predictions);
    const predictions = sources.get(this.store.state.tokens_source);
    this.measurements.set({ predictions });
  }

  private take(context: FigureContext, predictions: Predicted, progress: number): void {
    this.shown = performance.now();
    this.measurements.set({ predictions });
    context.show(progress);
  }

  /** Takes a partial result that has more heads than what is shown: the first at once, others now and then. */
  private takePart(context: FigureContext, part: Predicted, progress: number): void {
    const known = this.measurements.predictions?.layer.length ?? 0;
    if (part.layer.length === known) return;
    const between = part.layer.length > 1.05 * known ? BETWEEN : BETWEEN_FEW;
    if (known === 0 || performance.now() - this.shown > between) this.take(context, part, progress);
  }

  paint(): void {
    const { width } = this.frame;
    const { state } = this.store;
    const { label } = predictedMeasures[state.quantity];
    const { predictions } = this.measurements;
    if (!this.checkpoints.files && !predictions) return; // on its way
    const domain = predictions ? rangeOf(predictions, state.quantity) : [0, 1];
    const axis = { domain, tickFormat: tick, ticks: 5, nice: true };
    const steps = this.steps();
    const spots = steps.map(({ head, measured, after }) => ({ head, x: measured, y: after }));
    const side = Math.min(width, 480);
    this.chart = chartWithLegend({
      label: this.caption(),
      entries: modelEntries([this.checkpoints.model], spots),
      width: side,
      height: side,
      marginLeft: 48,
      marginRight: 12,
      marginBottom: 42,
      x: { ...axis, label: `measured ${label} →` },
      y: { ...axis, label: `↑ predicted ${label}` },
      marks: [
        line(
          domain.map((end) => [end, end]),
          { stroke: 'var(--muted)', strokeDasharray: '4 4', ariaDescription: 'equal' },
        ),
        link(
          steps.filter(({ before }) => Number.isFinite(before)),
          {
            x1: 'measured',
            x2: 'measured',
            y1: 'before',
            y2: 'after',
            stroke: 'var(--ink)',
            strokeOpacity: 0.22,
            ariaDescription: 'from the level below',
          },
        ),
        ...headMarks(spots, state.head, brushed(state)),
        text([`Level ${state.level}: ${LEVELS[state.level].name}`], {
          frameAnchor: 'top-left',
          dx: 8,
          dy: 6,
          fill: 'var(--ink)',
          fontSize: 15,
          fontWeight: 600,
          text: (it: string) => it,
          ariaDescription: 'level',
        }),
      ],
    });
    this.frame.retitle(this.title());
    this.frame.put(this.chart.svg);
    this.pointer.place([spots, this.chart]);
    this.frame.say(this.caption());
  }

  /** What the rank correlation of the level amounts to; the plain title while there is none. */
  private title(): string {
    const { predictions } = this.measurements;
    const { level, quantity } = this.store.state;
    const rank = predictions && isDone(predictions) && predictions.summary[level][`${quantity}_rank_correlation`];
    if (typeof rank !== 'number') return entryOf(this.id).title;
    const { label } = predictedMeasures[quantity];
    return `Level ${level} ${orderText(rank)} by ${label} (rank correlation ${short(rank)})`;
  }

  table(): Table | null {
    const { predictions } = this.measurements;
    if (!predictions) return null;
    const { quantity } = this.store.state;
    const levels = LEVELS.map((_, level) => `level_${level}`);
    const rows = Array.from(predictions.layer, (layer, i) => [
      layer,
      predictions.head[i],
      quantity,
      finiteCell(predictions[`measured_${quantity}`][i]),
      ...LEVELS.map((_, level) => finiteCell(predictions[quantity][i * LEVELS.length + level])),
    ]);
    return { columns: ['layer', 'head', 'quantity', 'measured', ...levels], rows };
  }

  /** The heads that the level says something of. */
  private steps(): Step[] {
    const { predictions } = this.measurements;
    if (!predictions) return [];
    const { level, quantity } = this.store.state;
    const heads = new Map(this.checkpoints.model.heads.map((head) => [placeOf(head), head]));
    const predicted = (i: number, at: number) => (at < 0 ? NaN : predictions[quantity][i * LEVELS.length + at]);
    return Array.from(predictions.layer).flatMap((layer, i) => {
      const head = heads.get(placeOf({ stack: '', layer, head: predictions.head[i] }));
      const after = predicted(i, level);
      const text = predictions[`measured_${quantity}`][i];
      // Before a text is measured, the sequences of the statistics stand for it.
      const measured = Number.isNaN(text) ? predicted(i, SEQUENCES) : text;
      if (!head || !Number.isFinite(measured) || !Number.isFinite(after)) return [];
      return [{ head, measured, before: isNested(level) ? predicted(i, level - 1) : NaN, after }];
    });
  }

  private brush({ left, right, top, bottom }: Box): void {
    const { chart } = this;
    if (!chart) return;
    const inside = this.steps().filter(({ measured, after }) => {
      const [x, y] = [chart.x.apply(measured), chart.y.apply(after)];
      return x >= left && x <= right && y >= top && y <= bottom;
    });
    brushOnly(
      this.store,
      inside.map(({ head }) => placeOf(head)),
    );
  }

  private caption(): string {
    const { predictions } = this.measurements;
    const { level, quantity, seed, passages } = this.store.state;
    const { name, adds } = LEVELS[level];
    const { label, meaning } = predictedMeasures[quantity];
    const said =
      `${capitalized(label)}: ${meaning}. Level ${level} of ` +
      `${LEVELS.length - 1}, ${name}: ${level > 0 && isNested(level) ? 'adds ' : ''}${adds}.`;
    const model = this.checkpoints.model.name;
    if (!predictions) return `${said} ${model} is not measured yet.`;
    const agreement = isDone(predictions) ? predictions.summary[level] : null;
    const all = this.checkpoints.model.heads.length;
    const law = LAWS[this.store.state.tokens_source];
    if (!agreement) {
      const measured = predictions.measured_entropy.filter((it) => !Number.isNaN(it)).length;
      return (
        `${said} ${count(predictions.layer.length)} of ${count(all)} heads so far, ${law}; ` +
        `${count(measured)} measured on the text, the others on the sequences that the ` +
        'statistics come from.'
      );
    }
    const base = rotaryRow(predictions, quantity);
    const rank = `${quantity}_rank_correlation` as const;
    const error = `${quantity}_mean_absolute_error` as const;
    const others = Object.entries(BESIDE).flatMap(([name, text]) => {
      const row = summaryRow(predictions, name);
      return row ? [`${text} ${intervalOf(row, rank)} and ${intervalOf(row, error)}`] : [];
    });
    if (base) others.push(`rotary base alone: error ${intervalOf(base, error)}`);
    const between = ` Beside it: ${others.join('; ')}.`;
    const sample = this.checkpoints.files ? '' : ' Computed when this page was built.';
    const found =
      agreement[`${quantity}_pairs`] === 0
        ? `This level does not predict the ${label}.`
        : `${count(agreement[`${quantity}_pairs`])} heads of ${model}: rank correlation ` +
          `${intervalOf(agreement, rank)}, mean absolute error ${intervalOf(agreement, error)} ` +
          '(95% bootstrap over the heads).' +
          between;
    const [drawn, from] = this.checkpoints.files
      ? [passages, seed]
      : [modelView.defaults.passages, modelView.defaults.seed];
    return (
      `${said} ${found} Statistics from ${drawn} passages of ${predictions.length} tokens, ${law}, measured on ` +
      `${drawn} of ${this.text}, seed ${from}; ${QUERIES} drawn rows a head.${sample}`
    );
  }
}
