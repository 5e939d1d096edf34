import type { PredictedMeasure, TokensSource } from '../../engine/protocol';
import operations from '../../generated/operations.json';
import measures from '../../generated/predicted-measures.json';
import { choice, choiceOf, integers, linear, number, text, type StateOf } from '../../state/control';
import { headControls, spreadControl } from '../../state/heads';
import { settingControls } from '../../state/setting';
import type { Store as StoreOf } from '../../state/store';
import { declareView } from '../../state/view';
import type * as Figures from '../../ui/figure';
import { readMatrix } from './head-text/shared-matrix';
import { EXAMPLES } from './patterns/patterns';

/** What is both predicted and measured of every head; a share is in [0, 1]. */
export const predictedMeasures: Record<PredictedMeasure, { label: string; meaning: string; share: boolean }> = measures;

const { zipf, uniform } = operations.predict.choices.tokens_law;
const SOURCES: Record<TokensSource, string> = { zipf, uniform, text: 'text' };

const { length, tokens, correlation, seed } = settingControls;

const controls = {
  tokens_source: choice('Token statistics', SOURCES, 'Source of the token statistics; random tokens need no text'),
  tokens_order: choiceOf('predict', 'tokens_order', 'Token order', {
    help:
      'Order of the tokens by frequency: that of the vocabulary, or that of a regression of the rank on the token ' +
      'embeddings, which includes punctuation',
    used: ({ tokens_source }) => tokens_source !== 'text',
  }),
  zipf_exponent: number('zipf_exponent', 'Zipf exponent', null, {
    help: 'Exponent of Zipf’s law; larger exponents give fewer different tokens',
    used: ({ tokens_source }) => tokens_source === 'zipf',
  }),
  zipf_offset: number('zipf_offset', 'Rank offset', null, {
    help: 'Offset of the ranks in Zipf’s law; larger offsets give more equal frequencies of the first ranks',
    used: ({ tokens_source }) => tokens_source === 'zipf',
  }),
  quantity: choice(
    'Measure',
    Object.fromEntries(Object.entries(predictedMeasures).map(([name, { label }]) => [name, label])) as Record<
      PredictedMeasure,
      string
    >,
  ),
  level: number('level', 'Level', integers(0, 10), {
    help:
      'Predictor level: statistics that the prediction uses, from the traces of <i>W</i> alone (0) to real tokens ' +
      '(8); 9 uses states from mean-field attention, 10 runs the head itself',
  }),
  added_mean: number('added_mean', 'Added mean', linear(-1, 2), {
    help: 'Norm of what is added to the mean of the spectrum at a fixed norm, over ‖<i>A</i>‖',
  }),
  shrunk: number('shrunk', 'Shrunk variance', linear(-0.5, 1), {
    help: 'Share of the deviation of <i>A</i> from its mean that is taken away; negative values enlarge it',
  }),
  passages: number('passages', 'Passages', integers(1, 48), {
    help: 'Number of passages for the statistics; the same number is measured',
  }),
  seed,
  reading: text('Sentence', {
    help: 'Sentence on which attention is computed',
    default: EXAMPLES[0].reading,
    allows: (it) => it !== '',
  }),
  matrix: text('Attention matrix', {
    help: 'Attention of the head on the sentence, from a link',
    allows: (it) => it === '' || readMatrix(it) !== null,
  }),
  ablate: text('Heads switched off', { help: 'Heads that are switched off, as layer.head, separated by commas' }),
  ablation: choiceOf('attend', 'ablation', 'Replacement'),
  ablation_level: number('ablation_level', 'Level', null, {
    help:
      'Predictor level whose expected attention replaces that of the head, from the weights (1) to the token and its ' +
      'neighbours (7); statistics are those of the text itself',
    used: ({ ablation }) => ablation === 'predicted',
  }),
  scatter_x: text('Horizontal axis', { help: 'Column of the table of heads', default: 'previous_token' }),
  scatter_y: text('Vertical axis', { help: 'Column of the table of heads', default: 'sink' }),
  scatter_colour: text('Colour', { help: 'Column of the table of heads', default: 'layer' }),
  steps_column: text('Column over the steps', { help: 'Column of the table of heads', default: 'frobenius' }),
  spread: spreadControl,
  zoom: choice('Scale', { own: 'per head', common: 'shared' }),
  order: text('Order', {
    help: 'Column by which the table is sorted; a minus sign for the largest first',
    default: 'layer',
  }),
  columns: text('More columns', { help: 'Optional columns of the table of heads' }),
  qk_clip: number('qk_clip', 'QK-Clip limit', null, {
    sign: '<i>τ</i>',
    default: 100, // that of Kimi K2
    help: 'Limit on the logits by which the column QK-Clip headroom is computed',
    used: ({ columns }) => String(columns).split(',').includes('headroom'),
  }),
  filter: text('Filter', { help: 'Conditions on columns, such as layer=3 entropy&lt;0.5' }),
  length,
  tokens,
  correlation,
  fold_gains: choiceOf('heads', 'fold_gains', 'Norm gains'),
  model_type: text('Model type', {
    help:
      'Model type of the Hugging Face Hub whose conventions the checkpoint has (norm gains, rotary positions, scale); ' +
      'empty to use config.json',
  }),
  frame: choiceOf('heads', 'frame', 'Covariance Σ'),
  offset_kind: choice('Rotary heads', { one: 'at one offset', average: 'average over T offsets' }),
  offset: number('offset', 'Offset', integers(0, 256), {
    help: 'Query position minus key position at which a rotary head’s <i>W</i> is taken',
    used: ({ offset_kind }) => offset_kind === 'one',
  }),
  map_query: text('Query weights', {
    help: 'Tensor name of the query weights, or of the fused projections, with {n} for the layer number',
  }),
  map_key: text('Key weights', { help: 'Tensor name of the key weights; empty if fused' }),
  map_gain: text('Norm gain', { help: 'Tensor name of the gain of the norm before the projections; empty for none' }),
  map_layout: choiceOf('heads', 'map_layout', 'Layout'),
  map_heads: text('Heads', { help: 'Attention heads per layer; empty to use config.json' }),
  map_key_heads: text('Key heads', { help: 'Key heads per layer; empty to use config.json or the tensor shapes' }),
  ...headControls,
};

export const modelView = declareView('Your model', controls, ({ tokens, length }) => `${tokens} · T ${length}`);

export type State = StateOf<typeof controls>;
export type Store = StoreOf<State>;
export type Figure = Figures.Figure<State>;
export type FigureContext = Figures.FigureContext<State>;
