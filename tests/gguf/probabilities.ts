// Probabilities of the next token by `eigenscope attend` against llama.cpp: small GGUF models of every architecture that
// reads text, and a LLaMA of every tensor type.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { raw } from '../cli/eigenscope.ts';
import { answersOf, text, TEXT, written } from './llama/peer.ts';

/** How far the mean loss may be from llama.cpp's, nats, and the relative difference of probabilities. */
interface Limits {
  loss: number;
  probability: number;
}
const SINGLE = { loss: 2e-6, probability: 1e-5 };
/** llama.cpp looks values of GELU up in a table of half precision. */
const GELU_TABLE = { loss: 1e-3, probability: 5e-3 };
/** It rounds what a matrix of half precision reads to half precision, and what a quantized one reads to 8 bits. */
const HALF = { loss: 5e-4, probability: 2e-3 };
const EIGHT_BITS = { loss: 0.01, probability: 0.1 };

const ARCHITECTURES: Record<string, Limits> = {
  llama: SINGLE,
  qwen2: SINGLE,
  qwen3: SINGLE,
  qwen2moe: SINGLE,
  qwen3moe: SINGLE,
  olmoe: SINGLE,
  mixtral: SINGLE,
  granitemoe: SINGLE,
  'granitemoe-shared': SINGLE,
  granitehybrid: SINGLE,
  jamba: SINGLE,
  'falcon-h1': SINGLE,
  'falcon-h1-norm': SINGLE,
  arcee: SINGLE,
  'pangu-embedded': SINGLE,
  deci: SINGLE,
  nemotron: SINGLE,
  nemotron_h: SINGLE,
  nemotron_h_moe: SINGLE,
  'nemotron_h_moe-latent': SINGLE,
  bailingmoe: SINGLE,
  'gpt-oss': SINGLE,
  deepseek2: SINGLE,
  'deepseek2-lite': SINGLE,
  'deepseek2-ocr': SINGLE,
  deepseek32: SINGLE,
  mistral4: SINGLE,
  'glm-dsa': SINGLE,
  seed_oss: SINGLE,
  phi3: SINGLE,
  apertus: SINGLE,
  olmo: SINGLE,
  'olmo-clamped': SINGLE,
  olmo2: SINGLE,
  olmo3: SINGLE,
  glm4: SINGLE,
  'command-r': SINGLE,
  'command-r-plus': SINGLE,
  granite: SINGLE,
  smollm3: SINGLE,
  internlm2: SINGLE,
  exaone: SINGLE,
  ernie4_5: SINGLE,
  stablelm: SINGLE,
  'glm4-sections': SINGLE,
  lfm2: SINGLE,
  lfm2moe: SINGLE,
  llama4: SINGLE,
  qwen35: SINGLE,
  qwen35moe: SINGLE,
  qwen3next: SINGLE,
  mistral3: SINGLE,
  ministral3: SINGLE,
  qwen2vl: SINGLE,
  qwen3vl: SINGLE,
  qwen3vlmoe: SINGLE,
  exaone4: SINGLE,
  'exaone4-32b': SINGLE,
  cohere2: SINGLE,
  glm4moe: SINGLE,
  dots1: SINGLE,
  'exaone-moe': SINGLE,
  hy_v3: SINGLE,
  mimo2: SINGLE,
  afmoe: SINGLE,
  'ernie4_5-moe': SINGLE,
  'hunyuan-dense': SINGLE,
  'minimax-m2': SINGLE,
  'minimax-m3': SINGLE,
  qwen: SINGLE,
  minicpm: SINGLE,
  'minicpm-first': SINGLE,
  minicpm3: SINGLE,
  gptneox: GELU_TABLE,
  'gptneox-in-turn': GELU_TABLE,
  phi2: GELU_TABLE,
  'falcon-7b': GELU_TABLE,
  bloom: GELU_TABLE,
  'bloom-6': GELU_TABLE,
  mpt: GELU_TABLE,
  gpt2: GELU_TABLE,
  starcoder: GELU_TABLE,
  starcoder2: GELU_TABLE,
  gemma: GELU_TABLE,
  gemma2: GELU_TABLE,
  gemma3: GELU_TABLE,
  gemma4: GELU_TABLE,
  'gemma4-moe': GELU_TABLE,
  'gemma4-moe-apart': GELU_TABLE,
  'gemma4-small': GELU_TABLE,
};
const TYPES: Record<string, Limits> = { F16: HALF };
for (const type of ['Q8_0', 'Q4_0', 'Q4_1', 'Q5_0', 'Q5_1', 'IQ4_NL', 'MXFP4']) TYPES[type] = EIGHT_BITS;
for (const type of ['Q2_K', 'Q3_K', 'Q4_K', 'Q5_K', 'Q6_K', 'IQ4_XS']) TYPES[type] = EIGHT_BITS;

/** On processors with AMX an assertion of llama.cpp's scheduler fails for the stacked matrices of this model. */
const isSkipped = ({ architecture, type }: { architecture: string; type: string }) =>
  architecture === 'deepseek2' && type === 'F16' && readFileSync('/proc/cpuinfo', 'utf8').includes(' amx_tile ');

const ALL_MODELS = [
  ...Object.entries(ARCHITECTURES).map(([architecture, limits]) => ({ architecture, type: 'F32', ...limits })),
  ...Object.entries(TYPES).map(([type, limits]) => ({ architecture: 'llama', type, ...limits })),
  // Types of tensors that are joined with others.
  { architecture: 'deepseek2', type: 'F16', ...HALF },
  { architecture: 'gpt-oss', type: 'MXFP4', ...EIGHT_BITS },
];
const MODELS = ALL_MODELS.filter((model) => !isSkipped(model));

const paths = MODELS.map(({ architecture, type }) => written(architecture, type));

interface Peer {
  /** -log probability of each token after the first, nats. */
  losses: number[];
  /** By token. */
  last: number[];
}
const peers = answersOf<Peer>('probabilities.mjs', paths);

test.skip.each(ALL_MODELS.filter(isSkipped))('$architecture of type $type: llama.cpp fails here', () => {});

test.each(MODELS)('$architecture of type $type predicts as llama.cpp does', ({ architecture, type, ...limits }) => {
  const k = MODELS.findIndex((it) => it.architecture === architecture && it.type === type);
  const { losses, last } = peers[k];
  const ran = raw('attend', paths[k], '--file', text, '--outcome', '--passages', '1');
  expect(ran.stderr).toBe('');
  const { loss, predictions } = JSON.parse(ran.stdout);
  const difference = Math.abs(loss - losses.reduce((a, b) => a + b) / losses.length);
  const ratios = predictions.map(({ id, probability }: { id: number; probability: number }) => probability / last[id]);
  const worst = Math.max(...ratios.map((ratio: number) => Math.abs(ratio - 1)));
  console.log(`${architecture} ${type}: loss ${difference.toExponential(1)}, probabilities ${worst.toExponential(1)}`);
  expect(losses.length).toBeGreaterThan(TEXT.length - 1);
  expect(predictions).toHaveLength(5);
  expect(difference).toBeLessThan(limits.loss);
  expect(worst).toBeLessThan(limits.probability);
});
