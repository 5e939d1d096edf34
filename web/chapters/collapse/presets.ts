import type { LayerMeasure } from '../../engine/protocol';
import { count } from '../../charts/format';
import { described } from '../../state/described';
import type { View } from '../../state/view';
import type { Fact, Preset } from '../shared/preset';
import { collapseView, type State } from './state';

/** Of each preset's stack: the means over the samples after every layer, 0 for the input. */
export type Layers = Record<string, Record<LayerMeasure, number[]>>;

/** Blocks with skip connection and normalization, which presets change in one thing or another. */
const BLOCKS = {
  variance: 0.1,
  length: 48,
  tokens: 'random-walk',
  mask: 'causal',
  residual_weight: 1,
  layer_norm: 'pre',
} as const satisfies Partial<State>;
/** Independent tokens, all of which each query sees. */
const INDEPENDENT = {
  ...BLOCKS,
  mean: 0.25,
  variance: 0.1,
  length: 64,
  tokens: 'ar1',
  correlation: 0,
} as const satisfies Partial<State>;
const FULL = { ...INDEPENDENT, mask: 'full' } as const;
/** Uniform attention after which tokens are normalized, without a skip connection. */
const NORMALIZED = {
  ...BLOCKS,
  mean: 0,
  variance: 0,
  tokens: 'ar1',
  correlation: 0,
  residual_weight: 0,
  layer_norm: 'post',
  norm: 'rms-norm',
} as const satisfies Partial<State>;
const WALK = { ...BLOCKS, mean: 1, variance: 0.1, length: 64, tokens: 'normalized-walk' } as const;
/** Documents in blocks, and queries that see them all. */
const CONTEXTS = {
  ...BLOCKS,
  mean: 0.25,
  variance: 0.1,
  length: 128,
  tokens: 'normalized-walk',
  depth: 4,
  blocks: 8,
  rows: 'last',
} as const satisfies Partial<State>;
/** A stack in which the small variance brings entropy collapse. */
const SHARP = { ...INDEPENDENT, mean: 1, residual_weight: 0, layer_norm: 'post' } as const;
/** Deep blocks, whose residuals at mean 0 and 1 lie on both sides of this threshold. */
const DEEP = { ...WALK, depth: 24, collapse_threshold: 0.3 } as const;

const close = (a: number, b: number, most: number) => Math.abs(a - b) < most;

