import processes from '../generated/token-processes.json';
import type { Setting, Stack, TokenProcess } from '../engine/protocol';
import {
  allowed,
  choice,
  choiceOf,
  integers,
  limitsOf,
  linear,
  list,
  listParts,
  log,
  namesOf,
  number,
  pick,
  square,
  type StateOf,
  type Values,
} from './control';

/** Of each token process: K(T, T) is T to this power, and whether K has the parameter a. */
export const tokenProcesses: Record<TokenProcess, { last_variance_power: number; correlation: boolean }> = processes;

/** The controls of the engine's setting: an ensemble of W at a mean and variance, and a token process. */
export const settingControls = {
  mean: number('mean', 'Mean', square(-2, 2), {
    sign: '<i>m</i>',
    help: 'Mean <i>m</i> of the eigenvalues of <i>W</i>, tr(<i>W</i>)/<i>d</i>',
  }),
  variance: number('variance', 'Variance', log(1e-5, 1e4), {
    sign: '<i>v</i>',
    help:
      'Variance <i>v</i> of the eigenvalues of <i>W</i>; for ensembles that are not ' +
      'symmetric the Frobenius variance',
  }),
  width: number('width', 'Width', log(4, 512, { integer: true }), {
    sign: '<i>d</i>',
    help: 'Number of components <i>d</i> of a token, which is the size of <i>W</i>',
    used: ({ ensemble }) => ensemble !== 'list',
  }),
  head_width: number('head_width', 'Head width', log(2, 512, { integer: true }), {
    sign: '<i>d<sub>h</sub></i>',
    help: 'Width <i>d<sub>h</sub></i> of a head, which is the rank of <i>W</i>; at most the width <i>d</i>',
    used: ({ ensemble }) => ensemble === 'factored',
  }),
  length: number('length', 'Length', log(4, 256, { integer: true }), {
    sign: '<i>T</i>',
    help: 'Number of tokens <i>T</i> in a sequence',
  }),
  temperature: number('temperature', 'Temperature', log(0.1, 100), {
    sign: '<i>λ</i>',
    help: 'Temperature <i>λ</i>, by which the logits are divided before the softmax; usually √<i>d<sub>h</sub></i>',
  }),
  tokens: choiceOf('propagation', 'tokens', 'Tokens', { help: 'Gaussian process from which the tokens are drawn' }),
  correlation: number('correlation', 'Correlation', linear(0, 0.99), {
    sign: '<i>a</i>',
    help: 'Correlation <i>a</i> of neighbouring tokens of the AR(1) process',
    used: ({ tokens }) => tokenProcesses[tokens as TokenProcess].correlation,
  }),
  ensemble: choiceOf('propagation', 'ensemble', 'Ensemble', {
    help: 'Random matrix ensemble from which <i>W</i> is drawn',
  }),
  eigenvalues: list('eigenvalue', 'Eigenvalues', {
    help: 'Eigenvalues of <i>W</i>, separated by commas or spaces; their number is the width',
    default: '2, 1, 1, 0, -1',
    least: 2,
    used: ({ ensemble }) => ensemble === 'list',
  }),
  seed: number('seed', 'Seed', null, { help: 'Seed of the random number generator; equal seeds give equal draws' }),
};
export type SettingState = StateOf<typeof settingControls>;
export const SETTING = namesOf(settingControls);

/** Whose rows of attention are meant: the last query's, that of one position, or the mean over all. */
export const queryControls = {
  queries: choice(
    'Queries',
    { last: 'last', one: 'one position', all: 'mean over all' },
    'Queries whose attention rows are measured; causal training corresponds to the mean over all queries',
  ),
  query: number('query', 'Position', integers(2, 256, { within: 'length' }), {
    sign: '<i>q</i>',
    help: 'Position <i>q</i> of the query, which attends to the keys 1 to <i>q</i>; at most <i>T</i>',
    used: ({ queries }) => queries === 'one',
  }),
};
export type QueryState = StateOf<typeof queryControls>;
export const QUERY = namesOf(queryControls);

/** Whether tokens are in blocks that do not see each other. */
export const hasBlocks = ({ mask }: Readonly<Values>) => mask === 'blocks';

/** Which keys a query sees, and what it makes of their logits. */
export const maskingControls = {
  softmax: choiceOf('attention', 'softmax', 'Softmax', { help: 'Function from logits to attention weights' }),
  mask: choiceOf('attention', 'mask', 'Mask', { help: 'Keys to which a query can attend' }),
  window: number('window', 'Window', log(1, 128, { integer: true }), {
    help: 'Number of keys in the window, the query’s own included',
    used: ({ mask }) => mask === 'window',
  }),
  blocks: number('blocks', 'Blocks', integers(1, 16), {
    help: 'Number of blocks that cannot attend to each other; the last block attends to all',
    used: hasBlocks,
  }),
  prefix: number('prefix', 'Shared prefix', integers(0, 64), {
    help: 'Number of first tokens to which every block attends',
    used: hasBlocks,
  }),
  selected: number('selected', 'Blocks selected', integers(0, 16), {
    help: 'Number of earlier blocks to which a query of the last block attends: those with the largest weights',
    used: hasBlocks,
  }),
};
type MaskingState = StateOf<typeof maskingControls>;
export const MASKING = namesOf(maskingControls);

const listOf = ({ eigenvalues }: Readonly<SettingState>) => listParts(eigenvalues).map(Number);

/** What the engine is asked about. */
export function settingOf(state: Readonly<SettingState>): Setting {
  const eigenvalues = state.ensemble === 'list' ? listOf(state) : [];
  return { ...pick(state, SETTING), eigenvalues };
}

/** Whose rows of attention the engine is asked about. */
export function queryOf({ queries, query }: Readonly<QueryState>): { query?: number; all_queries?: boolean } {
  if (queries === 'last') return {};
  return queries === 'one' ? { query } : { all_queries: true };
}

/** A setting without its point, for jobs over several means and variances. */
export function gridSettingOf(state: Readonly<SettingState>): Omit<Setting, 'mean' | 'variance'> {
  const { mean: _, variance: __, ...rest } = settingOf(state);
  return rest;
}

/** The part of the engine's question that says which keys are seen, and how. */
export function maskingOf(state: Readonly<MaskingState>): Pick<Stack, (typeof MASKING)[number]> {
  return pick(state, MASKING);
}

/** Number of eigenvalues: the list's own length, or the width. */
export function widthOf(state: Readonly<SettingState>): number {
  return state.ensemble === 'list' ? listOf(state).length : state.width;
}

/** The means that the lead figure compares: the chosen one, a quarter and twice of it. */
export function meansOf({ mean }: Readonly<SettingState>): number[] {
  const { default: plain } = limitsOf('mean');
  const means = mean === 0 ? [0, plain, -plain] : [mean, mean / 4, allowed('mean', 2 * mean)];
  return [...new Set(means)];
}

/** K(T, T): the scale of the last token's covariance under the token process. */
export function lastVariance({ tokens, length }: Readonly<SettingState>): number {
  return length ** tokenProcesses[tokens].last_variance_power;
}
