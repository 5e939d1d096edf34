import { short } from '../../charts/format';
import type { Intervention, Regularizer, Training } from '../../engine/protocol';
import operations from '../../generated/operations.json';
import {
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
  type StateOf,
  type Values,
} from '../../state/control';
import { asymmetryControl, headControls, spreadControl } from '../../state/heads';
import { settingControls } from '../../state/setting';
import type { Store as StoreOf } from '../../state/store';
import { declareView } from '../../state/view';
import type * as Figures from '../../ui/figure';
import { REGULARIZERS } from './regularizers';

/** The regularizers that training runs compare, and what they are called. */
export const regularizers: Record<Regularizer, string> = operations.train.choices.regularizer;

/** What may be done to trained models when they are evaluated. */
export const interventions: Record<Intervention, string> = operations.evaluate.choices.intervention;

/** The regularizers of the compared runs. */
export function runsOf(state: Readonly<Values>): Regularizer[] {
  return String(state.runs).split(',') as Regularizer[];
}

const isMimetic = ({ initialization }: Values) => String(initialization).startsWith('mimetic');
const isCorrelated = ({ initialization }: Values) => initialization === 'correlated';

/** What a training run is beside its regularizer, of which the page has several. */
type TrainingField = Exclude<keyof Training, 'regularizer'>;
/** Fields of `train` that are no setting of a run; `runs` has the regularizers. */
const OTHERS = ['text', 'checkpoint', 'more', 'regularizer'];
/** The names of the state that make up a training run, beside what regularizes it. */
export const TRAINING = operations.train.fields.filter((field) => !OTHERS.includes(field)) as TrainingField[];

/** Settings with labels, sliders and help of the page's own; the others follow from the library. */
const declared: Partial<Record<TrainingField, Control>> = {
  width: number('width', 'Width', integers(16, 128), {
    sign: '<i>d</i>',
    help: 'Width <i>d</i> of the model that is trained',
  }),
  depth: number('depth', 'Depth', integers(1, 8), { help: 'Number of transformer blocks of the model' }),
  heads: number('heads', 'Heads', integers(1, 16), {
    help: 'Number of attention heads in each block; it must divide the width <i>d</i>',
  }),
  key_heads: number('key_heads', 'Key heads', integers(0, 16), {
    help: 'Number of key and value heads, shared by groups of query heads; 0 for one each',
  }),
  length: number('length', 'Length', integers(8, 128), {
    sign: '<i>T</i>',
    help: 'Number of tokens <i>T</i> in a training sequence',
  }),
  mlp: number('mlp', 'MLP ratio', linear(0, 8), {
    help: 'Hidden width of the MLP over the width <i>d</i>; 0 for no MLP',
  }),
  steps: number('steps', 'Steps', log(50, 10000, { integer: true }), { help: 'Training steps of each run' }),
  batch: number('batch', 'Batch', integers(1, 32), {
    sign: '<i>B</i>',
    help: 'Sequences <i>B</i> in each training step',
  }),
  learning_rate: number('learning_rate', 'Learning rate', log(1e-5, 0.1), {
    help: 'Largest learning rate, reached after the warm-up',
  }),
  final_rate: number('final_rate', 'Final rate', linear(0, 1), {
    help: 'Last learning rate over the largest; the schedule leads from one to the other',
  }),
  warmup: number('warmup', 'Warm-up', integers(0, 500), { help: 'Steps in which the learning rate rises from 0' }),
  weight_decay: number('weight_decay', 'Weight decay', linear(0, 1), {
    help: 'Decoupled weight decay of every matrix',
  }),
  beta1: number('beta1', 'Adam', linear(0, 0.99), {
    sign: '<i>β</i><sub>1</sub>',
    help: 'Decay <i>β</i><sub>1</sub> of AdamW’s mean gradient',
  }),
  beta2: number('beta2', 'Adam', linear(0, 0.999), {
    sign: '<i>β</i><sub>2</sub>',
    help: 'Decay <i>β</i><sub>2</sub> of AdamW’s mean squared gradient',
  }),
  clip: number('clip', 'Clipping', linear(0, 10), { help: 'Gradient-norm clipping threshold; 0 disables clipping' }),
  mean_weight: number('mean_weight', 'LocAteR', log(1e-4, 100), {
    sign: '<i>c</i><sub>mean</sub>',
    help: 'Weight <i>c</i><sub>mean</sub> of (tr(<i>W</i>)/<i>d</i> − <i>m</i><sup>*</sup>)² in the loss',
  }),
  scale_weight: number('scale_weight', 'LocAteR', log(1e-6, 1), {
    sign: '<i>c</i><sub>scale</sub>',
    help: 'Weight <i>c</i><sub>scale</sub> of tr(<i>W</i>²)/<i>d</i> in the loss',
  }),
  target: number('target', 'Target', linear(-1, 1), {
    sign: '<i>m</i><sup>*</sup>',
    help:
      'Mean <i>m</i><sup>*</sup> of the eigenspectrum at which LocAteR holds it and which ' +
      'mimetic initialization sets',
    used: isMimetic,
  }),
  target_heads: { ...plainControl('target_heads'), used: isMimetic },
  qk_decay: number('qk_decay', 'QK decay', log(0.01, 100), {
    help: 'Weight decay of <i>W<sub>Q</sub></i> and <i>W<sub>K</sub></i>, beside that of every matrix',
  }),
  alpha: number('alpha', 'Correlation of queries and keys', linear(-1, 1), {
    sign: '<i>α</i>',
    help: 'Correlation <i>α</i> of <i>W<sub>Q</sub></i> with <i>W<sub>K</sub></i> at initialization',
    used: isCorrelated,
  }),
  init_scale: number('init_scale', 'Scale of the initial weights', log(0.1, 10), {
    sign: '<i>s</i>',
    help: 'Standard deviation of <i>W<sub>Q</sub></i> and <i>W<sub>K</sub></i> times √<i>d</i>',
    used: isCorrelated,
  }),
  log_every: number('log_every', 'Log every', integers(1, 100), {
    help: 'Steps from one point of the curves to the next',
  }),
  eval_batches: number('eval_batches', 'Evaluation batches', integers(1, 32), {
    help: 'Batches of validation text behind each validation loss',
  }),
  seed: settingControls.seed,
  layer_norm: choiceOf('train', 'layer_norm', 'LayerNorm', { help: 'Where LayerNorm stands in a block' }),
  positions: choiceOf('train', 'positions', 'Positions', { help: 'How the model knows positions' }),
  output: choiceOf('train', 'output', 'Output weights', {
    help: 'Whether the output weights are the token embeddings (tied) or weights of their own',
  }),
  target_kind: choiceOf('train', 'target_kind', 'Mean to keep', {
    help: 'The mean at which LocAteR holds the eigenspectrum',
  }),
  initialization: choiceOf('train', 'initialization', 'Initialization', {
    help:
      'How the initial weights are drawn; mimetic gives each head the target mean, its ' +
      'control the same norms with mean zero, correlated moves the mean at fixed norms of ' +
      '<i>W<sub>Q</sub></i> and <i>W<sub>K</sub></i>',
  }),
  schedule: choiceOf('train', 'schedule', 'Schedule', {
    help: 'How the learning rate falls after the warm-up, to the final rate',
  }),
  query_key_bias: choiceOf('train', 'query_key_bias', 'Biases of <i>Q</i>, <i>K</i>', {
    help: 'Biases of the query and key projections',
    used: ({ linear_bias }) => linear_bias === 'with',
  }),
  query_key_norm: choiceOf('train', 'query_key_norm', 'Norm of <i>Q</i>, <i>K</i>', {
    help: 'Normalization of each head’s queries and keys',
  }),
  normalization: choiceOf('train', 'normalization', 'Norm of tokens', { help: 'Kind of normalization of the tokens' }),
  mlp_kind: choiceOf('train', 'mlp_kind', 'MLP', {
    help: 'The MLP of a block: GPT-2’s with GELU, or LLaMA’s with a gate',
    used: ({ mlp }) => Number(mlp) > 0,
  }),
  linear_bias: choiceOf('train', 'linear_bias', 'All biases', { help: 'Biases of all linear layers' }),
  attention: {
    ...plainControl('attention'),
    help: 'Attention weights: softmax, or as a control none at all, or all weight of each token on itself',
  },
  final_evaluation: {
    ...plainControl('final_evaluation'),
    help: 'Validation text behind the loss after the last step: the evaluation batches, or the whole of it',
  },
  tokenizer: choiceOf('train', 'tokenizer', 'Tokens', { help: 'What a token of the model is' }),
  min_count: number('min_count', 'Words at least', integers(1, 20), {
    help: 'Words rarer than this in the training text become one unknown word',
    used: ({ tokenizer }) => tokenizer === 'words',
  }),
};