const presets: readonly Preset<State, Layers>[] = [
  {
    id: 'pure',
    figure: 'depth',
    name: 'Attention alone',
    text:
      'Three layers lower the residual from {pure.residual.0} to {pure.residual.3}; after four only rounding ' +
      'errors are left. A larger variance only delays the collapse. <em>The claim of Dong et al. (2021) holds.</em>',
    state: { ...FULL, variance: 1, residual_weight: 0, layer_norm: 'none' },
    claim: ({ pure }) => pure.residual[0] > 0.9 && pure.residual[3] < 1e-3 && pure.residual[4] < 1e-9,
  },
  {
    id: 'skipped',
    figure: 'depth',
    name: 'Skip connection',
    text:
      'It slows the collapse: after twelve layers the residual is still {skipped.residual.12}. <em>The claim of ' +
      'Dong et al. (2021) holds</em>, but tokens and logits grow: the entropy falls to {skipped.entropy.12}, an ' +
      'entropy collapse.',
    state: { ...FULL, layer_norm: 'none' },
    claim: ({ skipped }) =>
      skipped.residual[12] > 0.2 && skipped.residual[12] < skipped.residual[4] && skipped.entropy[12] < 0.2,
  },
  {
    id: 'normed',
    figure: 'depth',
    name: 'Normalized before attention',
    text: 'With skip connection and normalization the entropy stays at {normed.entropy.12}.',
    state: FULL,
    claim: ({ normed }) => normed.entropy[12] > 0.9,
  },
  {
    id: 'causal',
    figure: 'depth',
    name: 'Causal mask',
    text:
      'Masked attention alone still collapses, to {causal.residual.12} in twelve layers. <em>The claim of Wu et ' +
      'al. (2024) holds.</em>',
    state: { ...INDEPENDENT, residual_weight: 0, layer_norm: 'none' },
    claim: ({ causal }) => causal.residual[12] < 0.05,
  },
  {
    id: 'local',
    figure: 'depth',
    name: 'Local mask',
    text:
      'It collapses more slowly than the causal mask, to {local.residual.12}. <em>The claim of Wu et al. (2024) ' +
      'holds.</em>',
    state: { ...INDEPENDENT, mask: 'window', residual_weight: 0, layer_norm: 'none' },
    claim: ({ local, causal }) =>
      local.residual[12] > 10 * causal.residual[12] && local.residual[12] < local.residual[1],
  },
  {
    id: 'turned',
    figure: 'depth',
    name: 'Orthogonal values',
    text:
      'Normalization alone does not help here: the residual is {turned.residual.48} after 48 layers of uniform ' +
      'attention.',
    state: { ...NORMALIZED, length: 64, depth: 48 },
    claim: ({ turned }) => turned.residual[48] < 1e-9,
  },
  {
    id: 'sheared',
    figure: 'depth',
    name: 'Shear values',
    text:
      'With shear values normalization helps. In two dimensions a shear has a second, stable end where the tokens ' +
      'stay opposite each other. Which end a stack reaches depends on its first tokens: in about one of eight they ' +
      'stay apart, and the mean residual stays at {sheared.residual.160}. <em>The claim of Wu et al. (2024) ' +
      'holds:</em> the values decide.',
    state: { ...NORMALIZED, width: 2, length: 2, depth: 160, stacks: 256, values: 'shear', shear: 200 },
    claim: ({ sheared }) =>
      sheared.residual[160] > 0.08 &&
      sheared.residual[160] < 0.18 &&
      close(sheared.residual[160], sheared.residual[48], 1e-6),
  },
  {
    id: 'away',
    figure: 'depth',
    name: 'Values = −identity',
    text:
      'With a skip connection, values equal to minus the identity keep every stack at residual ' +
      '{away.residual.160}. <em>The claim of Wu et al. (2024) holds.</em>',
    state: { ...INDEPENDENT, depth: 160, layer_norm: 'post', norm: 'rms-norm', values: 'negative' },
    claim: ({ away }) => away.residual[160] > 0.9,
  },
  {
    id: 'hard',
    figure: 'depth',
    name: 'Hard attention',
    text:
      'It is the limit of localization (<a href="https://arxiv.org/abs/2009.14658">arXiv:2009.14658</a>): one key ' +
      'per query, entropy {hard.entropy.12}, no averaging. The residual falls only from {hard.residual.0} to ' +
      '{hard.residual.12}.',
    state: { ...WALK, softmax: 'hard' },
    claim: ({ hard, soft }) => hard.entropy[12] === 0 && hard.residual[12] > soft.residual[12] + 0.1,
  },
  {
    id: 'soft',
    figure: 'depth',
    name: 'Softmax instead',
    text:
      'Where hard attention keeps the residual at {hard.residual.12}, the softmax keeps {soft.residual.12} at ' +
      'entropy {soft.entropy.12}.',
    state: WALK,
    claim: ({ soft }) => soft.entropy[12] > 0.8,
  },
  {
    id: 'parallel',
    figure: 'depth',
    name: 'Parallel contexts',
    text:
      'Contexts encoded in parallel are said to raise the entropy of the queries that see them all (<a ' +
      'href="https://arxiv.org/abs/2412.16545">arXiv:2412.16545</a>). With random weights this effect is ' +
      '<em>absent:</em> {parallel.entropy_final.4} after four layers, against {serial.entropy_final.4} after one ' +
      'long context. Trained models are in <a href="#figure-parallel-contexts">a lab of Uses</a>.',
    state: { ...CONTEXTS, mask: 'blocks' },
    claim: ({ parallel, serial }) => close(parallel.entropy_final[4], serial.entropy_final[4], 0.01),
  },
  {
    id: 'serial',
    figure: 'depth',
    name: 'One long context',
    text: 'The same queries after one long context have entropy {serial.entropy_final.4}.',
    state: CONTEXTS,
    claim: ({ parallel, serial }) => close(parallel.entropy_final[4], serial.entropy_final[4], 0.01),
  },
  {
    id: 'prefixed',
    figure: 'depth',
    name: 'Shared prefix',
    text: 'A shared prefix does not lower the entropy ({prefixed.entropy_final.4}).',
    state: { ...CONTEXTS, mask: 'blocks', prefix: 8 },
    claim: ({ prefixed, parallel }) => close(prefixed.entropy_final[4], parallel.entropy_final[4], 0.01),
  },
  {
    id: 'chosen',
    figure: 'depth',
    name: 'Two best contexts',
    text: 'Reading only the two best contexts lowers the entropy, to {chosen.entropy_final.4}.',
    state: { ...CONTEXTS, mask: 'blocks', selected: 2 },
    claim: ({ chosen, parallel }) => chosen.entropy_final[4] < parallel.entropy_final[4] - 0.1,
  },
  {
    id: 'small',
    figure: 'collapse-map',
    name: 'Add skip connection and normalization',
    text:
      'Neither collapse occurs: after 24 layers the mean over stacks is {small.residual.24} for the residual and ' +
      '{small.entropy.24} for the entropy. A mean of 1 keeps the residual at every variance.',
    state: DEEP,
    claim: ({ small, zero, enormous }) =>
      small.residual[24] > 1.4 * zero.residual[24] &&
      small.entropy[24] > 0.8 &&
      enormous.residual[24] > 1.4 * zero.residual[24],
  },
  {
    id: 'zero',
    figure: 'collapse-map',
    name: 'Skip and normalization, mean 0',
    text: 'The residual falls to {zero.residual.24}, against {small.residual.24} with mean 1.',
    state: { ...DEEP, mean: 0 },
    claim: ({ zero, small }) => zero.residual[24] < small.residual[24],
  },
  {
    id: 'enormous',
    figure: 'collapse-map',
    name: 'Skip and normalization, variance 10,000',
    text:
      'The entropy falls to {enormous.entropy.24}; the residual stays at {enormous.residual.24}. The variance ' +
      'affects only the entropy, and only at large values.',
    state: { ...DEEP, variance: 10000 },
    claim: ({ enormous, broad, zero }) =>
      enormous.entropy[24] < 0.2 && broad.entropy[24] > 0.5 && enormous.residual[24] > 1.4 * zero.residual[24],
  },
  {
    id: 'sharp',
    figure: 'collapse-map',
    name: 'Normalize after attention, mean 1',
    text:
      '<em>The claim of Bao et al. (2024) fails:</em> the small variance keeps the residual at {sharp.residual.12}, ' +
      'but the entropy falls to {sharp.entropy.12}. At variance 10 it is {wide.entropy.12}, with residual ' +
      '{wide.residual.12}.',
    state: SHARP,
    claim: ({ sharp, wide }) =>
      sharp.entropy[12] < 0.1 && sharp.residual[12] > 0.9 && wide.entropy[12] > 0.7 && wide.residual[12] < 0.6,
  },
];

