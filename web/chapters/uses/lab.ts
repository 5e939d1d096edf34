import type { Input, Output, JobName } from '../../engine/protocol';
import { pick } from '../../state/control';
import type { FigureOf } from '../../ui/registry';
import type { Preset } from '../shared/preset';
import type { State } from './state';

/** Fields of published models or of a checkpoint, and of a text. */
type FileField = 'runs' | 'model' | 'index' | 'config' | 'tokenizer' | 'text' | 'file';

/** The input of an operation without models and text. */
type Settings<N extends JobName> = Omit<Input<N>, FileField>;

/** The answer of an operation, which finds its models and text by itself. */
export type Ask = <N extends JobName>(name: N, input: Settings<N>) => Promise<Output<N>>;

/** A preset of the lab's figure; without a state it shows the chapter's own. */
export type LabPreset<Measured> = Omit<Preset<State, Record<string, Measured>>, 'figure' | 'state'> &
  Partial<Pick<Preset<State>, 'state'>> & {
    /** What its claim, where the numbers bear it out, says of the source's: none for a claim of ours alone. */
    source?: 'holds' | 'fails';
  };

/** What the numbers of a lab say of its source's claim. */
export type Stamp = 'holds' | 'half' | 'fails' | 'open';

/** From the numbers of the presets: half where the claim holds in one of their states and fails in another. */
export function stampOf<Measured>(presets: readonly LabPreset<Measured>[], values: Record<string, Measured>): Stamp {
  const found = new Set(presets.flatMap(({ source, claim }) => (source && claim(values) ? [source] : [])));
  if (found.size === 2) return 'half';
  return [...found][0] ?? 'open';
}

/** A lab as the build computes it: what it finds in a state, and the sentences about it. */
export interface Lab<Found = unknown, Measured = unknown> {
  figure: FigureOf<'uses'>;
  presets: readonly LabPreset<Measured>[];
  find(state: Readonly<State>, ask: Ask): Promise<Found>;
  /** The numbers of the sentences of its presets. */
  measured(found: Found): Measured;
}

/** The fields of an operation that the chapter's controls set. */
type Asked<N extends JobName> = {
  [K in keyof State & keyof Settings<N>]: State[K] extends Settings<N>[K] ? K & string : never;
}[keyof State & keyof Settings<N>];

/** What a lab asks an operation: the settings of a state by their names. */
export class Question<N extends JobName> {
  constructor(
    readonly operation: N,
    readonly inputs: readonly Asked<N>[],
  ) {}

  /** The operation's input in a state, without models and text. */
  in(state: Readonly<State>): Settings<N> {
    return pick(state, this.inputs) as object as Settings<N>;
  }
}

/** A lab with one question, to the operation of the figure's name. */
// The page has the presets as HTML: it is built without labs, as their making has no side effects.
/* @__NO_SIDE_EFFECTS__ */
export function labOf<N extends JobName & FigureOf<'uses'>, Measured>(
  question: Question<N>,
  presets: readonly LabPreset<Measured>[],
  measured: (found: Output<N>) => Measured,
): Lab<Output<N>, Measured> {
  const { operation } = question;
  return { figure: operation, presets, measured, find: (state, ask) => ask(operation, question.in(state)) };
}
