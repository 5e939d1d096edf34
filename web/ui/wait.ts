import type { OnSilence } from '../engine/run-options';
import type { Download } from '../engine/shipped';

/** What a person may do about a long computation. */
interface WaitActions {
  cancel(): void;
  /** Starts it again after it was cancelled. */
  compute(): void;
  /** Called each second: the seconds spent, and those that are left; NaN where that is not known. */
  passed(spent: number, left: number): void;
}

/** A computation that takes no longer than so many milliseconds is not spoken of, nor a shorter download. */
const SHORT = 2000;
const SHORT_DOWNLOAD = 1000;
const SECOND = 1000;
/** Seconds of a minute, an hour, a day; a duration is told in the largest unit of which it has two. */
const UNITS = [
  [86_400, 'days'],
  [3600, 'h'],
  [60, 'min'],
] as const;

/** A duration as a person would say it: "40 s", "3 min", "5 h". */
export function durationText(seconds: number): string {
  const [size, unit] = UNITS.find(([size]) => seconds >= 2 * size) ?? [1, 's'];
  return `${Math.max(1, Math.round(seconds / size))} ${unit}`;
}

/**
 * How long a computation will take, from the time of its work so far. `progress` is the share of all
 * work that is done, `first` that of the work until the first values; both in [0, 1].
 * `expected` is the estimate of the seconds of all work, NaN where there is none.
 */
export function waitText(seconds: number, progress: number, first: number, expected: number): string {
  const spent = `Computing for ${durationText(seconds)}`;
  const left = (share: number) => durationText((seconds * (1 - share)) / share);
  if (progress > 0) return `${spent}; about ${left(progress)} left.`;
  if (first > 0) return `${spent}; the first values come in about ${left(first)}.`;
  if (expected > seconds)
    return `${spent}; about ${durationText(expected - seconds)} left, estimated from a problem an eighth as large.`;
  return `${spent}; the first step is not done yet.`;
}

/** Share of a worker's time to answer after which its silence is told. */
const LONG_SILENCE = 0.25;

/**
 * What there is to say of workers that show no sign of work, by the job that has had one last: how long it has had
 * none, after how long its worker counts as stuck, and how often one did; '' where there is nothing.
 */
export function silenceText(silent: number, patience: number, stalls: number): string {
  const isLong = silent >= LONG_SILENCE * patience;
  const none = `no worker has answered for ${durationText(silent)}`;
  const limit = `after ${durationText(patience)}`;
  if (stalls > 0) {
    const now = isLong ? ` Now ${none}; ${limit} the computation is given up.` : '';
    return ` It started again, because its worker did not answer.${now}`;
  }
  return isLong ? ` It may be stuck: ${none}; ${limit} it starts again in a new one.` : '';
}

/** What is being loaded, and how much of it is there. */
export function downloadText(downloads: readonly Download[]): string {
  const kB = (bytes: number) => Math.round(bytes / 1000).toLocaleString('en');
  const parts = downloads.map(({ file, received }) => `the ${file.name}, ${kB(received)} of ${kB(file.bytes)} kB`);
  return `Loading ${parts.join('; ')}.`;
}

/** Under a figure whose computation takes long: how long it will take, and a button to cancel it. */
export class Wait {
  private host = document.createElement('p');
  private text = document.createElement('span');
  private button = Object.assign(document.createElement('button'), { type: 'button' });
  private timer: number | undefined;
  private start = 0;
  /** A worker has a job. */
  private started = false;
  /** Share of the work that is done. */
  private progress = 0;
  /** The same of the jobs under way. */
  private first = 0;
  /** Estimated seconds of the longest job under way. */
  private expected = NaN;
  /** What is known of the silence of each job under way. */
  private silences = new Map<symbol, Parameters<OnSilence>>();

  /** Puts itself before `next`; `name` says to a screen reader whose computation it is. */
  constructor(
    next: Element,
    private name: string,
    private actions: WaitActions,
    /** What is being loaded. */
    private downloads: () => readonly Download[],
  ) {
    this.host.className = 'wait';
    this.host.hidden = true;
    this.button.className = 'quiet small';
    this.button.addEventListener('click', () => {
      if (this.timer === undefined) actions.compute();
      else actions.cancel();
    });
    this.host.append(this.text, ' ', this.button);
    next.before(this.host);
  }

  /** A computation begins, in place of one under way. */
  begin(): void {
    this.end();
    this.start = performance.now();
    this.progress = this.first = 0;
    this.expected = NaN;
    this.started = false;
    this.silences.clear();
    this.timer = window.setInterval(() => this.show(), SECOND);
  }

  /** Takes the share that is done of all. */
  advance(progress: number): void {
    this.progress = Math.max(this.progress, progress);
  }

  /** A job begins, after others or beside them. */
  beginJob(): void {
    this.first = 0;
    this.started = false;
  }

  /** What the job needs is loaded, and it computes. */
  startJob(): void {
    this.started = true;
  }

  /** Takes the estimated seconds of a job under way; jobs run side by side. */
  expect(seconds: number): void {
    this.expected = Math.max(seconds, this.expected || 0);
  }

  /** A listener to the silence of a job that begins now, and what ends it. */
  silence(): { hear: OnSilence; end: () => void } {
    const job = Symbol();
    return { hear: (...heard) => this.silences.set(job, heard), end: () => this.silences.delete(job) };
  }

  /** Takes the share that is done of a job under way. */
  advanceJob(progress: number): void {
    this.first = Math.max(this.first, progress);
  }

  end(): void {
    clearInterval(this.timer);
    this.timer = undefined;
    this.host.hidden = true;
  }

  /** It was cancelled, as `text` says: the button now starts it again. */
  cancelled(text: string): void {
    this.end();
    this.label('Compute');
    this.text.textContent = text;
    this.host.hidden = false;
  }

  private show(): void {
    const spent = performance.now() - this.start;
    const loading = this.started ? [] : this.downloads();
    if (loading.length === 0) this.actions.passed(spent / SECOND, this.left(spent / SECOND));
    if (this.timer === undefined) return; // it was cancelled
    if (spent < (loading.length > 0 ? SHORT_DOWNLOAD : SHORT)) return;
    this.text.textContent =
      loading.length > 0
        ? downloadText(loading)
        : waitText(spent / SECOND, this.progress, this.first, this.expected) + this.silent();
    this.label('Cancel');
    this.host.hidden = false;
  }

  /** Seconds until the answer; NaN where that is not known. */
  private left(spent: number): number {
    return this.progress > 0 ? (spent * (1 - this.progress)) / this.progress : this.expected - spent;
  }

  private silent(): string {
    const jobs = [...this.silences.values()];
    if (jobs.length === 0) return '';
    return silenceText(...jobs.reduce((best, it) => (it[0] < best[0] ? it : best)));
  }

  private label(text: string): void {
    if (this.button.textContent === text) return;
    this.button.textContent = text;
    this.button.setAttribute('aria-label', `${text}: ${this.name}`);
  }
}
