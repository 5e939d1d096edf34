import { tokenProcesses } from './setting';
import type { State, StateName } from './table';
import { runsOf } from './training';

function hasLocater(state: Readonly<State>): boolean {
  return runsOf(state).some((run) => run.startsWith('locater'));
}

/** Parameters that only some states have a use for; all others always have one. */
const USED: Partial<Record<StateName, (state: Readonly<State>) => boolean>> = {
  head_width: ({ ensemble }) => ensemble === 'factored',
  correlation: ({ tokens }) => tokenProcesses[tokens].correlation,
  eigenvalues: ({ ensemble }) => ensemble === 'list',
  width: ({ ensemble }) => ensemble !== 'list',
  query: ({ queries }) => queries === 'one',
  window: ({ mask }) => mask === 'window',
  blocks: ({ mask }) => mask === 'blocks',
  prefix: ({ mask }) => mask === 'blocks',
  selected: ({ mask }) => mask === 'blocks',
  rows: ({ mask }) => mask === 'blocks',
  norm: ({ layer_norm }) => layer_norm !== 'none',
  shear: ({ values }) => values === 'shear',
  mean_weight: hasLocater,
  scale_weight: hasLocater,
  target_kind: hasLocater,
  target: (state) => hasLocater(state) || state.initialization.startsWith('mimetic'),
  target_heads: (state) => hasLocater(state) || state.initialization.startsWith('mimetic'),
  target_steps: hasLocater,
  alpha: ({ initialization }) => initialization === 'correlated',
  query_key_bias: ({ linear_bias }) => linear_bias === 'with',
  mlp_kind: ({ model_mlp }) => model_mlp > 0,
  init_scale: ({ initialization }) => initialization === 'correlated',
  offset: ({ offset_kind }) => offset_kind === 'one',
  tokens_order: ({ tokens_source }) => tokens_source !== 'text',
  zipf_exponent: ({ tokens_source }) => tokens_source === 'zipf',
  zipf_offset: ({ tokens_source }) => tokens_source === 'zipf',
  min_count: ({ tokenizer }) => tokenizer === 'words',
  tame: ({ intervention }) => intervention === 'tame',
  qk_decay: (state) => runsOf(state).includes('qk-decay'),
};

/** Whether a parameter changes anything in a state. */
export function isUsed(name: StateName, state: Readonly<State>): boolean {
  return USED[name]?.(state) !== false;
}
