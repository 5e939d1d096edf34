import type { Input, Output, JobName } from '../../engine/protocol';
import type { FigureOf } from '../../ui/registry';
import type { Preset } from '../shared/preset';
import type { State } from './state';

/** The answer of an operation, which finds published models and their text by itself. */
export type Ask = <N extends JobName>(name: N, input: Omit<Input<N>, 'runs' | 'text'>) => Promise<Output<N>>;

/** A lab as the build computes it: what it finds in a state, and the sentences about it. */
export interface Lab<Found = unknown, Measured = unknown> {
  figure: FigureOf<'uses'>;
  presets: readonly Preset<State, Record<string, Measured>>[];
  find(state: Readonly<State>, ask: Ask): Promise<Found>;
  /** The numbers of the sentences of its presets. */
  measured(found: Found): Measured;
}
