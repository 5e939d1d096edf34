import type { Regularizer, Training } from '../engine/protocol';
import { limitsOf, type State, type StateName } from './table';

/** The library's parameters of a training run that the page's state holds, by the state's names. */
const HELD = {
  width: 'model_width',
  depth: 'model_depth',
  heads: 'model_heads',
  length: 'model_length',
  steps: 'steps',
  batch: 'batch',
  learning_rate: 'learning_rate',
  mean_weight: 'mean_weight',
  scale_weight: 'scale_weight',
  target: 'target',
  target_kind: 'target_kind',
  initialization: 'initialization',
  qk_decay: 'qk_decay',
  log_every: 'log_every',
  seed: 'seed',
} as const satisfies Partial<Record<keyof Training, StateName>>;

/** Those that stay at the library's default. */
const FIXED: (keyof Training)[] = [
  ...(['key_heads', 'final_rate', 'warmup', 'weight_decay'] as const),
  ...(['beta1', 'beta2', 'clip', 'eval_batches'] as const),
];

/** The names of the state that make up a training run, beside what regularizes it. */
export const TRAINING: readonly StateName[] = Object.values(HELD);

/** The control of one of the library's parameters of a training run. */
export function controlOf(parameter: string): StateName | undefined {
  if (parameter === 'regularizer') return 'runs';
  if (parameter === 'prompt') return 'prompt';
  return (HELD as Partial<Record<string, StateName>>)[parameter];
}

/** The library's parameter that a control of a training run stands for. */
export function parameterOf(name: StateName): string | undefined {
  return Object.entries(HELD).find(([, held]) => held === name)?.[0];
}

/** The regularizers of the race's runs. */
export function runsOf(state: Readonly<State>): Regularizer[] {
  return state.runs.split(',') as Regularizer[];
}

/** What the engine is asked of one run. */
export function trainingOf(state: Readonly<State>, regularizer: Regularizer): Training {
  const held = Object.entries(HELD).map(([parameter, name]) => [parameter, state[name]]);
  const fixed = FIXED.map((parameter) => [parameter, limitsOf(parameter).fallback]);
  return {
    ...(Object.fromEntries([...fixed, ...held]) as Training),
    ...{ mlp: 4, layer_norm: 'pre', positions: 'learned', output: 'tied', regularizer },
  };
}
