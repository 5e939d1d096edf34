import type { Provenance } from '../charts/provenance';
import { Background } from '../engine/run-options';
import { retryText, whenReachable } from '../engine/network';
import { EngineError, type Pool } from '../engine/pool';
import { downloads, LoadError, NetworkError } from '../engine/shipped';
import { described } from '../state/described';
import { pick, type Values } from '../state/control';
import { writeLink } from '../state/link';
import { Signal } from '../state/signal';
import type { Change, Store } from '../state/store';
import type { Frame } from './frame';
import type { FigureContext, Figure, Quality } from './figure';
import { estimated } from './estimate';
import { draw, drawNow } from './queue';
import { durationText, Wait } from './wait';

/** Seconds of a computation that nobody has asked for but a link. */
const LONGEST_UNASKED = 60;
/** Seconds after which what is left of it can be told from its progress. */
const TELLING = 10;

export interface RunnerOptions {
  /** Hears of errors beside the figure's own message. */
  failed?: (error: Error) => void;
  /** What the numbers of all its figures depend on beside the state, such as the open model. For exports. */
  origin?: () => Provenance['parameters'];
  /** Settings of the state that the numbers have, where the controls may have others by now. For exports and links. */
  settings?: () => Provenance['parameters'];
}

/**
 * Decides when a figure asks and when it draws. While a control is dragged the question under way
 * is let finish and the newest is asked next, so that something is always seen; at rest whatever
 * is under way is cancelled. A figure far out of sight waits until it is near; one whose picture is not on the screen
 * lets the others go before it.
 */
export class Runner {
  /** On the screen, or so near that it is soon. */
  private visible = false;
  /** A part of its picture is on the screen. */
  private isLookedAt = false;
  private readonly background = new Background(true);
  /** It is computed whether or not it can be seen. */
  private demanded = false;
  /** A person has set a control or done something since the last link was read. */
  private asked = false;
  private readonly rested = new Signal();
  /** What is known has changed since it was drawn. */
  private unseen = false;
  private wanted: Quality | null = 'full';
  /** What the numbers shown are the answer to. */
  private answer: { state: Readonly<Values>; isWhole: boolean } | null = null;
  private current: { controller: AbortController; quality: Quality } | null = null;
  private wait: Wait;
  /** Times that the engine could not be loaded, since it last was. */
  private failedLoads = 0;
  /** The newest of them. */
  private lastAttempt = Symbol();

  constructor(
    private figure: Figure,
    private frame: Frame,
    private store: Store,
    private pool: Pool,
    private options: RunnerOptions,
  ) {
    store.changed.subscribe((change) => this.onChange(change));
    const sight = new IntersectionObserver(
      (entries) => {
        this.visible = entries[entries.length - 1].isIntersecting;
        if (this.visible && this.unseen) this.repaint();
        this.next();
      },
      { rootMargin: '200px' },
    );
    sight.observe(frame.root);
    new IntersectionObserver((entries) => {
      this.isLookedAt = entries[entries.length - 1].isIntersecting;
      this.rank();
    }).observe(frame.chart);
    frame.provenance = () => this.provenance();
    const actions = {
      cancel: () => this.cancel('Cancelled.'),
      compute: () => this.request('full'),
      passed: (spent: number, left: number) => this.judge(spent, left),
    };
    this.wait = new Wait(frame.message, frame.title, actions, downloads);
    frame.onResize(this.repaint);
  }

