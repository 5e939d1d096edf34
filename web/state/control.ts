import operations from '../generated/operations.json';
import parameters from '../generated/parameters.json';
import type { JobName } from '../engine/protocol';
import type { Operations } from '../generated/operations';
import { helpFrom } from './meaning';

/** The values of a state by the names of their controls. */
export type Values = Record<string, number | string>;

/** How a slider's travel maps to values: `square` is fine near zero and reaches both signs. */
export interface Slider {
  scale: 'linear' | 'log' | 'square';
  from: number;
  to: number;
  integer?: boolean;
  /** The travel ends at the present value of another number, not at `to`. */
  within?: string;
}

/** Range and default of a number; `eigenscope parameters` prints those of the library. */
export type Limits = Omit<(typeof parameters)[number], 'name' | 'meaning'>;

interface Described {
  label: string;
  /** What the control sets, in the words and symbols of the page (HTML); '' where the label says it. */
  help: string;
  /** The operation whose field it is, which explains refusals; without it the first with such a field. */
  operation?: JobName;
  /** Whether it changes anything in a state; without it, always. */
  used?(state: Values): boolean;
}
export interface NumberControl extends Described {
  kind: 'number';
  /** HTML of the symbol. */
  sign: string;
  slider: Slider | null;
  limits: Limits;
  default: number;
}
export interface ChoiceControl<V extends string = string> extends Described {
  kind: 'choice';
  choices: Readonly<Record<V, string>>;
  default: V;
}
export interface TextControl extends Described {
  kind: 'text';
  /** Whether a text is allowed; any is without it. */
  allows?: (text: string) => boolean;
  default: string;
}
/** Numbers with commas, semicolons or spaces between them. */
export interface ListControl extends Described {
  kind: 'list';
  /** Of every number. */
  limits: Limits;
  least: number;
  default: string;
}
/** Several of a few: their names with commas between them. */
export interface SeveralControl extends Described {
  kind: 'several';
  operation: JobName;
  /** The operation's field that has one of the choices. */
  field: string;
  choices: Readonly<Record<string, string>>;
  least: number;
  most: number;
  default: string;
}
export type Control = NumberControl | ChoiceControl | TextControl | ListControl | SeveralControl;

/** The controls of a chapter by their names, which are also those in its link, in the link's order. */
export type Controls = Readonly<Record<string, Control>>;
/** The state that some controls set. */
export type StateOf<C extends Controls> = { -readonly [N in keyof C]: C[N]['default'] };

/** The library's range, default and meaning of a parameter. */
export function limitsOf(name: string): (typeof parameters)[number] {
  const found = parameters.find((row) => row.name === name);
  if (!found) throw new Error(`the library has no parameter ${name}`);
  return found;
}

/** The nearest value that the library allows. Not for parameters whose bounds are open. */
export function allowed(name: string, value: number): number {
  const { minimum, maximum } = limitsOf(name);
  return Math.min(maximum, Math.max(minimum, value));
}

type Details = Partial<Pick<Described, 'help' | 'operation' | 'used'>>;
type Scale = (from: number, to: number, more?: Partial<Slider>) => Slider;

export const linear: Scale = (from, to, more) => ({ scale: 'linear', from, to, ...more });
export const log: Scale = (from, to, more) => ({ scale: 'log', from, to, ...more });
export const square: Scale = (from, to) => ({ scale: 'square', from, to });
export const integers: Scale = (from, to, more) => linear(from, to, { integer: true, ...more });

/**
 * A number: the library's parameter of this name, with a slider over the range worth exploring. Its default is that of
 * the operation in `details`, where one is named.
 */
export function number(
  name: string,
  label: string,
  slider: Slider | null,
  details: Details & { sign?: string; default?: number } = {},
): NumberControl {
  const own: Record<string, unknown> = details.operation ? factsOf(details.operation).defaults : {};
  const limits = limitsOf(name);
  const standard = (own[name] as number | undefined) ?? limits.default;
  return ownNumber(limits, label, slider, { help: helpFrom(limits.meaning), default: standard, ...details });
}

/** One of the page's own numbers. */
export function ownNumber(
  limits: Limits,
  label: string,
  slider: Slider | null,
  details: Details & { sign?: string; default?: number } = {},
): NumberControl {
  return { kind: 'number', label, sign: '', slider, limits, help: '', default: limits.default, ...details };
}

