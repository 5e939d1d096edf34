// The same seed must give the same curve natively and in a browser tab, and a run in pieces the same as
// one in one go.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { NativeEngine, Output, Regularizer, TrainSettings } from '../../web/engine/protocol.ts';
import operations from '../../web/generated/operations.json';
import { parseCsv } from '../csv.ts';
import { engine, finish, json, run, temporaryFolder } from './eigenscope.ts';

const folder = temporaryFolder();
const file = join(folder, 'text.txt');
const text = Uint8Array.from(Buffer.from('Call me Ishmael. Some years ago, never mind. '.repeat(60)));
const { tokenizer: _, min_count: __, more: ___, ...standard } = operations.train.defaults;
const settings = {
  ...standard,
  width: 16,
  depth: 2,
  heads: 2,
  length: 16,
  mlp_ratio: 2,
  steps: 100,
  batch: 4,
  warmup: 10,
  scale_weight: 0.01,
  log_every: 5,
  eval_batches: 2,
  seed: 7,
} as TrainSettings;
const whole = { ...settings, text, tokenizer: 'bytes' as const, min_count: 1, checkpoint: null };

let native: NativeEngine;
beforeAll(async () => {
  writeFileSync(file, text);
  native = await engine();
});

function terminal(own: TrainSettings): Record<string, number | null>[] {
  return json('train', { ...own, text: file }).runs[0].rows;
}

/** Compares the first 100 steps of a run in a terminal and in WASM. */
function expectSameRun(changed: Partial<TrainSettings>) {
  const rows = terminal({ ...settings, ...changed });
  const found = finish(native, 'train', { ...whole, ...changed, more: 100 });
  expect(found.failure).toBe('');
  expect(rows).toHaveLength(21);
  expect([...found.rows.step]).toEqual(rows.map((row) => row.step));
  rows.forEach((row, i) => {
    const same = (value: number, name: string, tolerance: number) =>
      row[name] === null
        ? expect(value, name).toBeNaN()
        : expect(Math.abs(value - row[name]!), `${name} in row ${i}`).toBeLessThan(
            tolerance * (1 + Math.abs(row[name]!)),
          );
    for (const [name, values] of Object.entries(found.rows.run)) same(values[i]!, name, 1e-5);
    for (const [name, values] of Object.entries(found.rows.layers)) {
      for (let k = 0; k < 2; ++k) same(values[2 * i + k]!, `layer${k}_${name}`, 1e-4);
    }
    for (const [name, values] of Object.entries(found.rows.heads)) {
      for (let k = 0; k < 4; ++k) {
        same(values[4 * i + k]!, `layer${k >> 1}_head${k % 2}_${name}`, 1e-4);
      }
    }
  });
}

test.each(Object.keys(operations.train.choices.regularizer) as Regularizer[])(
  '%s: the first 100 steps are the same to float rounding',
  (regularizer) => expectSameRun({ regularizer }),
);

test('the same with masked tokens, relative positions and a learned mask, without skip connections', () => {
  const masked = { objective: 'masked', positions: 'relative', offset_mask: 'learned' } as const;
  expectSameRun({ ...masked, attention_skip: 'without', dropped_distance: 2 });
});

test('a run in pieces is the run in one go, bit by bit', () => {
  const once = finish(native, 'train', { ...whole, more: 60 });
  let checkpoint: Uint8Array | null = null;
  const losses: number[] = [];
  for (const more of [13, 40, 7]) {
    const piece: Output<'train'> = finish(native, 'train', { ...whole, checkpoint, more });
    losses.push(...piece.rows.run.loss);
    checkpoint = piece.checkpoint;
  }
  expect(losses).toEqual([...once.rows.run.loss]);
  expect(checkpoint).toEqual(once.checkpoint);
  expect(once.step).toBe(60);
});

test('generate and run-attention read a checkpoint, and refuse what they cannot', () => {
  const { checkpoint } = finish(native, 'train', { ...whole, steps: 60, more: 60 });
  const common = { checkpoint: checkpoint!, prompt: 'Call me', intervention: 'none', tame: 1 } as const;
  const spoken = (seed: number) =>
    finish(native, 'generate', { ...common, generated: 40, temperature: 0.7, seed }).text;
  expect(spoken(1)).toHaveLength(40);
  expect(spoken(1)).toEqual(spoken(1));
  expect(spoken(1)).not.toEqual(spoken(2));
  const { tokens, layers, heads, weights, entropy } = finish(native, 'run-attention', common);
  expect(tokens.map(({ token }) => String.fromCharCode(...token)).join('')).toBe('Call me');
  expect(weights).toHaveLength(layers * heads * 49);
  for (let row = 0; row < layers * heads * 7; ++row) {
    const own = weights.slice(7 * row, 7 * row + 7);
    expect(own.reduce((a, b) => a + b)).toBeCloseTo(1, 5);
    expect(own.slice((row % 7) + 1).every((weight) => weight === 0)).toBe(true);
  }
  expect(entropy).toHaveLength(layers * heads);
  entropy.forEach((value) => expect(value).toBeGreaterThan(0));
  const hard = finish(native, 'run-attention', { ...common, intervention: 'hard' });
  expect(new Set(hard.weights)).toEqual(new Set([0, 1]));
  expect(() => finish(native, 'run-attention', { ...common, prompt: 'C' })).toThrow(/at least two/);
  expect(() => finish(native, 'run-attention', { ...common, checkpoint: new Uint8Array(9) })).toThrow();
  expect(() => native.createJob('train', { ...whole, text: new Uint8Array(0), more: 1 })).toThrow(
    /text must have text to learn/,
  );
});

