import { short } from '../charts/format';
import { plainText } from './described';
import { table, type Limits, type NumberName, type StateName } from './table';

/**
 * What a control sets, in the words and symbols of the page (HTML); for those without an entry the
 * library's own meaning says it well enough.
 */
const MEANINGS: Partial<Record<StateName, string>> = {
  mean: 'Mean <i>m</i> of the eigenvalues of <i>W</i>, tr(<i>W</i>)/<i>d</i>',
  variance:
    'Variance <i>v</i> of the eigenvalues of <i>W</i>; for ensembles that are not symmetric the Frobenius variance',
  ensemble: 'How the random matrix <i>W</i> is drawn',
  eigenvalues:
    'The eigenvalues of <i>W</i>, separated by commas or spaces; they also set the width',
  width: 'Number of components <i>d</i> of a token, which is the size of <i>W</i>',
  head_width:
    'Width <i>d<sub>h</sub></i> of a head, which is the rank of <i>W</i>; at most the width <i>d</i>',
  length: 'Number of tokens <i>T</i> in a sequence',
  temperature:
    'The logits are divided by <i>λ</i> before the softmax; usual is √<i>d<sub>h</sub></i>',
  tokens: 'The Gaussian process from which the tokens are drawn',
  correlation: 'Correlation <i>a</i> of neighbouring tokens of the AR(1) process',
  seed: 'Seed of the random numbers: the same seed gives the same draws',
  samples: 'Number <i>N</i> of simulated sequences behind each point',
  asymmetry:
    'Ratio <i>η<sub>S</sub></i>/<i>η<sub>F</sub></i> of the two traces; 1 for a symmetric <i>W</i>',
  queries:
    'Queries whose rows of attention are measured; the mean over all queries is what causal training sees',
  query: 'Position <i>q</i> of the query, which sees the keys 1 to <i>q</i>; at most <i>T</i>',
  sigma:
    'Covariance <i>Σ</i> of the tokens in the traces of trained heads: none assumed (identity), that of the model’s token embeddings, or measured in each head’s layer, on text or on random tokens (Zipf’s law)',
  logit: 'Logit of the moved key over the temperature',
  softmax: 'How the logits become weights',
  mask: 'Which keys a query sees',
  window: 'Number of keys that a query sees, itself included',
  blocks: 'Number of blocks that do not see each other; the last one sees all',
  prefix: 'Number of first tokens that every block sees',
  selected:
    'Number of earlier blocks that a query of the last block reads: those it attends to most',
  depth: 'Number of attention blocks',
  heads: 'Number of attention heads in each block; they share the width <i>d</i> in equal parts',
  stacks: 'Number of random stacks that the curves are means of',
  skip: 'Weight <i>α</i> of the skip connection; 0 for none',
  layer_norm: 'Where the tokens are normalized',
  norm: 'LayerNorm takes the mean away and divides by the standard deviation; RMSNorm only divides',
  values: 'What the value matrix <i>W<sub>V</sub></i> does to the tokens',
  shear:
    'Strength <i>w</i> of the shear: <i>W<sub>V</sub></i> = <i>I</i> + <i>wS</i>, <i>S</i> the shift by one coordinate',
  weights: 'Whether each layer draws weights of its own',
  mlp: 'Hidden width of the MLP over the width <i>d</i>; 0 for no MLP',
  floor: 'Residual and entropy below which a stack counts as collapsed',
  layer: 'The layer after which the tokens are compared; 0 for the input',
  runs: 'The training runs that are compared: one to four',
  steps: 'Training steps of each run',
  model_width: 'Width <i>d</i> of the model that is trained',
  model_depth: 'Number of transformer blocks of the model',
  model_heads: 'Number of attention heads in each block; it must divide the width <i>d</i>',
  model_length: 'Number of tokens <i>T</i> in a training sequence',
  model_mlp: 'Hidden width of the MLP over the width <i>d</i>',
  key_heads: 'Number of key and value heads, shared by groups of query heads; 0 for one each',
  block_norm: 'Where LayerNorm stands in a block',
  positions: 'How the model knows positions',
  output: 'Whether the output weights are the token embeddings (tied) or weights of their own',
  batch: 'Sequences <i>B</i> in each training step',
  learning_rate: 'Largest learning rate, reached after the warm-up',
  final_rate: 'Last learning rate over the largest; the schedule leads from one to the other',
  warmup: 'Steps in which the learning rate rises from 0',
  weight_decay: 'Decoupled weight decay of every matrix',
  beta1: 'Decay <i>β</i><sub>1</sub> of AdamW’s mean gradient',
  beta2: 'Decay <i>β</i><sub>2</sub> of AdamW’s mean squared gradient',
  clip: 'Gradient-norm clipping threshold; 0 disables clipping',
  log_every: 'Steps from one point of the curves to the next',
  eval_batches: 'Batches of validation text behind each validation loss',
  mean_weight:
    'Weight <i>c</i><sub>mean</sub> of (tr(<i>W</i>)/<i>d</i> − <i>m</i><sup>*</sup>)² in the loss',
  scale_weight: 'Weight <i>c</i><sub>scale</sub> of tr(<i>W</i>²)/<i>d</i> in the loss',
  target:
    'Mean <i>m</i><sup>*</sup> of the eigenspectrum at which LocAteR holds it and which mimetic initialization sets',
  target_kind: 'The mean at which LocAteR holds the eigenspectrum',
  initialization:
    'How the initial weights are drawn; mimetic gives each head the target mean, its control the same norms with mean zero, correlated moves the mean at fixed norms of <i>W<sub>Q</sub></i> and <i>W<sub>K</sub></i>',
  alpha: 'Correlation <i>α</i> of <i>W<sub>Q</sub></i> with <i>W<sub>K</sub></i> at initialization',
  init_scale: 'Standard deviation of <i>W<sub>Q</sub></i> and <i>W<sub>K</sub></i> times √<i>d</i>',
  qk_decay:
    'Weight decay of <i>W<sub>Q</sub></i> and <i>W<sub>K</sub></i>, beside that of every matrix',
  schedule: 'How the learning rate falls after the warm-up, to the final rate',
  query_key_bias: 'Biases of the query and key projections',
  attention:
    'Attention weights: softmax, or as a control none at all, or all weight of each token on itself',
  final_evaluation:
    'Validation text behind the loss after the last step: the evaluation batches, or the whole of it',
  query_key_norm: 'Normalization of each head’s queries and keys',
  normalization: 'Kind of normalization of the tokens',
  mlp_kind: 'The MLP of a block: GPT-2’s with GELU, or LLaMA’s with a gate',
  linear_bias: 'Biases of all linear layers',
  tokenizer: 'What a token of the model is',
  min_count: 'Words rarer than this in the training text become one unknown word',
  tame: 'Strength <i>γ</i> of TAME’s rescaling of each head’s logits',
  passages: 'Passages of text for the statistics, and as many to measure',
  level:
    'Predictor level: which statistics the prediction uses, from the traces alone (0) to all (8); 9 uses states from mean-field attention, 10 runs the head itself',
  tokens_source: 'What the statistics of the tokens come from: no text is needed for random tokens',
  tokens_order:
    'Which random tokens are frequent: the first words of the vocabulary, or those that a regression of rank on the token embeddings finds, punctuation too',
  zipf_exponent: 'Exponent of Zipf’s law: larger for fewer different tokens',
  zipf_offset:
    'Offset of the ranks in Zipf’s law: larger for more equal frequencies of the first ranks',
  offset: 'Query position minus key position at which a rotary head’s <i>W</i> is taken',
};

