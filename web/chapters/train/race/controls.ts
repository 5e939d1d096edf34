import { count, withSubscripts } from '../../../charts/format';
import { retryText } from '../../../engine/network';
import { EngineError, type Pool } from '../../../engine/pool';
import { NetworkError } from '../../../engine/shipped';
import { child, html } from '../../../ui/dom';
import { isText, textOf, type Text, type TextSource } from '../../shared/text-source';
import { loadResults } from '../experiments/files';
import { strip } from '../findings/strip';
import { regularizers } from '../methods';
import type { Happening, RunComparison } from '../runs/comparison';
import type { TrainingRun } from '../runs/run';
import { stylesOf, type ShownRun, type ShownRuns } from '../runs/shown';
import { runsControl, runsOf, trainingOf, type Store } from '../state';
import { comparisonText, spreadsOf, verdictsOf, warningsText, type JudgedRun, type SeedSpread } from './words';

/** No run of this page has a larger file. */
const MOST_GIB = 1;

/** The axis of the verdict, in bits per byte, at least. */
const WIDEST = 0.05;

/** Play, pause, step and reset; the verdict; files of runs, and the text that they learn from. */
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
  private verdict = child(this.host, '[data-verdict]');
  private saves = child(this.host, '[data-comparison-saves]');
  private numbers = child(this.host, '[data-comparison-numbers]');
  private text = child(this.host, '[data-comparison-text]');
  private warnings = child(this.host, '[data-comparison-warnings]');
  private buttons: { kind: TrainingRun['kind']; all: HTMLButtonElement[] }[] = [];
  /** Of the published runs; none before they came. */
  private spreads: ReadonlyMap<string, SeedSpread> = new Map();

  /** `refused` shows an error at the control at fault, or returns false where there is none. */
  constructor(
    private store: Store,
    private pool: Pool,
    private comparison: RunComparison,
    private shown: ShownRuns,
    private texts: TextSource,
    private refused: (error: Error) => boolean,
  ) {
    this.play.addEventListener('click', () => {
      if (comparison.playing) comparison.pause();
      else void comparison.play();
    });
    this.advance.addEventListener('click', () => void comparison.advance());
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
    this.first.hidden = !comparison.idle;
    this.host.classList.toggle('idle', comparison.idle);
    this.advance.disabled = done || playing;
    if (!run) this.build();
    for (const { kind, all } of this.buttons) {
      for (const button of all) button.disabled = !comparison.find(kind)?.checkpoint;
    }
    if (run && !ended) return;
    this.draw();
    const status = this.statusText();
    if (this.status.textContent !== status) this.status.textContent = status;
    const runs = this.judge(comparison.runs);
    const numbers = comparisonText(runs, this.spreads);
    this.tell(this.text, numbers);
    this.numbers.classList.toggle('none', numbers === '');
    this.tell(this.warnings, warningsText(runs));
  }

  /** Shows a text with subscripts, which the page keeps in another form. */
  private tell(place: HTMLElement, text: string): void {
    if (place.dataset.told === text) return;
    place.dataset.told = text;
    place.replaceChildren(...withSubscripts(text));
  }

  /** Draws the verdict on the runs that are shown: the differences of one seed, and the band of published seeds. */
  draw(): void {
    if (this.spreads.size === 0) void this.loadSpreads();
    const styles = stylesOf(this.shown.all);
    const verdicts = verdictsOf(this.judge(this.shown.all), this.spreads);
    const furthest = verdicts.flatMap(({ loss, band }) => [loss, ...(band ?? [])]).map(Math.abs);
    const half = 1.2 * Math.max(WIDEST, ...furthest);
    this.verdict.replaceChildren(
      ...verdicts.map(({ kind, text, loss, band }) => {
        const { run, colour } = styles.find((style) => style.run.kind === kind)!;
        const line = html('p', { textContent: text });
        line.prepend(strip(text, [-half, half], [{ value: loss, colour, hollow: run.recorded === true }], band));
        return line;
      }),
    );
  }

  private judge(runs: readonly ShownRun[]): JudgedRun[] {
    return runs.map(({ kind, rows }) => ({ kind, name: regularizers[kind], rows }));
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

  /** Without them the text names the differences of the one seed alone. */
  private async loadSpreads(): Promise<void> {
    const results = await loadResults('regularizers').catch(() => null);
    if (!results || this.spreads.size > 0) return;
    this.spreads = spreadsOf(results);
    this.draw();
  }

  private build(): void {
    const { runs } = this.comparison;
    if (this.buttons.map(({ kind }) => kind).join() === runs.map(({ kind }) => kind).join()) return;
    this.buttons = runs.map(({ kind }) => ({ kind, all: this.saveButtons(kind) }));
    this.saves.replaceChildren(
      ...this.buttons.map(({ kind, all }) => html('li', {}, `Save ${regularizers[kind]} as`, ...all)),
    );
  }

  private saveButtons(kind: TrainingRun['kind']): HTMLButtonElement[] {
    const button = (textContent: string, act: (run: TrainingRun) => void) => {
      const made = html('button', { type: 'button', textContent, className: 'quiet small' });
      made.setAttribute('aria-label', `Save ${textContent} of ${regularizers[kind]}`);
      made.addEventListener('click', () => {
        const run = this.comparison.find(kind);
        if (run) act(run);
      });
      return made;
    };
    return [
      button('.safetensors', saveCheckpoint),
      button('config.json', (run) => offer(new Blob([run.config], { type: 'application/json' }), 'config.json')),
    ];
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
  void offer(blob, `eigenscope-${kind}-step${saved}.safetensors`);
}

async function offer(blob: Blob, name: string): Promise<void> {
  (await import('../../../charts/files')).save(blob, name);
}
