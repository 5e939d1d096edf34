import type { Input, Output, JobName } from '../../engine/protocol';
import type { FigureOf } from '../../ui/registry';
import type { Preset } from '../shared/preset';
import type { State } from './state';

/** Runs an operation to its end; `input` without the files of the lab. */
export type Ask = <N extends JobName>(name: N, input: Omit<Input<N>, 'runs' | 'text'>) => Output<N>;

/** A lab as the build and the tests compute it: what it finds in a state, and the sentences about it. */
export interface Lab<Found = unknown, Measured = unknown> {
  figure: FigureOf<'uses'>;
  presets: readonly Preset<State, Record<string, Measured>>[];
  /** Folder of docs/models with the models that it reads, if any, on the text that they were trained on. */
  models?: string;
  find(state: Readonly<State>, ask: Ask): Found;
  /** The numbers of the sentences of its presets. */
  measured(found: Found): Measured;
}
