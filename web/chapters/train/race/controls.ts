import { count } from '../../../charts/format';
import { save } from '../../../charts/picture';
import { withSubscripts } from '../../../charts/subscript';
import { retryText } from '../../../engine/network';
import { EngineError, type Pool } from '../../../engine/pool';
import { NetworkError } from '../../../engine/shipped';
import { child } from '../../../ui/dom';
import { isText, textOf, type Text, type TextSource } from '../../shared/text-source';
import { loadResults } from '../experiments/files';
import type { Happening, RunComparison } from '../runs/comparison';
import type { TrainingRun } from '../runs/run';
import { type Store, runsControl, runsOf, trainingOf } from '../state';
import { regularizers } from '../methods';
import { spreadsOf, type SeedSpread, comparisonText } from './words';

/** No run of this page has a larger file. */
const MOST_GIB = 1;

/** What the page shows of one run beside its curves. */
interface Item {
  kind: TrainingRun['kind'];
  place: HTMLElement;
  buttons: HTMLButtonElement[];
}

/** What stands where the comparison will be. */
const NO_COMPARISON = 'During training this text compares each run with the baseline and with what the paper expects.';

/** Pixels of attention and generated text that are to be in sight while the runs train. */
const SEEN = 300;

/** Play, pause, step and reset; files of runs, and the text that they learn from. */
export class RunControls {
  private host = child(document, '[data-comparison]');
  private play = child<HTMLButtonElement>(this.host, '[data-action="play"]');
  private advance = child<HTMLButtonElement>(this.host, '[data-action="advance"]');
  /** Beside the curves, where a link may lead, while there is nothing on them. */
  private first = child(document, '[data-action="train-runs"]');
  private status = child(this.host, '[data-comparison-status]');
  private note = child(this.host, '[data-comparison-note]');
  private problem = child(this.host, '[data-comparison-problem]');
  private fileProblem = child(this.host, '[data-comparison-file-problem]');
  private list = child(this.host, '[data-comparison-runs]');
  private saves = child(this.host, '[data-comparison-saves]');
  private text = child(this.host, '[data-comparison-text]');
  private items: Item[] = [];
  /** Of the published runs; none before they came. */
  private spreads: ReadonlyMap<string, SeedSpread> = new Map();
  /** The text of the comparison; kept, because subscripts change that of the page. */
  private judged = '';

  /** `refused` shows an error at the control at fault, or returns false where there is none. */
  constructor(
    private store: Store,
    private pool: Pool,
    private comparison: RunComparison,
    private texts: TextSource,
    private refused: (error: Error) => boolean,
  ) {
    this.play.addEventListener('click', () => {
      if (comparison.playing) comparison.pause();
      else void comparison.play();
      if (comparison.playing) this.showRuns();
    });
    this.advance.addEventListener('click', () => {
      void comparison.advance();
      this.showRuns();
    });
    this.first.addEventListener('click', () => this.play.click());
    child(this.host, '[data-action="runs-reset"]').addEventListener('click', () => {
      const unsaved = comparison.all.filter((run) => run.unsaved).map(runText);
      if (unsaved.length > 0 && !confirm(`Discard ${unsaved.join(', ')}?`)) return;
      this.fileProblem.textContent = '';
      comparison.reset();
    });
    this.onFile('[data-resume]', (file) => this.resume(file));
    this.onFile('input[data-text]', (file) => this.takeText(file));
    comparison.changed.subscribe((happening) => this.follow(happening));
    this.follow({ run: null, ended: false });
    addEventListener('beforeunload', (event) => {
      if (comparison.losable) event.preventDefault();
    });
  }

  /** Brings attention and text into sight, with the buttons above them. */
  private showRuns(): void {
    const attention = child(document, '#figure-run-attention .chart');
    if (attention.getBoundingClientRect().top + SEEN > innerHeight) {
      this.host.scrollIntoView({ block: 'start' });
    }
  }

