import { paintGrid, type Grid } from '../../../charts/heatmap';
import { count, listed } from '../../../charts/format';
import { fieldRamp } from '../../../charts/palette';
import { element } from '../../../charts/picture';
import type { Pool } from '../../../engine/pool';
import { child, html } from '../../../ui/dom';
import { regularizers } from '../methods';
import { watchedIn } from '../run-attention/figure';
import type { RunComparison } from '../runs/comparison';
import { rowsOf, type Row } from '../runs/log';
import { rangeOf, settled, stepsOf, thinned } from '../runs/panels';
import type { TrainingRun } from '../runs/run';
import { stylesOf, type RunStyle, type ShownRuns } from '../runs/shown';
import { interventions, trainView, type State, type Store } from '../state';

/** How text is sampled after the prompt: tokens, and the temperature. */
const SAMPLED = { generated: 160, temperature: 0.8 };
/** Milliseconds between two samples of a run: they take time from its training. */
const REST = 4000;
/** The state on which a sample depends. */
const ASKED = ['prompt', 'seed', 'intervention', 'tame', 'watched'] as const;
/** What each card has a small chart of; no loss beyond 8 bits per byte is drawn. */
const CURVES = [
  { name: 'loss', measure: 'bits_per_byte', least: [Infinity, -Infinity], most: [-Infinity, 8], title: 'loss' },
  { name: 'entropy', measure: 'entropy', least: [0, 1], most: [-Infinity, Infinity], title: 'attention entropy' },
] as const;
const questionOf = (state: Readonly<State>) => JSON.stringify(ASKED.map((name) => state[name]));
/** In the place of a generated text, of a model that generates none. */
const MASKED = 'A model of masked tokens continues no text.';
/** Pixels of a small chart, and its height in the place of a text. */
const [WIDTH, HEIGHT, TALL] = [180, 66, 160];

/** The places on the page of what is shown of a run. */
interface Card {
  kind: TrainingRun['kind'];
  place: HTMLElement;
  state: HTMLElement;
  recorded: HTMLElement;
  curves: HTMLElement[];
  matrix: HTMLCanvasElement;
  /** Of the matrix: where it is not the recorded one, a recorded run has the attention before its steps. */
  when: HTMLElement;
  attention: Grid | null;
  measured: HTMLElement;
  text: HTMLElement;
}

/** A card for each run: its step, loss and attention entropy as they come, the attention of a head and its text. */
export class RunCards {
  private host = child(document, '[data-comparison-runs]');
  private problem = child(document, '[data-cards-problem]');
  private visible = false;
  private asking = new Set<TrainingRun>();
  private asked = new WeakMap<TrainingRun, { question: string; checkpoint: Uint8Array | null }>();
  private cards: Card[] = [];

  constructor(
    private store: Store,
    private pool: Pool,
    private comparison: RunComparison,
    private shown: ShownRuns,
    seen: () => void,
  ) {
    new IntersectionObserver((entries) => {
      this.visible = entries[entries.length - 1].isIntersecting;
      if (this.visible) seen();
      this.ask();
    }).observe(this.host);
    comparison.changed.subscribe(({ run, ended }) => {
      if (!run) this.follow();
      for (const own of comparison.runs) this.tell(own);
      if (!run || ended) this.ask();
    });
    store.changed.subscribe(({ names, settled }) => {
      if (settled && ASKED.some((name) => names.has(name))) this.ask();
    });
    this.follow();
  }

  /** Draws the curves and what is known of the runs. */
  draw(): void {
    const styles = stylesOf(this.shown.all);
    const height = this.comparison.idle ? TALL : HEIGHT;
    for (const card of this.cards) {
      const style = styles.find(({ run }) => run.kind === card.kind);
      const recorded = style?.run.recorded ? style.run.rows.at(-1) : undefined;
      card.recorded.hidden = !recorded;
      card.recorded.textContent = recorded ? `recorded, ${count(recorded.step)} steps` : '';
      CURVES.forEach((curve, i) =>
        card.curves[i].replaceChildren(...(style ? curveOf(curve, style, styles, height) : [])),
      );
    }
  }

