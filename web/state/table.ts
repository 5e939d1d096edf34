import operations from '../generated/operations.json';
import parameters from '../generated/parameters.json';
import measures from '../generated/predicted-measures.json';
import type {
  Intervention,
  LayerMeasure,
  Measure,
  PredictedMeasure,
  Regularizer,
  Stack,
  Scanned,
  TokensOrder,
  TokensSource,
} from '../engine/protocol';
import { HELD, type HeldTraining } from './training-fields';

/** How a slider's travel maps to values: `square` is fine near zero and reaches both signs. */
export interface Slider {
  scale: 'linear' | 'log' | 'square';
  from: number;
  to: number;
  integer?: boolean;
  /** The travel ends at the present value of another parameter, not at `to`. */
  within?: NumberName;
}

/** One row of the library's parameter table, as `eigenscope parameters` prints it. */
export type Limits = (typeof parameters)[number];

/** Everything that the page's link can hold. Numbers are the library's parameters. */
export interface State extends Omit<Stack, 'eigenvalues'>, HeldTraining {
  samples: number;
  asymmetry: number;
  /** Whose rows of attention: the last query's, that of one position, or the mean over all queries. */
  queries: Queries;
  query: number;
  /** Which covariance Sigma of the tokens is in the traces of trained heads. */
  sigma: Covariance;
  /** Logit of the key that is moved in the row of attention. */
  logit: number;
  measure: Measure;
  spread: Spread;
  rank: Rank;
  rows: 'all' | 'last';
  floor: number;
  layer: number;
  /** Regularizers of the compared runs, separated by commas, in the order in which they joined. */
  runs: string;
  /** What is done to the trained models when they are evaluated, read and write. */
  intervention: Intervention;
  tame: number;
  /** Which variance of the trained heads is drawn over the steps. */
  run_spread: Spread;
  /** What the models being trained are given to read. */
  prompt: string;
  /** The run, layer and head whose attention is shown, as run:layer.head. */
  watched: string;
  /** The step up to which the map shows the heads' ways: a number, or 'newest'. */
  moment: string;
  /** What is predicted and measured of every head, and on which level. */
  quantity: PredictedMeasure;
  level: number;
  /** Passages for the statistics, and as many of a text to measure. */
  passages: number;
  /** Where the statistics of the tokens come from: random tokens or a text. */
  tokens_source: TokensSource;
  /** Which random tokens are frequent, and by what law. */
  tokens_order: TokensOrder;
  zipf_exponent: number;
  zipf_offset: number;
  /** What the model is given to read. */
  reading: string;
  /** Of the table of heads: the column it is sorted by, with a minus for the largest first. */
  order: string;
  /** Conditions on its columns. */
  filter: string;
  /** Heads picked out in every figure, as layer.head with commas between. */
  brush: string;
  /** How the small spectra are scaled. */
  zoom: 'own' | 'common';
  /** What is scanned of a checkpoint: gains of norms, frame of reference, offset of rotary heads. */
  fold_gains: Scanned['fold_gains'];
  frame: Scanned['frame'];
  offset_kind: 'one' | 'average';
  offset: number;
  /** Which tensors are queries and keys, for an unrecognized architecture. */
  map_query: string;
  map_key: string;
  map_gain: string;
  map_layout: Scanned['map_layout'];
  /** A number, or '' for what config.json says. */
  map_heads: string;
  /** Likewise, for a checkpoint of a known family too. */
  map_key_heads: string;
  sample: 'shown' | 'hidden';
  /** Numbers separated by commas or spaces, for the ensemble `list`. */
  eigenvalues: string;
  /** The opened checkpoint that the link is about, or ''. */
  model: string;
  /** The chosen head as model:layer.head, or ''. */
  head: string;
}

/** Which of the three variances heads are plotted against. */
export type Spread = 'variance' | 'variance_modulus' | 'variance_frobenius';
/** Which queries' rows of attention are meant. */
export type Queries = 'last' | 'one' | 'all';
/**
 * Covariance of the tokens: none measured, that of the token embeddings, that measured in a head's layer on
 * text or on random tokens.
 */
