// Models with a tokenizer, for tests of what a person can do with a model of their own.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { json, root, temporaryFolder } from '../cli/eigenscope';
import { picked } from './gestures';

/** Tokens of the longest passage that the trained model reads. */
export const TRAINED_LENGTH = 64;

/** Settings of a model with LLaMA's parts, and so its names. */
export const LLAMA = { normalization: 'rms', mlp_kind: 'gated', positions: 'rotary', linear_bias: 'without' };

/**
 * A folder with a briefly trained model of 8 heads that reads bytes, with GPT-2's names where no other parts are
 * asked for, until the test ends.
 */
export function trainedFolder(parts = {}): string {
  const folder = temporaryFolder(onTestFinished);
  const size = { width: 32, depth: 2, heads: 4, length: TRAINED_LENGTH };
  json('train', { ...size, ...parts, steps: 30, log_every: 30, export: 'f32', out: folder });
  return join(folder, 'none-seed1', 'export');
}

/** Heads of a layer of writeLayers. */
export const LAYER_HEADS = 32;

/**
 * The files of a checkpoint with layers of a LLaMA of 1.1 billion weights, most of which are zero, until the test ends.
 */
export function writeLayers(layers: number): string[] {
  const folder = temporaryFolder(onTestFinished);
  const size = ['--size', '1.1b', '--layers', `${layers}`, '--tokenizer', '--dense'];
  execFileSync('node', [`${root}tests/bench/sparse-llama.mjs`, folder, ...size]);
  return readdirSync(folder).map((name) => join(folder, name));
}

/** The files of such a model. */
export function trainedModel(parts = {}) {
  const folder = trainedFolder(parts);
  return ['model.safetensors', 'config.json', 'tokenizer.json'].map((name) =>
    picked(name, readFileSync(join(folder, name))),
  );
}