  /** Paints the attention of all cards, as after a change of the colours. */
  paint(): void {
    for (const { matrix, attention } of this.cards) {
      if (attention) void paintGrid(matrix, attention, fieldRamp(), Math.sqrt);
    }
  }

  /** One card a run; those of runs that are gone go too. */
  private follow(): void {
    const { runs } = this.comparison;
    if (this.cards.map(({ kind }) => kind).join() !== runs.map(({ kind }) => kind).join()) {
      const styles = stylesOf(runs);
      this.cards = runs.map(({ kind }, i) => cardOf(kind, styles[i].colour));
      this.host.replaceChildren(...this.cards.map(({ place }) => place));
    }
    for (const run of runs) {
      this.tell(run);
      if (!run.checkpoint) this.say(run, '', run.training.objective === 'next' ? '' : MASKED);
    }
    this.draw();
  }

  private tell(run: TrainingRun): void {
    const { step, training, failure, problem, resumed } = run;
    const why = failure ? `. Stopped at ${failure}.` : problem ? `. ${problem}` : '';
    const back = resumed === null ? '' : `. Its worker stopped; it resumed from step ${count(resumed)}.`;
    const text = step === 0 && !why ? '' : `step ${count(step)} of ${count(training.steps)}${why || back}`;
    const state = this.cardOf(run)?.state;
    if (state && state.textContent !== text) state.textContent = text;
  }

  private ask(): void {
    if (!this.visible) return;
    for (const run of this.comparison.runs) if (!this.asking.has(run)) void this.sample(run);
  }

  /** Asks for the attention of the watched head, and of a trained run for its loss and text. */
  private async sample(run: TrainingRun): Promise<void> {
    const { state } = this.store;
    const { prompt, intervention, tame } = state;
    const question = questionOf(state);
    const last = this.asked.get(run);
    const { saved, training } = run;
    if (last?.question === question && last.checkpoint === run.checkpoint) return;
    this.asking.add(run);
    this.asked.set(run, { question, checkpoint: run.checkpoint });
    const isTrained = run.checkpoint !== null;
    try {
      if (!isTrained && question === questionOf(trainView.defaults)) {
        await this.shown.load().catch(() => {}); // the figure of the curves says what did not load
        const recorded = this.shown.all.find(({ kind }) => kind === run.kind);
        if (recorded?.attention) return this.show(run, recorded.attention, recorded.rows.at(-1)!.step);
      }
      const text = await this.comparison.learned;
      const asked = { checkpoint: await run.weights(text), intervention, tame };
      const { tokenizer, min_count } = training;
      const isContinued = isTrained && training.objective === 'next';
      const [attention, evaluated, generated] = await Promise.all([
        this.pool.run('run-attention', { ...asked, prompt }),
        isTrained ? this.pool.run('evaluate', { tokenizer, min_count, ...asked, text }) : null,
        isContinued ? this.pool.run('generate', { ...asked, ...SAMPLED, seed: state.seed, prompt }) : null,
      ]);
      const { layer, head } = this.watched;
      const length = attention.tokens.length;
      const at = Math.min(layer, attention.layers - 1) * attention.heads + Math.min(head, attention.heads - 1);
      const values = attention.weights.slice(at * length ** 2, (at + 1) * length ** 2);
      this.show(run, { columns: length, rows: length, values }, saved);
      if (evaluated) {
        const [{ value }] = rowsOf(evaluated.rows, training);
        const numbers = `loss ${listed(value.bits_per_byte)} bits per byte, entropy ${listed(value.entropy)}`;
        const said = generated ? new TextDecoder().decode(generated.text) : MASKED;
        const how = intervention === 'none' ? '' : `, ${interventions[intervention]}`;
        this.say(run, `Checkpoint at step ${count(saved)}${how}: ${numbers}`, said);
      }
      this.problem.textContent = '';
    } catch (error) {
      // Settings that the engine refuses are shown at their controls by the figures.
      if (isTrained && this.comparison.find(run.kind) === run) this.problem.textContent = (error as Error).message;
    } finally {
      setTimeout(
        () => {
          this.asking.delete(run);
          this.ask(); // for what was learned or typed meanwhile
        },
        run.busy ? REST : 0,
      );
    }
  }

