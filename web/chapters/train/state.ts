import { capitalized, count, short } from '../../charts/format';
import type { Intervention, Regularizer, Training } from '../../engine/protocol';
import operations from '../../generated/operations.json';
import {
  choice,
  choiceOf,
  integers,
  linear,
  log,
  number,
  pick,
  text,
  type ChoiceControl,
  type Control,
  type NumberControl,
  type SeveralControl,
  type Slider,
  type StateOf,
  type Values,
} from '../../state/control';
import { asymmetryControl, headControls, spreadControl } from '../../state/heads';
import type { Store as StoreOf } from '../../state/store';
import { declareView } from '../../state/view';
import type * as Figures from '../../ui/figure';
import { regularizers, REGULARIZERS } from './methods';

/** What may be done to trained models when they are evaluated. */
export const interventions: Record<Intervention, string> = operations.evaluate.choices.intervention;

/** The regularizers of the compared runs. */
export function runsOf(state: Readonly<Values>): Regularizer[] {
  return String(state.runs).split(',') as Regularizer[];
}

/** What a training run is beside its regularizer, of which the page has several. */
type TrainingField = Exclude<keyof Training, 'regularizer'>;
/** Fields of `train` that are no setting of a run; `runs` has the regularizers. */
const OTHERS = ['text', 'checkpoint', 'more', 'regularizer'];
/** The names of the state that make up a training run, beside what regularizes it. */
export const TRAINING = operations.train.fields.filter((field) => !OTHERS.includes(field)) as TrainingField[];

/** How the page presents a setting: without a label by its name, without a slider as a plain number. */
interface Presented extends Pick<Control, 'used'> {
  label?: string;
  /** HTML of the symbol. */
  sign?: string;
  slider?: Slider;
}

const isMimetic = ({ initialization }: Values) => String(initialization).startsWith('mimetic');
const isCorrelated = ({ initialization }: Values) => initialization === 'correlated';
const isMasked = ({ objective }: Values) => objective === 'masked';
const hasFault = ({ fault }: Values) => fault !== 'none';
const hasLearnedMask = ({ offset_mask }: Values) => offset_mask === 'learned';

/** Meaning, range, default and choices of a setting are those of the library. */
const presented: Partial<Record<TrainingField, Presented>> = {
  width: { sign: '<i>d</i>', slider: integers(16, 128) },
  depth: { label: 'Layers', slider: integers(1, 8) },
  heads: { slider: integers(1, 16) },
  key_heads: { label: 'Key-value heads', slider: integers(0, 16) },
  length: { sign: '<i>T</i>', slider: integers(8, 128) },
  mlp_ratio: { label: 'MLP ratio', slider: linear(0, 8) },
  steps: { slider: log(50, 10000, { integer: true }) },
  batch: { label: 'Batch size', sign: '<i>B</i>', slider: integers(1, 32) },
  learning_rate: { slider: log(1e-5, 0.1) },
  final_rate: { label: 'Final rate ratio', slider: linear(0, 1) },
  warmup: { label: 'Warm-up steps', slider: integers(0, 500) },
  weight_decay: { slider: linear(0, 1) },
  beta1: { label: 'AdamW', sign: '<i>β</i><sub>1</sub>', slider: linear(0, 0.99) },
  beta2: { label: 'AdamW', sign: '<i>β</i><sub>2</sub>', slider: linear(0, 0.999) },
  epsilon: { label: 'AdamW', sign: '<i>ε</i>', slider: log(1e-10, 0.01) },
  clip: { label: 'Gradient clipping', slider: linear(0, 10) },
  mean_weight: { label: 'Mean weight', sign: '<i>c</i><sub>mean</sub>', slider: log(1e-4, 100) },
  scale_weight: { label: 'Scale weight', sign: '<i>c</i><sub>scale</sub>', slider: log(1e-6, 1) },
  target: { label: 'Target mean', sign: '<i>m</i><sup>*</sup>', slider: linear(-1, 1), used: isMimetic },
  target_heads: { label: 'Regularized heads', used: isMimetic },
  target_steps: { label: 'Regularized steps' },
  qk_decay: { label: 'QK weight decay', slider: log(0.01, 100) },
  prior_weight: { sign: '<i>c</i>', slider: log(0.01, 100) },
  prior_distance: { slider: integers(0, 16) },
  alpha: { label: 'Q–K correlation', sign: '<i>α</i>', slider: linear(-1, 1), used: isCorrelated },
  init_scale: { label: 'Initial scale', sign: '<i>s</i>', slider: log(0.1, 10), used: isCorrelated },
  qk_clip: { label: 'QK-Clip threshold' },
  fault: { label: 'Injected fault' },
  fault_step: { label: 'Fault at step', used: hasFault },
  fault_steps: { label: 'Steps of the fault', used: hasFault },
  fault_size: { label: 'Size of the fault', slider: log(0.01, 100), used: hasFault },
  log_every: { label: 'Log interval', slider: integers(1, 100) },
  eval_batches: { label: 'Evaluation batches', slider: integers(1, 32) },
  measure_batches: { label: 'Measurement batches' },
  bias_rate: {
    label: 'Position bias rate ratio',
    slider: log(1, 100),
    used: (state) => state.positions === 'relative' || hasLearnedMask(state),
  },
  masked_share: { label: 'Masked share', slider: linear(0.05, 0.5), used: isMasked },
  entry_penalty: { label: 'Mask penalty', slider: log(1e-4, 0.1), used: hasLearnedMask },
  layer_norm: { label: 'Norm position' },
  positions: { label: 'Position embedding' },
  output: { label: 'Output weights' },
  target_kind: { label: 'Target mean type' },
  query_key_bias: { label: 'Biases of Q, K', used: ({ linear_bias }) => linear_bias === 'with' },
  query_key_norm: { label: 'Q, K norm' },
  normalization: { label: 'Norm type' },
  mlp_kind: { label: 'MLP type', used: ({ mlp_ratio }) => Number(mlp_ratio) > 0 },
  linear_bias: { label: 'Linear biases' },
  attention: { label: 'Attention weights' },
  attention_skip: { label: 'Attention skip' },
  offset_mask: { label: 'Mask over distances' },
  min_count: { label: 'Minimum word count', slider: integers(1, 20), used: ({ tokenizer }) => tokenizer === 'words' },
};

