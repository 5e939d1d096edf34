import type { Drawing } from './queue';
import type { FigureId } from './registry';
import type { Input, JobName, Output } from '../engine/protocol';
import type { Values } from '../state/control';
import type { Table } from '../charts/table';

/** `quick` while a control is dragged: small problems that answer at once. `full` at rest. */
export type Quality = 'quick' | 'full';

/** What a figure may do while it computes. All of it stops when the question is stale. */
export interface FigureContext<S extends Values = Values> {
  state: Readonly<S>;
  quality: Quality;
  /** Number of workers among which a job may be split. */
  workers: number;
  /** Aborted when the question is stale. */
  signal: AbortSignal;
  run<J extends JobName>(
    job: J,
    input: Input<J>,
    onPartial?: (output: Output<J>, progress: number) => void,
  ): Promise<Output<J>>;
  /** There is something new to draw. `progress` in [0, 1]. */
  show(progress: number): void;
}

/** One figure: what it asks of the engine and what it draws. */
export interface Figure<S extends Values = Values> {
  readonly id: FigureId;
  /** A change of these asks the engine again. */
  readonly inputs: readonly (keyof S & string)[];
  /** A change of these only draws again. */
  readonly repaintOn: readonly (keyof S & string)[];
  /** The controls worth showing beside it, where these are not all of both lists. */
  readonly beside?: readonly (keyof S & string)[];
  /** Its jobs are long, and advance only while their worker has no job of another figure in sight. */
  readonly background?: boolean;
  /** Of the inputs those that the numbers shown are of, where these are not the newest answer's. */
  shownInputs?(): Partial<S>;
  /** What the numbers shown are of beside the state, such as an experiment or a smaller count, for exports. */
  origin?(): Readonly<Record<string, string | number>>;
  /** Asks the engine. Without it the figure is drawn from what others have asked. */
  compute?(context: FigureContext<S>): Promise<void>;
  /** Draws what is known into the frame, at its present width; what takes long yields between its steps. */
  paint: Drawing;
  /** The numbers shown; null while there are none. */
  table(): Table | null;
}