export type Covariance = 'identity' | 'embeddings' | 'layer' | 'random';
/** How alike the tokens of a layer are, as the figure over depth shows it. */
export type Rank = LayerMeasure & ('residual' | 'stable_rank' | 'effective_rank' | 'cosine');
export type StateName = keyof State;
export type NumberName = {
  [K in StateName]: State[K] extends number ? K : never;
}[StateName];

interface NumberRow {
  kind: 'number';
  key: string;
  label: string;
  /** HTML of the symbol. */
  sign: string;
  slider: Slider | null;
  limits: Limits;
  /** Where the page begins elsewhere than the library's table. */
  default: number;
}
interface ChoiceRow {
  kind: 'choice';
  key: string;
  label: string;
  default: string;
  choices: Record<string, string>;
}
interface TextRow {
  kind: 'text';
  key: string;
  label: string;
  default: string;
  /** What the text should be. */
  help: string;
}
/** Several of a few: their names with commas between them. */
export interface SeveralRow {
  kind: 'several';
  key: string;
  label: string;
  default: string;
  choices: Record<string, string>;
  least: number;
  most: number;
}
export type Row = NumberRow | ChoiceRow | TextRow | SeveralRow;

/** The library's range, default and meaning of a parameter. */
export function limitsOf(name: string): Limits {
  const found = parameters.find((row) => row.name === name);
  if (!found) throw new Error(`the library has no parameter ${name}`);
  return found;
}

/** The nearest value that the library allows. Not for parameters whose bounds are open. */
export function allowed(name: NumberName, value: number): number {
  const { minimum, maximum } = limitsOf(name);
  return Math.min(maximum, Math.max(minimum, value));
}

function number(
  name: NumberName,
  key: string,
  label: string,
  sign: string,
  slider: Slider | null,
): NumberRow {
  const limits = limitsOf(name);
  return { kind: 'number', key, label, sign, slider, limits, default: limits.default };
}

/** A number of the model that is trained: the library's parameter `of`, which a stack has too. */
function own(
  of: NumberName,
  key: string,
  label: string,
  sign: string,
  slider: Slider,
  standard: number,
): NumberRow {
  return { ...number(of, key, label, sign, slider), default: standard };
}

function whole(from: number, to: number): Slider {
  return { scale: 'linear', from, to, integer: true };
}

function choice<N extends StateName>(
  key: string,
  label: string,
  choices: Record<State[N] & string, string>,
  standard = Object.keys(choices)[0],
): ChoiceRow {
  return { kind: 'choice', key, label, default: standard, choices };
}

/** A choice that an operation has, or some of its values: names, labels, default are the operation's. */
function choiceOf<J extends keyof typeof operations>(
  operation: J,
  field: keyof (typeof operations)[J]['choices'] & string,
  key: string,
  label: string,
  only?: readonly string[],
): ChoiceRow {
  const { choices, defaults } = operations[operation] as {
    choices: Record<string, Record<string, string>>;
    defaults: Record<string, unknown>;
  };
  const kept = Object.entries(choices[field]).filter(([name]) => !only || only.includes(name));
  const shown = Object.fromEntries(kept);
  return { kind: 'choice', key, label, default: String(defaults[field]), choices: shown };
}

function text(key: string, label: string, help: string, standard = ''): TextRow {
  return { kind: 'text', key, label, default: standard, help };
}

/** The regularizers that training runs compare, and what they are called. */
export const regularizers: Record<Regularizer, string> = operations.train.choices.regularizer;

/** What may be done to trained models when they are evaluated. */
export const interventions: Record<Intervention, string> = operations.evaluate.choices.intervention;

/** What is both predicted and measured of every head; a share is in [0, 1]. */
export const predictedMeasures: Record<
  PredictedMeasure,
  { label: string; meaning: string; share: boolean }