/** One of the page's own choices; the first is the default. */
export function choice<V extends string>(
  label: string,
  choices: Readonly<Record<V, string>>,
  help = '',
): ChoiceControl<V> {
  const [first] = Object.keys(choices) as V[];
  return { kind: 'choice', label, choices, help, default: first };
}

/** What the page knows of an operation's fields. */
function factsOf(operation: JobName): { defaults: Record<string, unknown> } {
  return operations[operation as keyof typeof operations];
}

/** The values of an operation's field that is a choice. */
type ValueOf<J extends keyof Operations, F> = F extends keyof Operations[J]['input']
  ? Extract<Operations[J]['input'][F], string>
  : never;

/** A choice that an operation has: values, labels, meaning and default are the operation's. */
export function choiceOf<
  J extends keyof typeof operations & keyof Operations,
  F extends keyof (typeof operations)[J]['choices'] & string,
>(operation: J, field: F, label: string, details: Details = {}): ChoiceControl<ValueOf<J, F>> {
  const { choices, defaults, meanings } = operations[operation] as {
    choices: Record<string, Record<ValueOf<J, F>, string>>;
    defaults: Record<string, unknown>;
    meanings: Record<string, string>;
  };
  const standard = defaults[field] as ValueOf<J, F>;
  const help = helpFrom(meanings[field]);
  return { kind: 'choice', label, choices: choices[field], default: standard, help, operation, ...details };
}

export function text(
  label: string,
  details: Details & { help: string; default?: string; allows?: (text: string) => boolean },
): TextControl {
  return { kind: 'text', label, default: '', ...details };
}

/** At least `least` numbers, each a value of the library's parameter of this name. */
export function list(
  name: string,
  label: string,
  details: Details & { help: string; default: string; least: number },
): ListControl {
  return { kind: 'list', label, limits: limitsOf(name), ...details };
}

/** The names of some controls, in their order. */
export function namesOf<C extends object>(controls: C): (keyof C & string)[] {
  return Object.keys(controls) as (keyof C & string)[];
}

/** The part of a state with these names. */
export function pick<S extends object, N extends keyof S>(state: S, names: readonly N[]): Pick<S, N> {
  return Object.fromEntries(names.map((name) => [name, state[name]])) as Pick<S, N>;
}

/** The slider of a number, with the travel that it has in a state. */
export function sliderOf({ slider }: NumberControl, state: Readonly<Values>): Slider | null {
  return slider?.within ? { ...slider, to: Number(state[slider.within]) } : slider;
}

/** No number needs more characters, and a longer text would take long to match. */
const MOST_CHARACTERS = 400;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** The value that a text gives a control; undefined when it is not allowed, the library says why. */
export function parse(control: Control, text: string): number | string | undefined {
  if (control.kind === 'text') return control.allows?.(text) === false ? undefined : text;
  if (control.kind === 'list') return isList(control, text) ? text : undefined;
  if (control.kind === 'several') return isSeveral(control, text) ? text : undefined;
  if (control.kind === 'choice') return Object.hasOwn(control.choices, text) ? text : undefined;
  return numberIn(control.limits, text);
}

/** The number that a text is; undefined when it is none or out of range. */
export function numberIn(limits: Limits, text: string): number | undefined {
  const { minimum, maximum, open_minimum, open_maximum, integer } = limits;
  const isNumber = text.length <= MOST_CHARACTERS && NUMBER.test(text);
  const value = isNumber ? Number(text) : NaN;
  const above = open_minimum ? value > minimum : value >= minimum;
  const below = open_maximum ? value < maximum : value <= maximum;
  return above && below && (!integer || Number.isInteger(value)) ? value : undefined;
}

/** The parts of the text of a list. */
export function listParts(text: string): string[] {
  return text.split(/[\s,;]+/).filter((part) => part !== '');
}

function isList({ limits, least }: ListControl, text: string): boolean {
  const parts = listParts(text);
  return parts.length >= least && parts.every((part) => numberIn(limits, part) !== undefined);
}

/** Whether a text names as many of the choices as there may be, each once. */
function isSeveral({ choices, least, most }: SeveralControl, text: string): boolean {
  const parts = text.split(',');
  const known = parts.every((part, i) => Object.hasOwn(choices, part) && !parts.includes(part, i + 1));
  return known && parts.length >= least && parts.length <= most;
}

/** Whether two records have the same names with the same values. */
export function areEqual<Value>(a: Readonly<Record<string, Value>>, b: typeof a): boolean {
  return Object.keys({ ...a, ...b }).every((name) => a[name] === b[name]);
}