/** A number as people write it: 10¹² for 1e+12. */
function plain(value: number): string {
  return short(value).replace(/^(−?)1·/, '$1');
}

/** What the library allows, in words. */
function allowedText({ minimum, maximum, open_minimum, open_maximum, integer }: Limits): string {
  const from = open_minimum ? `above ${plain(minimum)}` : `from ${plain(minimum)}`;
  const to = open_maximum ? `below ${plain(maximum)}` : `to ${plain(maximum)}`;
  return `${integer ? 'integers ' : ''}${from} ${to}`;
}

/** What a control sets, its typical range and its permitted one, as HTML; '' for nothing. */
export function helpOf(name: StateName): string {
  const row = table[name];
  const meaning = MEANINGS[name] ?? (row.kind === 'text' ? row.help : '');
  if (row.kind !== 'number') return meaning && `${meaning}.`;
  const { slider, limits } = table[name as NumberName];
  const typical = slider ? ` Typical: ${plain(slider.from)} to ${plain(slider.to)}.` : '';
  return `${meaning || limits.meaning}.${typical} Allowed: ${allowedText(limits)}.`;
}

/**
 * A refusal in the page's words: the control's label for the parameter's name, no powers as 1e+12; the
 * refused text stays as it was typed.
 */
export function inPageWords(name: StateName, message: string): string {
  const label = plainText(table[name].label);
  return message
    .replace(/^\w+: /, `${label}: `)
    .replace(/\b\d+(?:\.\d+)?e[+-]?\d+\b(?!…?'? is not allowed)/g, (text) => plain(Number(text)));
}