/** What a state changes of that in which the chapter begins: "Mean m: 1; Mask: causal". */
function changesOf(state: Partial<State>): string {
  const { defaults } = collapseView;
  const changed = Object.entries(state).filter(([name, value]) => defaults[name as keyof State] !== value);
  const settings = described(collapseView as View, Object.fromEntries(changed));
  return settings.replace(/\d{4,}/g, (digits) => count(Number(digits)));
}

/** The presets of the chapter; those of the map list what they change. */
export const collapsePresets = presets.map((preset) =>
  preset.figure === 'collapse-map'
    ? { ...preset, text: `${preset.text} Changed: ${changesOf(preset.state)}.` }
    : preset,
);

/** Settings of sentences of presets and prose. */
export const collapseFacts: readonly Fact<State, Layers>[] = [
  { id: 'minus', state: { ...DEEP, mean: -1 }, claim: ({ minus, zero }) => minus.residual[24] < zero.residual[24] },
  { id: 'broad', state: { ...DEEP, variance: 100 }, claim: ({ broad }) => broad.entropy[24] > 0.5 },
  {
    id: 'wide',
    state: { ...SHARP, variance: 10 },
    claim: ({ wide }) => wide.entropy[12] > 0.7 && wide.residual[12] < 0.6,
  },
];