> = measures;

/** What the laws of random tokens are called. */
const laws = operations.passages.choices.tokens_law;

const VARIANCES: Record<Spread, string> = {
  variance_frobenius: 'Frobenius',
  variance_modulus: 'modulus',
  variance: 'trace',
};

type Table = { [N in StateName]: State[N] extends number ? NumberRow : Row } & {
  runs: SeveralRow;
};

/** Rows with labels and sliders of the page's own. */
const declared = {
  ensemble: choiceOf('propagation', 'ensemble', 'e', 'Ensemble'),
  eigenvalues: text(
    'ev',
    'Eigenvalues',
    'numbers, separated by commas or spaces',
    '2, 1, 1, 0, -1',
  ),
  mean: number('mean', 'm', 'Mean', '<i>m</i>', { scale: 'square', from: -2, to: 2 }),
  variance: number('variance', 'v', 'Variance', '<i>v</i>', { scale: 'log', from: 1e-5, to: 1e4 }),
  width: number('width', 'd', 'Width', '<i>d</i>', {
    scale: 'log',
    from: 4,
    to: 512,
    integer: true,
  }),
  head_width: number('head_width', 'dh', 'Head width', '<i>d<sub>h</sub></i>', {
    scale: 'log',
    from: 2,
    to: 512,
    integer: true,
  }),
  length: number('length', 'T', 'Length', '<i>T</i>', {
    scale: 'log',
    from: 4,
    to: 256,
    integer: true,
  }),
  temperature: number('temperature', 'l', 'Temperature', '<i>λ</i>', {
    scale: 'log',
    from: 0.1,
    to: 100,
  }),
  tokens: choiceOf('propagation', 'tokens', 't', 'Tokens'),
  correlation: number('correlation', 'a', 'Correlation', '<i>a</i>', {
    scale: 'linear',
    from: 0,
    to: 0.99,
  }),
  seed: number('seed', 's', 'Seed', '', null),
  samples: number('samples', 'n', 'Sequences', '<i>N</i>', {
    scale: 'log',
    from: 100,
    to: 100000,
    integer: true,
  }),
  measure: choiceOf('lines', 'measure', 'y', 'Vertical axis'),
  spread: choice<'spread'>('x', 'Variance of heads', VARIANCES),
  asymmetry: number('asymmetry', 'q', 'Asymmetry', '<i>η<sub>S</sub></i>/<i>η<sub>F</sub></i>', {
    scale: 'linear',
    from: -1,
    to: 1,
  }),
  queries: choice<'queries'>('qk', 'Queries', {
    last: 'the last',
    one: 'one position',
    all: 'mean over all',
  }),
  query: number('query', 'qp', 'Position', '<i>q</i>', {
    ...{ scale: 'linear', from: 2, to: 256, integer: true, within: 'length' },
  }),
  sigma: choice<'sigma'>('sg', 'Covariance Σ of heads', {
    identity: 'identity',
    embeddings: 'token embeddings',
    layer: 'layer, on text',
    random: 'layer, random',
  }),
  logit: number('logit', 'lw', 'Moved logit', '<i>ω</i>', { scale: 'linear', from: -6, to: 18 }),
  softmax: choiceOf('attention', 'softmax', 'f', 'Softmax'),
  mask: choiceOf('attention', 'mask', 'k', 'Mask'),
  window: number('window', 'wk', 'Window', '', { scale: 'log', from: 1, to: 128, integer: true }),
  blocks: number('blocks', 'b', 'Blocks', '', whole(1, 16)),
  prefix: number('prefix', 'bp', 'Shared prefix', '', whole(0, 64)),
  selected: number('selected', 'bs', 'Blocks selected', '', whole(0, 16)),
  depth: number('depth', 'D', 'Depth', '', whole(0, 64)),
  heads: number('heads', 'H', 'Heads', '', whole(1, 16)),
  stacks: number('stacks', 'S', 'Stacks', '', whole(1, 64)),
  skip: number('skip', 'r', 'Skip', '<i>α</i>', { scale: 'linear', from: 0, to: 2 }),
  layer_norm: choiceOf('collapse', 'layer_norm', 'N', 'Normalization'),
  norm: choiceOf('collapse', 'norm', 'nk', 'Its kind'),
  values: choiceOf('collapse', 'values', 'V', 'Values <i>W<sub>V</sub></i>'),
  shear: number('shear', 'w', 'Shear', '<i>w</i>', { scale: 'square', from: -100, to: 100 }),
  weights: choiceOf('collapse', 'weights', 'W', 'Weights'),
  mlp: number('mlp', 'M', 'MLP ratio', '', { scale: 'linear', from: 0, to: 8 }),
  rank: choice<'rank'>('R', 'Vertical axis', {
    residual: 'residual',
    stable_rank: 'stable rank',
    effective_rank: 'effective rank',
    cosine: 'mean cosine',
  }),
  rows: choice<'rows'>('Q', 'Queries', { all: 'all', last: 'of the last block' }),
  floor: number('floor', 'c', 'Floor', '', { scale: 'linear', from: 0, to: 1 }),
  layer: number('layer', 'L', 'Layer', '', { ...whole(0, 64), within: 'depth' }),
  runs: {
    ...{ kind: 'several', key: 'tr', label: 'Runs', default: 'none,locater' },
    ...{ choices: regularizers, least: 1, most: 4 },
  },
  steps: number('steps', 'ts', 'Steps', '', { scale: 'log', from: 50, to: 10000, integer: true }),
  model_width: own('width', 'td', 'Width', '<i>d</i>', whole(16, 128), 64),
  model_depth: own('depth', 'tD', 'Depth', '', whole(1, 8), 2),
  model_heads: own('heads', 'tH', 'Heads', '', whole(1, 16), 4),
  model_length: own('length', 'tT', 'Length', '<i>T</i>', whole(8, 128), 64),
  key_heads: number('key_heads', 'tG', 'Key heads', '', whole(0, 16)),
  model_mlp: own('mlp', 'tM', 'MLP ratio', '', { scale: 'linear', from: 0, to: 8 }, 4),
  block_norm: choiceOf('train', 'layer_norm', 'tN', 'LayerNorm'),
  positions: choiceOf('train', 'positions', 'tP', 'Positions'),
  output: choiceOf('train', 'output', 'to', 'Output weights'),
  batch: number('batch', 'tb', 'Batch', '<i>B</i>', whole(1, 32)),
  learning_rate: number('learning_rate', 'te', 'Learning rate', '', {
    ...{ scale: 'log', from: 1e-5, to: 0.1 },
  }),
  log_every: number('log_every', 'tl', 'Log every', '', whole(1, 100)),
  mean_weight: number('mean_weight', 'tm', 'LocAteR', '<i>c</i><sub>mean</sub>', {
    ...{ scale: 'log', from: 1e-4, to: 100 },
  }),
  scale_weight: number('scale_weight', 'tc', 'LocAteR', '<i>c</i><sub>scale</sub>', {
    ...{ scale: 'log', from: 1e-6, to: 1 },
  }),
  target: number('target', 'tt', 'Target', '<i>m</i><sup>*</sup>', {
    ...{ scale: 'linear', from: -1, to: 1 },
  }),
  target_kind: choiceOf('train', 'target_kind', 'tk', 'Mean to keep'),
  initialization: choiceOf('train', 'initialization', 'ti', 'Initialization'),
  alpha: number('alpha', 't3', 'Correlation of queries and keys', '<i>α</i>', {
    ...{ scale: 'linear', from: -1, to: 1 },
  }),
  init_scale: number('init_scale', 't4', 'Scale of the initial weights', '<i>s</i>', {
    ...{ scale: 'log', from: 0.1, to: 10 },
  }),
  schedule: choiceOf('train', 'schedule', 'schedule', 'Schedule'),
  query_key_bias: choiceOf(
    'train',
    'query_key_bias',
    'query_key_bias',
    'Biases of <i>Q</i>, <i>K</i>',
  ),
  query_key_norm: choiceOf(
    'train',
    'query_key_norm',
    'query_key_norm',
    'Norm of <i>Q</i>, <i>K</i>',
  ),
  normalization: choiceOf('train', 'normalization', 'normalization', 'Norm of tokens'),
  mlp_kind: choiceOf('train', 'mlp_kind', 'mlp_kind', 'MLP'),
  linear_bias: choiceOf('train', 'linear_bias', 'linear_bias', 'All biases'),
  qk_decay: number('qk_decay', 'tq', 'QK decay', '', { scale: 'log', from: 0.01, to: 100 }),
  final_rate: number('final_rate', 'tf', 'Final rate', '', { scale: 'linear', from: 0, to: 1 }),
  warmup: number('warmup', 'tu', 'Warm-up', '', whole(0, 500)),
  weight_decay: number('weight_decay', 'ty', 'Weight decay', '', {
    ...{ scale: 'linear', from: 0, to: 1 },
  }),
  beta1: number('beta1', 't1', 'Adam', '<i>β</i><sub>1</sub>', {
    ...{ scale: 'linear', from: 0, to: 0.99 },
  }),
  beta2: number('beta2', 't2', 'Adam', '<i>β</i><sub>2</sub>', {
    ...{ scale: 'linear', from: 0, to: 0.999 },
  }),
  clip: number('clip', 'tg', 'Clipping', '', { scale: 'linear', from: 0, to: 10 }),
  eval_batches: number('eval_batches', 'tn', 'Evaluation batches', '', whole(1, 32)),
  tokenizer: choiceOf('train', 'tokenizer', 'tz', 'Tokens'),
  min_count: number('min_count', 'tx', 'Words at least', '', whole(1, 20)),
  intervention: choiceOf('evaluate', 'intervention', 'ta', 'Evaluated'),
  tame: number('tame', 'tA', 'TAME', '<i>γ</i>', { scale: 'log', from: 0.01, to: 100 }),
  run_spread: choice<'run_spread'>('tv', 'Variance', VARIANCES),
  prompt: text(
    'tp',
    'Text to read',
    'a few words for the models to read and go on from',
    'Call me Ishmael. Some years',
  ),
  watched: text('tw', 'Run and head', 'run:layer.head', 'none:0.0'),
  moment: text('tj', 'Step', 'a step, or newest', 'newest'),
  quantity: {
    ...{ kind: 'choice', key: 'lq', label: 'Of each head', default: 'entropy' },
    choices: Object.fromEntries(
      Object.entries(predictedMeasures).map(([name, { label }]) => [name, label]),
    ),
  },
  level: number('level', 'lr', 'Level', '', whole(0, 10)),
  passages: number('passages', 'lp', 'Passages', '', whole(1, 48)),
  tokens_source: choice<'tokens_source'>('ls', 'Statistics from', {
    zipf: laws.zipf,
    uniform: laws.uniform,
    text: 'the text',
  }),
  tokens_order: choiceOf('passages', 'tokens_order', 'la', 'Order of tokens'),
  zipf_exponent: number('zipf_exponent', 'le', 'Exponent', '', null),
  zipf_offset: number('zipf_offset', 'lx', 'Offset of ranks', '', null),
  reading: text('lt', 'Text', 'a sentence for the model to read', 'When does attention localize?'),
  order: text('lo', 'Order', 'a column, or -column', 'layer'),
  filter: text('lf', 'Filter', 'conditions on columns, such as layer=3 entropy<0.5'),
  brush: text('lb', 'Brushed heads', 'layer.head, ...'),
  zoom: choice<'zoom'>('lz', 'Scale', { own: 'each its own', common: 'one for all' }),
  fold_gains: choiceOf('heads', 'fold_gains', 'cg', 'Gains of norms'),
  frame: choiceOf('heads', 'frame', 'cf', 'Covariance Σ'),
  offset_kind: choice<'offset_kind'>('co', 'Rotary heads', {
    one: 'at an offset',
    average: 'average over T offsets',
  }),
  offset: number('offset', 'cd', 'Offset', '', whole(0, 256)),
  map_query: text(
    'xq',
    'Weights of queries',
    'name of the weights of the queries, or of all where they are fused, with {n} for the layer',
  ),
  map_key: text('xk', 'Weights of keys', 'the same for the keys; empty where they are fused'),
  map_gain: text(
    'xg',
    'Gain of the norm',
    'the same for the gain of the norm before them; empty for none',
  ),
  map_layout: choiceOf('heads', 'map_layout', 'xl', 'Layout'),
  map_heads: text('xh', 'Heads', 'attention heads in each layer; empty for what config.json says'),
  map_key_heads: text(
    'xG',
    'Key heads',
    'heads of keys in each layer; empty for what config.json or the shapes say',
  ),
  sample: choice<'sample'>('h', 'Sample model', { shown: 'shown', hidden: 'hidden' }),
  model: text('mo', 'Model', 'name of the opened model that the link is about'),
  head: text('p', 'Chosen head', 'model:layer.head'),
} satisfies Partial<Table>;

