import type { LayerMeasure, Stack } from '../../engine/protocol';
import {
  allowed,
  choice,
  choiceOf,
  integers,
  limitsOf,
  linear,
  namesOf,
  number,
  ownNumber,
  pick,
  square,
  type Limits,
  type StateOf,
} from '../../state/control';
import { headControls } from '../../state/heads';
import {
  hasBlocks,
  MASKING,
  maskingControls,
  maskingOf,
  SETTING,
  settingControls,
  settingOf,
} from '../../state/setting';
import type { Store as StoreOf } from '../../state/store';
import { declareView } from '../../state/view';
import type * as Figures from '../../ui/figure';
import { settingText } from '../shared/setting-text';

/** How alike the tokens of a layer are, as the figure over depth shows it. */
export type Rank = LayerMeasure & ('residual' | 'stable_rank' | 'effective_rank' | 'cosine');

const blockControls = {
  depth: number('depth', 'Depth', integers(0, 64), { help: 'Number of attention blocks' }),
  heads: number('heads', 'Heads', integers(1, 16), {
    help: 'Number of attention heads in each block; they share the width <i>d</i> in equal parts',
  }),
  residual_weight: number('residual_weight', 'Residual weight', linear(0, 2), {
    sign: '<i>α</i>',
    help: 'Weight <i>α</i> of the skip connection; 0 removes it',
  }),
  layer_norm: choiceOf('collapse', 'layer_norm', 'Normalization', { help: 'Place of the normalization in a block' }),
  norm: choiceOf('collapse', 'norm', 'Norm type', {
    help: 'LayerNorm subtracts the mean and divides by the standard deviation; RMSNorm only divides',
    used: ({ layer_norm }) => layer_norm !== 'none',
  }),
  values: choiceOf('collapse', 'values', 'Values <i>W<sub>V</sub></i>', { help: 'Value matrix <i>W<sub>V</sub></i>' }),
  shear: number('shear', 'Shear', square(-100, 100), {
    sign: '<i>w</i>',
    help:
      'Strength <i>w</i> of the shear: <i>W<sub>V</sub></i> = <i>I</i> + <i>wS</i>, <i>S</i> ' +
      'the shift by one coordinate',
    used: ({ values }) => values === 'shear',
  }),
  weights: choiceOf('collapse', 'weights', 'Weights', { help: 'New weights in each layer, or the same in all' }),
  mlp_ratio: number('mlp_ratio', 'MLP ratio', linear(0, 8), {
    help: 'Hidden width of the MLP over the width <i>d</i>; 0 removes the MLP',
  }),
  stacks: number('stacks', 'Stacks', integers(1, 64), {
    help: 'Number of random stacks over which the curves are averaged',
  }),
};
const BLOCK = namesOf(blockControls);
/** The names of the state that make up the engine's stack. */
export const STACK = [...SETTING, ...MASKING, ...BLOCK] as const;

const RANKS: Record<Rank, string> = {
  residual: 'residual',
  stable_rank: 'stable rank',
  effective_rank: 'effective rank',
  cosine: 'mean cosine',
};

/** Only the page calls a stack collapsed. */
const COLLAPSE_THRESHOLD: Limits = {
  minimum: 0,
  maximum: 1,
  default: 0.2,
  integer: false,
  open_minimum: false,
  open_maximum: false,
};

const controls = {
  ...settingControls,
  ...maskingControls,
  ...blockControls,
  rank: choice('Vertical axis', RANKS),
  rows: { ...choice('Queries', { all: 'all', last: 'last block' }), used: hasBlocks },
  shade: choice(
    'Colours',
    { regions: 'collapse type', residual: 'residual', entropy: 'entropy' },
    'Type of collapse at each mean and variance, or residual or attention entropy after the last layer',
  ),
  collapse_threshold: ownNumber(COLLAPSE_THRESHOLD, 'Collapse threshold', linear(0, 1), {
    help: 'Residual and entropy below which a stack counts as collapsed',
  }),
  layer: number('layer', 'Layer', integers(0, 64, { within: 'depth' }), {
    help: 'Layer after which the tokens are compared; 0 is the input',
  }),
  ...headControls,
};

// A stack that collapses, with lines that part: attention alone, on independent tokens.
export const collapseView = declareView('Collapse', controls, settingText, {
  variance: 1,
  length: 64,
  tokens: 'ar1',
  correlation: 0,
  mask: 'full',
  residual_weight: 0,
  layer_norm: 'none',
  layer: 1, // after a few more only rounding errors part the tokens
});

export type State = StateOf<typeof controls>;
export type Store = StoreOf<State>;
export type Figure = Figures.Figure<State>;
export type FigureContext = Figures.FigureContext<State>;

/** What the engine is asked about a stack of attention blocks. */
export function stackOf(state: Readonly<State>): Stack {
  return { ...settingOf(state), ...maskingOf(state), ...pick(state, BLOCK) };
}

/** The variances that the figures over depth compare: the chosen one, a hundredth and 100 times. */
export function variancesOf(state: Readonly<State>): number[] {
  const middle = state.variance || limitsOf('variance').default;
  const others = [middle / 100, allowed('variance', 100 * middle)];
  return [...new Set([state.variance, ...others.map((value) => Number(value.toPrecision(12)))])];
}