  /** Of what is shown, which may be of a question before the present one, or a part of its answer. */
  private provenance(): Omit<Provenance, 'title'> {
    const { figure, frame, store, answer } = this;
    const inputs = {
      ...pick(answer?.state ?? store.state, figure.inputs),
      ...(figure.shownInputs?.() as Values | undefined),
      ...(this.options.settings?.() as Values | undefined),
    };
    const state = { ...store.state, ...inputs };
    const parameters = {
      ...pick(state, [...figure.inputs, ...figure.repaintOn]),
      ...this.options.settings?.(),
      ...this.options.origin?.(),
      ...figure.origin?.(),
    };
    return {
      caption: answer?.isWhole === false ? `${frame.said} The computation had not ended.` : frame.said,
      link: location.href.replace(/#.*|$/, writeLink(store.name, store.view, state, figure.id)),
      settings: described(store.view, parameters),
      parameters,
    };
  }

  /** Asks anew, as a person wants, whatever changed. */
  request(quality: Quality): void {
    this.asked = true;
    this.renew(quality);
  }

  private renew(quality: Quality): void {
    this.wanted = quality;
    this.frame.advance(0);
    const busy = this.current;
    if (busy && (busy.quality === 'full' || quality === 'full')) busy.controller.abort();
    else if (busy) return;
    this.current = null;
    this.next();
  }

  /** The question is that of a link, and not what every visitor sees. */
  private get isUnasked(): boolean {
    const { state, view } = this.store;
    return !this.asked && this.figure.inputs.some((name) => state[name] !== view.defaults[name]);
  }

  /** Stops what takes long and nobody has asked for, until a person wants it. */
  private judge(spent: number, left: number): void {
    if (!this.isUnasked) return;
    if (spent >= TELLING && left > LONGEST_UNASKED) {
      this.cancel(`Stopped after ${durationText(spent)}: about ${durationText(left)} would be left.`);
    } else if (spent >= LONGEST_UNASKED && Number.isNaN(left)) {
      this.cancel(`Stopped after ${durationText(spent)}: it is not known how long it takes.`);
    }
  }

  /** Stops the question under way, and says so; what is known of its answer stays. */
  private cancel(text: string): void {
    this.wanted = null;
    this.current?.controller.abort();
    this.current = null;
    this.frame.advance(1);
    this.wait.cancelled(text);
    this.rested.send();
    this.repaint();
  }

  /** Draws at once what is known, in sight or not: for paper. */
  drawNow(): void {
    this.frame.measure();
    drawNow(this.paint);
    this.frame.flush();
  }

  /** Computes from now on whether or not the figure can be seen. */
  demand(): void {
    this.demanded = true;
    this.rank();
    this.next();
  }

  /** Lets others go first while nobody waits for it. */
  private rank(): void {
    this.background.is = !!this.figure.background || !(this.isLookedAt || this.demanded);
  }

  /** Computes what was asked although it is out of sight; resolves when nothing is left to compute. */
  finish(): Promise<void> {
    this.demand();
    if (!this.current && !this.wanted) return Promise.resolve();
    return new Promise((resolve) => this.rested.once(resolve));
  }

  /** Draws again what is known, as soon as it can be seen. */
  repaint = (): void => {
    this.unseen = true;
    if (this.visible) draw(this.paint);
  };

  private paint = () => this.steps();

  private *steps() {
    if (this.frame.width === 0) return;
    this.unseen = false;
    for (const step of this.figure.paint() ?? []) {
      yield step;
      if (this.frame.width > 0) continue;
      this.unseen = true; // hidden between two steps: there is no room to draw in
      return;
    }
    if (!this.current && !this.wanted) this.frame.rest();
  }

  private onChange({ names, settled, linked }: Change): void {
    const touches = (list: readonly string[]) => list.some((name) => names.has(name));
    if (touches(this.figure.inputs)) {
      this.asked = !linked;
      this.renew(settled ? 'full' : 'quick');
    }
    if (touches(this.figure.inputs) || touches(this.figure.repaintOn)) this.repaint();
  }

  private next(): void {
    if (this.current || !this.wanted || !(this.visible || this.demanded)) return;
    const run = { controller: new AbortController(), quality: this.wanted };
    this.wanted = null;
    this.current = run;
    this.wait.begin();
    void this.ask(run.controller.signal, run.quality).then(() => {
      if (this.current !== run) return;
      this.current = null;
      this.wait.end();
      this.next();
      if (!this.current) this.rested.send();
    });
  }

  private async ask(signal: AbortSignal, quality: Quality): Promise<void> {
    const { pool, frame } = this;
    const { state } = this.store;
    const context: FigureContext = {
      state,
      signal,
      quality,
      // While a hand moves something one core is left to the drawing.
      workers: quality === 'quick' ? Math.max(1, pool.size - 1) : pool.size,
      run: async (job, input, onPartial) => {
        this.wait.beginJob();
        const silence = this.wait.silence();
        const seconds = await estimated(pool, job, input, signal, silence.hear);
        signal.throwIfAborted();
        if (seconds !== null) {
          this.wait.expect(seconds);
          if (this.isUnasked && seconds > LONGEST_UNASKED) {
            this.cancel(`Not started: it takes about ${durationText(seconds)}, as a problem an eighth as large shows.`);
            signal.throwIfAborted();
          }
        }
        const take: typeof onPartial = (output, progress) => {
          this.wait.advanceJob(progress);
          onPartial?.(output, progress);
        };
        return pool
          .run(job, input, {
            signal,
            onPartial: take,
            onSilence: silence.hear,
            onStart: () => this.wait.startJob(),
            background: this.background,
            ...(seconds !== null && { expected: seconds }),
          })
          .finally(silence.end);
      },
      show: (progress) => {
        this.answer = { state, isWhole: false };
        show(progress);
      },
    };
    const show = (progress: number) => {
      frame.advance(progress);
      this.wait.advance(progress);
      this.repaint();
    };
    try {
      await this.figure.compute?.(context);
      if (signal.aborted) return;
      this.failedLoads = 0;
      frame.complain('');
      this.answer = { state, isWhole: true };
      show(1);
    } catch (error) {
      if (signal.aborted) return;
      show(1);
      this.report(error as Error);
      this.options.failed?.(error as Error);
    }
  }

  /** Shows why there is no answer, and how there may be one: only a refused value needs another question. */
  private report(error: Error): void {
    const again = () => {
      this.failedLoads = 0;
      this.frame.complain('');
      this.request('full');
    };
    const canRetry = error instanceof LoadError || (error instanceof EngineError && error.broken);
    const isReached = !(error instanceof NetworkError);
    const text = isReached ? error.message : `${error.message} ${retryText()}`;
    this.frame.complain(text, canRetry ? again : undefined);
    if (!isReached) void this.retry();
  }

  /** Asks again when the host can be reached. */
  private async retry(): Promise<void> {
    const attempt = Symbol();
    this.lastAttempt = attempt;
    await whenReachable(++this.failedLoads);
    // Meanwhile it may have been loaded, or have failed once more.
    if (this.failedLoads > 0 && this.lastAttempt === attempt) this.renew('full');
  }
}
