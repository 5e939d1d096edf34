import type { PredictedMeasure, TokensSource } from '../../engine/protocol';
import operations from '../../generated/operations.json';
import measures from '../../generated/predicted-measures.json';
import { choice, choiceOf, integers, number, text, type StateOf } from '../../state/control';
import { headControls, spreadControl } from '../../state/heads';
import { settingControls } from '../../state/setting';
import type { Store as StoreOf } from '../../state/store';
import { declareView } from '../../state/view';
import type * as Figures from '../../ui/figure';

/** What is both predicted and measured of every head; a share is in [0, 1]. */
export const predictedMeasures: Record<PredictedMeasure, { label: string; meaning: string; share: boolean }> = measures;

const { zipf, uniform } = operations.predict.choices.tokens_law;
const SOURCES: Record<TokensSource, string> = { zipf, uniform, text: 'the text' };

const { length, tokens, correlation, seed } = settingControls;

const controls = {
  tokens_source: choice(
    'Statistics from',
    SOURCES,
    'What the statistics of the tokens come from: no text is needed for random tokens',
  ),
  tokens_order: choiceOf('predict', 'tokens_order', 'Order of tokens', {
    help:
      'Which random tokens are frequent: the first words of the vocabulary, or those that a ' +
      'regression of rank on the token embeddings finds, punctuation too',
    used: ({ tokens_source }) => tokens_source !== 'text',
  }),
  zipf_exponent: number('zipf_exponent', 'Exponent', null, {
    help: 'Exponent of Zipf’s law: larger for fewer different tokens',
    used: ({ tokens_source }) => tokens_source === 'zipf',
  }),
  zipf_offset: number('zipf_offset', 'Offset of ranks', null, {
    help: 'Offset of the ranks in Zipf’s law: larger for more equal frequencies of the first ranks',
    used: ({ tokens_source }) => tokens_source === 'zipf',
  }),
  quantity: choice(
    'Of each head',
    Object.fromEntries(Object.entries(predictedMeasures).map(([name, { label }]) => [name, label])) as Record<
      PredictedMeasure,
      string
    >,
  ),
  level: number('level', 'Level', integers(0, 10), {
    help:
      'Predictor level: which statistics the prediction uses, from the traces alone (0) to ' +
      'all (8); 9 uses states from mean-field attention, 10 runs the head itself',
  }),
  passages: number('passages', 'Passages', integers(1, 48), {
    help: 'Passages of text for the statistics, and as many to measure',
  }),
  seed,
  reading: text('Text', { help: 'a sentence for the model to read', default: 'When does attention localize?' }),
  spread: spreadControl,
  zoom: choice('Scale', { own: 'each its own', common: 'one for all' }),
  order: text('Order', { help: 'a column, or -column', default: 'layer' }),
  filter: text('Filter', { help: 'conditions on columns, such as layer=3 entropy<0.5' }),
  length,
  tokens,
  correlation,
  fold_gains: choiceOf('heads', 'fold_gains', 'Gains of norms'),
  frame: choiceOf('heads', 'frame', 'Covariance Σ'),
  offset_kind: choice('Rotary heads', { one: 'at an offset', average: 'average over T offsets' }),
  offset: number('offset', 'Offset', integers(0, 256), {
    help: 'Query position minus key position at which a rotary head’s <i>W</i> is taken',
    used: ({ offset_kind }) => offset_kind === 'one',
  }),
  map_query: text('Weights of queries', {
    help: 'name of the weights of the queries, or of all where they are fused, with {n} for the layer',
  }),
  map_key: text('Weights of keys', { help: 'the same for the keys; empty where they are fused' }),
  map_gain: text('Gain of the norm', { help: 'the same for the gain of the norm before them; empty for none' }),
  map_layout: choiceOf('heads', 'map_layout', 'Layout'),
  map_heads: text('Heads', { help: 'attention heads in each layer; empty for what config.json says' }),
  map_key_heads: text('Key heads', {
    help: 'heads of keys in each layer; empty for what config.json or the shapes say',
  }),
  ...headControls,
};

export const modelView = declareView('Your model', controls, ({ tokens, length }) => `${tokens} · T ${length}`);

export type State = StateOf<typeof controls>;
export type Store = StoreOf<State>;
export type Figure = Figures.Figure<State>;
export type FigureContext = Figures.FigureContext<State>;