  private get watched() {
    return watchedIn(this.comparison, this.store.state);
  }

  /** Shows the watched head's attention after so many steps. */
  private show(run: TrainingRun, attention: Grid, step: number): void {
    const card = this.cardOf(run);
    if (!card) return;
    const { layer, head } = this.watched;
    card.attention = attention;
    this.paint();
    card.matrix.setAttribute('aria-label', `attention of layer ${layer}, head ${head} at step ${step}`);
    card.when.textContent = step > 0 ? `step ${count(step)}` : 'untrained';
  }

  /** The card of a run that is among those compared. */
  private cardOf(run: TrainingRun): Card | undefined {
    return this.comparison.find(run.kind) === run ? this.cards.find(({ kind }) => kind === run.kind) : undefined;
  }

  private say(run: TrainingRun, measured: string, text: string): void {
    const card = this.cardOf(run);
    if (!card) return;
    card.measured.textContent = measured;
    card.text.textContent = text;
  }
}

function cardOf(kind: TrainingRun['kind'], colour: string): Card {
  const [title, state] = [html('h2', { textContent: regularizers[kind] }), html('span', {})];
  const recorded = html('em', { hidden: true });
  const curves = CURVES.map(() => html('figure', {}));
  const matrix = html('canvas', { className: 'card-matrix', width: 1, height: 1, role: 'img' });
  const [measured, text] = [html('div', { className: 'card-measured' }), html('p', {})];
  matrix.setAttribute('aria-label', 'attention of a head');
  const when = html('figcaption', {});
  const head = html('div', { className: 'card-head' }, title, state, recorded);
  const pictures = html('div', { className: 'card-pictures' }, ...curves, html('figure', {}, matrix, when));
  const place = html('li', {}, head, pictures, measured, text);
  place.style.setProperty('--run', colour);
  return { kind, place, state, recorded, curves, matrix, when, attention: null, measured, text };
}

/** The value of a measure at the last row, and its curve over those of the other runs. */
function curveOf(
  { name, measure, least, most, title }: (typeof CURVES)[number],
  style: RunStyle,
  styles: RunStyle[],
  height: number,
): Element[] {
  const last = style.run.rows.at(-1);
  const points = (rows: Row[]) => thinned(rows).map(({ step, value }): [number, number] => [step, value[measure]]);
  const all = styles.map(({ run }) => points(run.rows));
  const panel = { title, main: measure, least: [...least] as [number, number], most: [...most] as [number, number] };
  const [low, high] = rangeOf(panel, all.flatMap(settled));
  const [, end] = stepsOf(styles);
  const svg = element('svg', { viewBox: `0 0 ${WIDTH} ${height}`, 'aria-hidden': 'true' });
  const place = ([step, value]: [number, number]) => {
    const y = height - 2 - ((Math.min(high, Math.max(low, value)) - low) / (high - low)) * (height - 4);
    return [Number(((step / end) * WIDTH).toFixed(1)), Number(y.toFixed(1))];
  };
  for (const [i, other] of styles.entries()) {
    const isOwn = other === style;
    const look: Record<string, string | number> = isOwn
      ? { stroke: style.colour, 'stroke-width': 2.5 }
      : { stroke: 'currentColor', 'stroke-opacity': 0.25 };
    if (other.run.recorded) look['stroke-dasharray'] = '4 3';
    const places = all[i].filter(([, value]) => Number.isFinite(value)).map(place);
    const line = element('polyline', { points: places.map((at) => at.join()).join(' '), fill: 'none', ...look });
    if (!isOwn) svg.prepend(line);
    else if (places.length > 0) {
      const [cx, cy] = places.at(-1)!;
      svg.append(line, element('circle', { cx, cy, r: 3.5, fill: style.colour }));
    }
  }
  const value = html('b', { textContent: last ? listed(last.value[measure]) : '–' });
  return [html('figcaption', {}, `${name} `, value), svg];
}
