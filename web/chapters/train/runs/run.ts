import type { Output, Regularizer, Training, TrainingPiece } from '../../../engine/protocol';
import { joined, rowsOf, type Row } from './log';

/** Asks the engine for a piece of training. */
export type Train = (
  input: TrainingPiece,
  options: { signal: AbortSignal; onPartial: (output: Output<'train'>) => void; onRestart: () => void },
) => Promise<Output<'train'>>;

/** A checkpoint that a person gave: where it is, and with which settings. */
export interface SavedRun {
  training: Training;
  step: number;
  checkpoint: Uint8Array;
  config: string;
}

/** A fault that is injected into a run; its first step is that of the piece that it waits for. */
export type InjectedFault = Pick<Training, 'fault' | 'fault_steps' | 'fault_size'> & { fault_step: number | null };

/** Milliseconds that a piece should take: about so much a pause waits for, and a cancel loses. */
const PIECE = 1000;
/** Steps of the first piece, when nothing is known of their speed. */
const FIRST = 4;

/**
 * One run of a comparison. It keeps the last checkpoint and asks for the next piece from there: to pause
 * is not to ask. Nothing here waits for a frame, so that it goes on in a hidden tab.
 */
export class TrainingRun {
  readonly kind: Regularizer;
  step: number;
  checkpoint: Uint8Array | null;
  /** The config.json that belongs beside the checkpoint. */
  config: string;
  /** The step of the checkpoint; the piece under way is beyond it. */
  saved: number;
  /** Why and at which step the training failed, or ''. */
  failure = '';
  /** Why the last piece was refused or lost, or ''. */
  problem = '';
  /** The step of the checkpoint that is in a file too; null while none is. */
  filed: number | null;
  /** The step from which the run resumed after its worker stopped; null while none has. */
  resumed: number | null = null;
  /** The fault that was injected while it ran; null for none. */
  injected: InjectedFault | null = null;
  private old: Row[] = [];
  private fresh: Row[] = [];
  private pace = FIRST;
  private working = false;
  private readonly controller = new AbortController();
  private initial: Promise<Uint8Array> | null = null;

  /** `changed` hears of new rows, and of the end of a piece (`true`). */
  constructor(
    readonly training: Training,
    private train: Train,
    private changed: (run: TrainingRun, ended: boolean, error?: Error) => void,
    saved?: SavedRun,
  ) {
    this.kind = training.regularizer;
    this.step = this.saved = saved?.step ?? 0;
    this.checkpoint = saved?.checkpoint ?? null;
    this.config = saved?.config ?? '';
    this.filed = saved?.step ?? null;
  }

  /** What was logged so far, the piece under way included. */
  get rows(): Row[] {
    return joined(this.old, this.fresh);
  }

  /** A piece is under way. */
  get busy(): boolean {
    return this.working;
  }

  get begun(): boolean {
    return this.working || this.checkpoint !== null || this.old.length > 0 || this.failure !== '';
  }

  get done(): boolean {
    return this.failure !== '' || (this.step >= this.training.steps && this.checkpoint !== null);
  }

  /** Steps were trained that no file has. */
  get unsaved(): boolean {
    return this.working || (this.checkpoint !== null && this.saved !== this.filed);
  }

  /** Goes on, piece by piece, while `goal` (which may change meanwhile) is ahead. */
  async go(text: Uint8Array, goal: () => number): Promise<void> {
    if (this.working) return; // it looks at the goal after its piece
    this.working = true;
    this.problem = '';
    this.resumed = null;
    const left = () => Math.min(goal(), this.training.steps) - this.step;
    let error: Error | undefined;
    try {
      while (!this.failure && left() > 0) await this.piece(text, Math.min(left(), this.pace));
    } catch (reason) {
      error = reason as Error;
      this.problem = error.message;
    }
    this.working = false;
    if (!this.controller.signal.aborted) this.changed(this, true, error);
  }

  /** The weights of its checkpoint, or those with which it begins on this text. Throws as the engine. */
  async weights(text: Uint8Array): Promise<Uint8Array> {
    if (this.checkpoint) return this.checkpoint;
    const none = () => {};
    const { signal } = this.controller;
    this.initial ??= this.train(
      { ...this.training, text, checkpoint: null, more: 0 },
      { signal, onPartial: none, onRestart: none },
    ).then(({ checkpoint }) => checkpoint ?? Promise.reject(new Error('the run has no initial weights')));
    this.initial.catch(() => (this.initial = null)); // asked for again, they may come
    return this.initial;
  }

  /** Lets go of the piece under way; the run is of no use afterwards. */
  cancel(): void {
    this.controller.abort();
  }

  private async piece(text: Uint8Array, more: number): Promise<void> {
    const { training, checkpoint, injected } = this;
    const { signal } = this.controller;
    const start = performance.now();
    if (injected) injected.fault_step ??= this.step;
    const output = await this.train(
      { ...training, ...(injected as Partial<Training>), text, checkpoint, more },
      { signal, onPartial: (part) => this.take(part, false), onRestart: () => this.restart() },
    );
    signal.throwIfAborted();
    const wanted = (more * PIECE) / Math.max(1, performance.now() - start);
    this.pace = Math.max(1, Math.round(Math.min(4 * this.pace, Math.max(this.pace / 4, wanted))));
    this.take(output, true);
  }

  /** The worker is gone, and another takes the same piece from the last checkpoint. */
  private restart(): void {
    this.resumed = this.step = this.saved;
    this.fresh = [];
    this.changed(this, false);
  }

  private take(output: Output<'train'>, ended: boolean): void {
    this.fresh = rowsOf(output.rows, this.training);
    this.step = output.step;
    if (ended) {
      this.old = this.rows;
      this.fresh = [];
      this.failure = output.failure;
      // What broke is not gone on with: the last good state stays.
      if (output.checkpoint && !output.failure) {
        this.checkpoint = output.checkpoint;
        this.config = output.config;
        this.saved = output.step;
      }
    }
    this.changed(this, ended);
  }
}