test('a run that breaks says where, and keeps its rows', () => {
  const broken = finish(native, 'train', { ...whole, learning_rate: 1e6, log_every: 1, warmup: 0, more: 100 });
  expect(broken.failure).toMatch(/^step \d+: .*learning_rate/);
  expect(broken.rows.step.length).toBeGreaterThan(0);
  const ran = run('train', { ...settings, text: file, learning_rate: 1e6, out: join(folder, 'broken') });
  expect(ran.status).toBe(1);
  expect(ran.stderr).toMatch(/none-seed7: step \d+: /);
});

test('a checkpoint says its settings, whatever is asked for beside it', () => {
  const own = { ...whole, key_heads: 1, mlp_ratio: 1.5, positions: 'rotary', output: 'free' } as const;
  const { checkpoint } = finish(native, 'train', { ...own, regularizer: 'qk-decay', more: 3 });
  const taken = finish(native, 'train', { ...whole, checkpoint, more: 0 });
  const asked = { ...settings, key_heads: 1, mlp_ratio: 1.5, positions: 'rotary', output: 'free' };
  expect(taken.settings).toEqual({ ...asked, regularizer: 'qk-decay' });
  expect(taken.step).toBe(3);
});

test('a checkpoint evaluated as trained has the last row of its log; hard attention has entropy 0', () => {
  const done = finish(native, 'train', { ...whole, more: 100 });
  const { tokenizer, min_count } = whole;
  const asked = { text, tokenizer, min_count, checkpoint: done.checkpoint!, tame: 1 };
  const plain = finish(native, 'evaluate', { ...asked, intervention: 'none' }).rows;
  expect(plain.run.loss[0]).toBe(done.rows.run.loss.at(-1));
  expect(Array.from(plain.step)).toEqual([100]);
  const hard = finish(native, 'evaluate', { ...asked, intervention: 'hard' }).rows;
  expect(Array.from(hard.heads.entropy).map(Math.abs)).toEqual([0, 0, 0, 0]);
  expect(hard.run.loss[0]).not.toBe(plain.run.loss[0]);
  expect(() => finish(native, 'evaluate', { ...asked, intervention: 'soft' as 'hard' })).toThrow(
    /intervention must be one of .*: found 'soft'/,
  );
});

test('a run killed between log and checkpoint goes on to the same files', () => {
  const train = (out: string, ...flags: string[]) => {
    const ran = run('train', { ...settings, text: file, out: join(folder, out) }, '--csv', ...flags);
    expect(ran.stderr).toBe('');
  };
  const read = (out: string, name: string) => readFileSync(join(folder, out, 'none-seed7', name));
  train('whole');
  train('cut');
  // The page saves the config.json that a terminal writes.
  expect(finish(native, 'train', { ...whole, more: 0 }).config).toBe(String(read('whole', 'config.json')));
  // As a kill leaves them: an earlier checkpoint, rows after it, and half a line.
  const piece = finish(native, 'train', { ...whole, more: 50 });
  writeFileSync(join(folder, 'cut', 'none-seed7', 'model.safetensors'), piece.checkpoint!);
  const log = read('cut', 'log.csv');
  writeFileSync(join(folder, 'cut', 'none-seed7', 'log.csv'), log.subarray(0, log.length - 20));
  train('cut', '--resume');
  for (const name of ['log.csv', 'model.safetensors', 'config.json']) {
    expect(read('cut', name).equals(read('whole', name)), name).toBe(true);
  }
  // The log's W is without LayerNorm's gain.
  const { heads } = json('heads', { length: 16, fold_gains: 'no' }, join(folder, 'whole', 'none-seed7'));
  const last = parseCsv(String(log)).at(-1)!;
  expect(heads).toHaveLength(4);
  heads.forEach((head: Record<string, number>) => {
    const logged = last[`layer${head.layer}_head${head.head}_variance_frobenius`];
    expect(head.variance_frobenius).toBeCloseTo(Number(logged), 12);
  });
});