/** Settings of training runs without such a row: a new one of the library is a field of the page too. */
type PlainName = Exclude<StateName, keyof typeof declared>;
export const plainSettings = Object.values(HELD).filter(
  (name) => !Object.hasOwn(declared, name),
) as PlainName[];

function plainRow(name: PlainName & string): Row {
  const words = name.replaceAll('_', ' ');
  const label = words[0].toUpperCase() + words.slice(1);
  return name in operations.train.choices
    ? choiceOf('train', name as keyof typeof operations.train.choices, name, label)
    : number(name as NumberName, name, label, '', null);
}

/** The one table of the page's parameters: its order is that of the link. */
export const table: Table = {
  ...declared,
  ...(Object.fromEntries(plainSettings.map((name) => [name, plainRow(name)])) as Pick<
    Table,
    PlainName
  >),
};

/** The slider of a parameter, with the travel that it has in a state. */
export function sliderOf(name: NumberName, state: Readonly<State>): Slider | null {
  const { slider } = table[name];
  return slider?.within ? { ...slider, to: state[slider.within] } : slider;
}

export const names = Object.keys(table) as StateName[];

/** The state of a link that says nothing. */
export function defaults(): State {
  const entries = names.map((name) => [name, table[name].default]);
  return Object.fromEntries(entries) as State;
}

