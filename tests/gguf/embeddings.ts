// What a head adds to the embedding of a text, by `eigenscope attend --ablate` against llama.cpp, which runs two small
// GGUF models of each encoder, with the head and without its output.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { raw, root, temporaryFolder } from '../cli/eigenscope.ts';

const TEXT = 'Call me Ishmael. Some years ago, never mind how long precisely, having little or no money in my purse';
const MODELS = ['modern-bert', 'modern-bert-silu', 'gemma-embedding'];
const HEADS = ['0.3', '2.1', '4.0'];

/** How far the change may be from llama.cpp's, relative; GELU for SiLU makes 0.03. */
const LIMIT = 5e-4;

const folder = temporaryFolder();
const text = join(folder, 'text.txt');
writeFileSync(text, TEXT);

/** Standard output of a program. */
function output(program: string, ...args: string[]): string {
  const ran = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 28 });
  if (ran.status !== 0) throw new Error(`${args[0]}: ${ran.stderr || ran.error}`);
  return ran.stdout;
}

function written(model: string, silenced: string): string {
  const path = join(folder, `${model}-${silenced}.gguf`);
  output('/usr/bin/python3', '-B', `${root}tests/gguf/decoder.py`, model, 'F32', path, 'small', silenced);
  return path;
}

const files = MODELS.flatMap((model) => ['', ...HEADS].map((head) => written(model, head)));
const peers: number[][] = output('node', `${root}tests/gguf/llama/embeddings.mjs`, text, ...files)
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));

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