  /** Reads a file that was picked; `take` replaces nothing before it has read all of it. */
  private onFile(selector: string, take: (file: File) => Promise<void>): void {
    const picker = child<HTMLInputElement>(this.host, selector);
    picker.addEventListener('change', () => {
      const [file] = picker.files ?? [];
      if (!file) return;
      this.fileProblem.textContent = '';
      take(file).catch((error: unknown) => {
        this.fileProblem.textContent = `${file.name}: ${(error as Error).message}`;
      });
      picker.value = '';
    });
  }

  /** Takes a text for the next comparison. */
  learnFrom(text: Text): void {
    this.texts.take(text);
    this.tellText(text);
  }

  private async takeText(file: File): Promise<void> {
    const text = await textOf(file);
    await this.check(text.bytes);
    this.learnFrom(text);
    if (!this.comparison.begun) this.comparison.reset();
  }

  /** Throws what is wrong with a text for the settings of the controls, where the text is to blame. */
  private async check(text: Uint8Array): Promise<void> {
    const asked = trainingOf(this.store.state, runsOf(this.store.state)[0]);
    try {
      await this.pool.run('train', { ...asked, text, checkpoint: null, more: 0 });
    } catch (error) {
      if (!(error instanceof EngineError) || /^(text|validation)$/.test(error.field)) throw error;
    }
  }

  private tellText({ name, bytes }: Text): void {
    const when = this.comparison.begun ? ' It is used after Start over.' : '';
    const kind = isText(bytes) ? '' : ' It is not UTF-8: is it the right file?';
    this.note.textContent = `Text: ${name}, ${count(bytes.length)} bytes.${kind}${when}`;
  }

  /** The library reads the file, and says what is wrong with it; then its run joins the comparison. */
  private async resume(file: File): Promise<void> {
    if (file.size > MOST_GIB * 2 ** 30)
      throw new Error(`the file must have at most ${MOST_GIB} GiB: it has ${(file.size / 2 ** 30).toFixed(1)} GiB`);
    if (file.size === 0) throw new Error('the file must be the .safetensors file of a training run: it has 0 bytes');
    const checkpoint = new Uint8Array(await file.arrayBuffer());
    const asked = trainingOf(this.store.state, 'none');
    const text = await this.comparison.learned;
    const found = await this.pool.run('train', { ...asked, text, checkpoint, more: 0 });
    const { step, settings, config, validation } = found;
    const saved = { training: { ...asked, ...settings }, step, checkpoint, config };
    const kind = settings.regularizer;
    const runs = runsOf(this.store.state);
    if (!runs.includes(kind)) {
      if (runs.length === runsControl.most) {
        throw new Error(
          `the comparison must have at most ${runsControl.most} runs: remove one to add “${regularizers[kind]}”`,
        );
      }
    }
    const replaced = this.comparison.all.find((run) => run.kind === kind);
    const question = replaced?.unsaved && `Resume ${file.name} in place of ${runText(replaced)}?`;
    if (question && !confirm(question)) return;
    if (!runs.includes(kind)) this.store.set({ runs: [...runs, kind].join() });
    this.comparison.resume(saved);
    this.note.textContent =
      `${regularizers[kind]} resumes at step ${count(saved.step)} of ` +
      `${count(saved.training.steps)}, with the settings of ${file.name}.` +
      (validation && ` Its validation text was ${validation}; here it is the last tenth of the text.`);
  }

  private follow({ run, ended, error }: Happening): void {
    if (error instanceof NetworkError) this.problem.textContent = `${error.message} ${retryText()}`;
    else if (error) this.problem.textContent = this.refused(error) ? '' : error.message;
    else if (!run) this.problem.textContent = '';
    const { comparison } = this;
    const { playing, done } = comparison;
    this.play.textContent = playing ? 'Pause' : 'Play';
    this.play.disabled = done;
    this.first.hidden = comparison.begun || playing;
    this.advance.disabled = done || playing;
    if (!run) this.build();
    comparison.runs.forEach((it, place) => this.tell(it, this.items[place]));
    if (run && !ended) return;
    if (run && this.spreads.size === 0) void this.loadSpreads();
    const status = this.statusText();
    if (this.status.textContent !== status) this.status.textContent = status;
    const judged = this.textOfRuns() || NO_COMPARISON;
    if (this.judged === judged) return;
    this.judged = judged;
    this.text.replaceChildren(...withSubscripts(judged));
  }