/** No number needs more characters, and a longer text would take long to match. */
const MOST_CHARACTERS = 400;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/**
 * The value that a text gives a parameter, or undefined when the table does not allow it. Why it
 * does not is for the library to say.
 */
export function parse(name: StateName, text: string): number | string | undefined {
  const row = table[name];
  if (row.kind === 'text') return text;
  if (row.kind === 'several') return isSeveral(row, text) ? text : undefined;
  if (row.kind === 'choice') return Object.hasOwn(row.choices, text) ? text : undefined;
  const { minimum, maximum, open_minimum, open_maximum, integer } = row.limits;
  const isNumber = text.length <= MOST_CHARACTERS && NUMBER.test(text);
  const value = isNumber ? Number(text) : NaN;
  const above = open_minimum ? value > minimum : value >= minimum;
  const below = open_maximum ? value < maximum : value <= maximum;
  return above && below && (!integer || Number.isInteger(value)) ? value : undefined;
}

/** Whether a text names as many of the choices as there may be, each once. */
function isSeveral({ choices, least, most }: SeveralRow, text: string): boolean {
  const parts = text.split(',');
  const known = parts.every(
    (part, i) => Object.hasOwn(choices, part) && !parts.includes(part, i + 1),
  );
  return known && parts.length >= least && parts.length <= most;
}