/** The control of a setting as the library describes it. */
function plainControl(field: TrainingField): Control {
  const words = field.replaceAll('_', ' ');
  const label = words[0].toUpperCase() + words.slice(1);
  return field in operations.train.choices
    ? choiceOf('train', field as keyof typeof operations.train.choices, label)
    : number(field, label, null);
}

const defaults: Readonly<Record<string, unknown>> = operations.train.defaults;

/** Settings that only some regularizers read: one of the runs must have such a one, or another use for it. */
const REGULARIZED = new Set(Object.values(REGULARIZERS).flatMap(({ settings }) => settings));
const isRead = (field: string, state: Values) =>
  runsOf(state).some((run) => REGULARIZERS[run].settings.includes(field));

/** The controls of a training run: names, defaults and refusals are those of the operation. */
const trainingControls = Object.fromEntries(
  TRAINING.map((field) => {
    const control = declared[field] ?? plainControl(field);
    const used = (state: Values) => isRead(field, state) || control.used?.(state) === true;
    return [
      field,
      { ...control, operation: 'train', default: defaults[field], ...(REGULARIZED.has(field) && { used }) },
    ];
  }),
) as unknown as {
  [F in TrainingField]: Training[F] extends number ? NumberControl : ChoiceControl<Training[F] & string>;
};

/** Regularizers of the compared runs, in the order in which they joined. */
export const runsControl: SeveralControl = {
  kind: 'several',
  label: 'Runs',
  help: 'The training runs that are compared: one to four',
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
  prompt: text('Text to read', {
    help: 'a few words for the models to read and go on from',
    default: 'Call me Ishmael. Some years',
  }),
  intervention: choiceOf('evaluate', 'intervention', 'Evaluated'),
  tame: number('tame', 'TAME', log(0.01, 100), {
    sign: '<i>γ</i>',
    help: 'Strength <i>γ</i> of TAME’s rescaling of each head’s logits',
    used: ({ intervention }) => intervention === 'tame',
  }),
  watched: text('Run and head', { help: 'run:layer.head', default: 'none:0.0' }),
  /** The step up to which the map shows the heads' ways. */
  moment: text('Step', { help: 'a step, or newest', default: 'newest' }),
  ...headControls,
};

export const trainView = declareView(
  'Train',
  controls,
  ({ width, depth, steps, learning_rate }) =>
    `d ${width} · ${depth} layers · ${steps} steps · rate ${short(learning_rate)}`,
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