  private statusText(): string {
    const { comparison } = this;
    const words = comparison.waiting
      ? 'Waiting for the connection.'
      : comparison.playing
        ? 'Training.'
        : comparison.pausing
          ? 'Pausing after the current steps.'
          : comparison.done
            ? 'All runs have ended.'
            : comparison.begun
              ? 'Paused.'
              : 'Ready.';
    return comparison.stale ? `${words} Controls have changed: Start over trains with them.` : words;
  }

  private textOfRuns(): string {
    const { runs } = this.comparison;
    const judged = runs.map(({ kind, rows }) => ({ kind, name: regularizers[kind], rows }));
    return comparisonText(judged, this.spreads);
  }

  /** Without them the text names the differences of the one seed alone. */
  private async loadSpreads(): Promise<void> {
    const results = await loadResults('regularizers').catch(() => null);
    if (results) this.spreads = spreadsOf(results);
  }

  private build(): void {
    const kinds = this.comparison.runs.map(({ kind }) => kind).join();
    if (this.items.map(({ kind }) => kind).join() === kinds) return;
    this.items = this.comparison.runs.map(({ kind }) => this.item(kind));
    const listed = (contents: (item: Item) => (Node | string)[]) =>
      this.items.map((item, at) => {
        const place = document.createElement('li');
        place.style.setProperty('--run', `var(--series-${at + 1})`);
        place.append(...contents(item));
        return place;
      });
    this.list.replaceChildren(...listed(({ place }) => [place]));
    this.saves.replaceChildren(...listed(({ kind, buttons }) => [`Save ${regularizers[kind]} as`, ...buttons]));
    this.text.style.setProperty('--others', String(Math.max(1, this.items.length - 1)));
  }

  private item(kind: TrainingRun['kind']): Item {
    const place = document.createElement('span');
    const button = (textContent: string, label: string, act: (run: TrainingRun) => void) => {
      const made = Object.assign(document.createElement('button'), { type: 'button', textContent });
      made.className = 'quiet small';
      made.setAttribute('aria-label', `${label} of ${regularizers[kind]}`);
      made.addEventListener('click', () => {
        const run = this.comparison.find(kind);
        if (run) act(run);
      });
      return made;
    };
    const weights = button('.safetensors', 'Save .safetensors', saveCheckpoint);
    const config = button('config.json', 'Save config.json', (run) =>
      save(new Blob([run.config], { type: 'application/json' }), 'config.json'),
    );
    return { kind, place, buttons: [weights, config] };
  }

  private tell(run: TrainingRun, { place, buttons }: Item): void {
    const { step, training, failure, problem, resumed, checkpoint } = run;
    const at = `${regularizers[run.kind]}: step ${count(step)} of ${count(training.steps)}`;
    const why = failure ? `. Stopped at ${failure}.` : problem ? `. ${problem}` : '';
    const back = resumed === null ? '' : `. Its worker stopped; it resumed from step ${count(resumed)}.`;
    place.textContent = at + (why || back);
    for (const button of buttons) button.disabled = !checkpoint;
  }
}

/** How questions call a run. */
export function runText({ kind, step, training }: TrainingRun): string {
  return `${regularizers[kind]} (step ${count(step)} of ${count(training.steps)})`;
}

function saveCheckpoint(run: TrainingRun): void {
  const { checkpoint, kind, saved } = run;
  if (!checkpoint) return;
  run.filed = saved;
  const blob = new Blob([checkpoint as Uint8Array<ArrayBuffer>]);
  save(blob, `eigenscope-${kind}-step${saved}.safetensors`);
}