const defaults: Readonly<Record<string, unknown>> = operations.train.defaults;

/** Settings that only some regularizers read: one of the runs must have such a one, or another use for it. */
const REGULARIZED = new Set(Object.values(REGULARIZERS).flatMap(({ settings }) => settings));
const isRead = (field: string, state: Values) =>
  runsOf(state).some((run) => REGULARIZERS[run].settings.includes(field));

/** The control of a setting: names, defaults, meanings and refusals are those of the operation. */
function settingControl(field: TrainingField): Control {
  const { label = capitalized(field.replaceAll('_', ' ')), slider = null, used, ...rest } = presented[field] ?? {};
  const usedWhere = REGULARIZED.has(field) ? (state: Values) => isRead(field, state) || used?.(state) === true : used;
  const details = { ...rest, operation: 'train' as const, ...(usedWhere && { used: usedWhere }) };
  return field in operations.train.choices
    ? choiceOf('train', field as keyof typeof operations.train.choices, label, details)
    : number(field, label, slider, { ...details, default: defaults[field] as number });
}

const trainingControls = Object.fromEntries(TRAINING.map((field) => [field, settingControl(field)])) as unknown as {
  [F in TrainingField]: Training[F] extends number ? NumberControl : ChoiceControl<Training[F] & string>;
};

/** Regularizers of the compared runs, in the order in which they joined. */
export const runsControl: SeveralControl = {
  kind: 'several',
  label: 'Runs',
  help: 'Training runs to compare, 1 to 4',
  operation: 'train',
  field: 'regularizer',
  choices: regularizers,
  least: 1,
  most: 4,
  default: 'none,locater',
};

const controls = {
  runs: runsControl,
  ...trainingControls,
  /** Which variance of the trained heads is drawn over the steps. */
  spread: { ...spreadControl, label: 'Variance' },
  asymmetry: asymmetryControl,
  prompt: text('Prompt', {
    help: 'Text that each run continues, with its attention',
    default: 'Call me Ishmael. Some years',
  }),
  intervention: choiceOf('evaluate', 'intervention', 'Evaluation'),
  tame: number('tame', 'TAME', log(0.01, 100), {
    sign: '<i>γ</i>',
    used: ({ intervention }) => intervention === 'tame',
  }),
  surgery_dose: {
    ...choice(
      'Dose',
      { '-0.5': '−0.5', '-0.25': '−0.25', '0.25': '0.25', '0.5': '0.5', '1.0': '1' },
      'Size of the surgery: norm of the added mean over that of <i>A</i>, or share of the deviation that is taken away',
    ),
    default: '0.5',
  },
  watched: text('Run and head', { help: 'run:layer.head', default: 'none:0.0' }),
  /** The step up to which the map shows the heads' ways. */
  moment: text('Step', { help: 'Training step, or newest', default: 'newest' }),
  ...headControls,
};

export const trainView = declareView(
  'Train',
  controls,
  ({ width, depth, steps, learning_rate }) =>
    `d ${width} · ${depth} layers · ${count(steps)} steps · rate ${short(learning_rate)}`,
);

export type State = StateOf<typeof controls>;
export type Store = StoreOf<State>;
export type Figure = Figures.Figure<State>;
export type FigureContext = Figures.FigureContext<State>;

/** The control of one of the library's parameters of a training run. */
export function controlOf(parameter: string): string {
  return parameter === 'regularizer' ? 'runs' : parameter;
}

/** What the engine is asked of one run. */
export function trainingOf(state: Readonly<State>, regularizer: Regularizer): Training {
  return { ...pick(state, TRAINING), regularizer };
}
