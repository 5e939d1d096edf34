// What a head adds to the embedding of a text, by `eigenscope attend --ablate` against llama.cpp, which runs two small
// GGUF models of each encoder, with the head and without its output.
import { expect, test } from 'vitest';
import { raw } from '../cli/eigenscope.ts';
import { answersOf, text, written } from './llama/peer.ts';

const MODELS = ['modern-bert', 'modern-bert-silu', 'gemma-embedding', 'nomic-bert', 'jina-bert-v2', 'eurobert'];
const HEADS = ['0.3', '2.1', '4.0'];

/** How far the change may be from llama.cpp's, relative; GELU for SiLU makes 0.03. */
const LIMIT = 5e-4;

const files = MODELS.flatMap((model) => ['', ...HEADS].map((head) => written(model, 'F32', 'small', head)));
const peers = answersOf<number[]>('embeddings.mjs', files);

function cosine(a: number[], b: number[]): number {
  const dot = (x: number[], y: number[]) => x.reduce((sum, value, k) => sum + value * y[k], 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}

test.each(MODELS)('heads of %s change the embedding as in llama.cpp', (model) => {
  const [whole, ...without] = peers.slice(MODELS.indexOf(model) * (HEADS.length + 1));
  HEADS.forEach((head, k) => {
    const args = ['--file', text, '--passages', '1', '--ablate', head, '--ablation', 'zero', '--outcome'];
    const ran = raw('attend', files[MODELS.indexOf(model) * (HEADS.length + 1)], ...args);
    expect(ran.stderr).toBe('');
    const { output_change: change } = JSON.parse(ran.stdout);
    const expected = 1 - cosine(whole, without[k]);
    console.log(`${model} ${head}: ${change} of ${expected}`);
    expect(expected).toBeGreaterThan(1e-4);
    expect(Math.abs(change / expected - 1)).toBeLessThan(LIMIT);
  });
});
