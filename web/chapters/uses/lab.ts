import type { Input, Output, JobName } from '../../engine/protocol';
import type { FigureOf } from '../../ui/registry';
import type { Preset } from '../shared/preset';
import type { State } from './state';

/** Fields of published models or of a checkpoint, and of a text. */
type FileField = 'runs' | 'model' | 'index' | 'config' | 'tokenizer' | 'text' | 'file';

/** The answer of an operation, which finds its models and text by itself. */
export type Ask = <N extends JobName>(name: N, input: Omit<Input<N>, FileField>) => Promise<Output<N>>;

/** A preset of the lab's figure; without a state it shows the chapter's own. */
export type LabPreset<Measured> = Omit<Preset<State, Record<string, Measured>>, 'figure' | 'state'> &
  Partial<Pick<Preset<State>, 'state'>>;

/** A lab as the build computes it: what it finds in a state, and the sentences about it. */
export interface Lab<Found = unknown, Measured = unknown> {
  figure: FigureOf<'uses'>;
  presets: readonly LabPreset<Measured>[];
  find(state: Readonly<State>, ask: Ask): Promise<Found>;
  /** The numbers of the sentences of its presets. */
  measured(found: Found): Measured;
}
