// A small model with a tokenizer, for tests of what a person can do with a model of their own.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { json, temporaryFolder } from '../cli/eigenscope';
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

/** The files of such a model. */
export function trainedModel() {
  const folder = trainedFolder();
  return ['model.safetensors', 'config.json', 'tokenizer.json'].map((name) =>
    picked(name, readFileSync(join(folder, name))),
  );
}
