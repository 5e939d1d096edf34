// What a room of this chapter declares of its lab, for the page and for the build.
import { estimate } from '../../charts/with-error';
import type { Input, JobName, Output } from '../../engine/protocol';
import { pick, type Controls, type Values } from '../../state/control';
import type { FigureOf } from '../../ui/registry';
import type { Preset } from '../shared/preset';

/** What an operation is asked: settings of a state by their names. Published models and texts are added. */
interface Question {
  operation: JobName;
  inputs: readonly string[];
}

export const questionOf = <N extends JobName>(
  operation: N,
  inputs: readonly (keyof Input<N> & string)[],
): Question => ({ operation, inputs });

/** A lab: its figure, the controls that it adds to the chapter, and what it asks. */
export interface Lab<Answer = unknown, C extends Controls = Controls> {
  figure: FigureOf<'uses'>;
  controls: C;
  /** By the parts of the answer that their outputs are; of a lab with one question its output is the answer. */
  questions: Readonly<Record<string, Question>>;
  /** States beside those of the presets whose answers the build ships. */
  states?: readonly Readonly<Values>[];
  /** The type of the answer; never set. */
  answer?: Answer;
}

const WHOLE = 'whole';

/** A lab with one question, to the operation that has the figure's name. */
export const labOf = <N extends JobName & FigureOf<'uses'>, C extends Controls>(
  figure: N,
  inputs: readonly (keyof Input<N> & string)[],
  controls: C,
): Lab<Output<N>, C> => ({ figure, controls, questions: { [WHOLE]: questionOf(figure, inputs) } });

/** The settings on which the answer of a lab depends. */
export const inputsOf = ({ questions }: Lab): string[] => [
  ...new Set(Object.values(questions).flatMap(({ inputs }) => inputs)),
];

/** Asks an operation with settings, to which it adds models and text; `part` is that of the answer. */
export type Ask = (operation: JobName, settings: object, part: string) => Promise<unknown>;

/** The answer of a lab from the outputs of its questions by their parts. */
export const answerFrom = <Answer>(outputs: Readonly<Record<string, unknown>>): Answer =>
  (WHOLE in outputs ? outputs[WHOLE] : outputs) as Answer;

/** The answer of a lab in a state. Throws what `ask` throws. */
export async function find<Answer>({ questions }: Lab<Answer>, state: Readonly<Values>, ask: Ask): Promise<Answer> {
  const outputs = Object.entries(questions).map(async ([part, { operation, inputs }]) => [
    part,
    await ask(operation, pick(state, inputs), part),
  ]);
  return answerFrom(Object.fromEntries(await Promise.all(outputs)));
}

/** A field of several rows with its standard errors, by the names of the rows. */
export const estimates = <N extends string, F extends string>(
  names: readonly N[],
  rowOf: (name: N) => Readonly<Record<F | `${F}_error`, number | null>> | undefined,
  field: F,
) => Object.assign({}, ...names.map((name) => estimate(name, rowOf(name), field))) as Record<N | `${N}_error`, number>;

/** The row with these values. Throws where there is none. */
export function rowWith<R extends object>(rows: readonly R[], wanted: Partial<R>): R {
  const row = rows.find((it) => Object.entries(wanted).every(([name, value]) => it[name as keyof R] === value));
  if (!row) throw new Error(`no row of ${Object.values(wanted).join(' and ')}`);
  return row;
}

/** A preset of the figure of a lab; without a state it is that of the chapter's defaults. */
export type LabPreset<Measured> = Omit<Preset<Values, Record<string, Measured>>, 'figure' | 'state'> & {
  state?: Partial<Values>;
  /** What the claim of the sentence, where the numbers support it, means for the source's: open where they do not resolve it, none for a claim of ours. */
  source?: 'holds' | 'fails' | 'open';
};

/** What the numbers of a lab mean for its source's claim. */
export type Stamp = 'holds' | 'half' | 'fails' | 'open';

/** The presets whose numbers say something of the source's claim. */
export function judged<Measured>(presets: readonly LabPreset<Measured>[], values: Record<string, Measured>) {
  return presets.filter(({ source, claim }) => source && claim(values));
}

/** From the numbers of the presets: half where the claim holds in one of their states and not in another. */
export function stampOf<Measured>(presets: readonly LabPreset<Measured>[], values: Record<string, Measured>): Stamp {
  const verdicts = new Set(judged(presets, values).map(({ source }) => source));
  if (verdicts.has('holds')) return verdicts.size > 1 ? 'half' : 'holds';
  return verdicts.has('fails') ? 'fails' : 'open';
}
