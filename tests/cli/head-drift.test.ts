// Heads of a model beside those of its quantized GGUF, which an independent script writes.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { safetensorsOf } from '../checkpoints.ts';
import { json, MINILM, root, run, temporaryFolder } from './eigenscope.ts';

const folder = temporaryFolder();

/** What is printed: the type of W_Q, and how far each W is from the original by numpy. */
interface Quantized {
  type: string;
  heads: { layer: number; head: number; distance: number }[];
}

/** Writes the GGUF of a BERT in a file, and returns what the script prints. */
function quantize(model: string, type: string, file: string, ...options: string[]): string {
  const script = `${root}tests/gguf/quantize.py`;
  return execFileSync('/usr/bin/python3', ['-B', script, model, type, file, ...options], { encoding: 'utf8' });
}

/** A BERT of two layers with four heads each, without what reads text; super-blocks have 256 numbers. */
const WIDTH = 256;
const small = join(folder, 'small');
mkdirSync(small);
const noise = (seed: number) => (i: number) => Math.sin(12.9898 * i + seed + 0.1 * Math.sin(i * i));
/** Its tensors, number i of the one at a place. */
const weights = (number: (at: number, i: number) => number) =>
  Object.fromEntries(
    [0, 1].flatMap((layer) =>
      ['query', 'key'].map((kind, k) => [
        `encoder.layer.${layer}.attention.self.${kind}.weight`,
        { shape: [WIDTH, WIDTH], value: (i: number) => number(2 * layer + k, i) },
      ]),
    ),
  );
writeFileSync(join(small, 'model.safetensors'), safetensorsOf(weights((at, i) => noise(at)(i))));
const sizes = { hidden_size: WIDTH, intermediate_size: 4 * WIDTH, num_hidden_layers: 2, num_attention_heads: 4 };
const CONFIG = { model_type: 'bert', ...sizes, max_position_embeddings: 64, layer_norm_eps: 1e-12 };
writeFileSync(join(small, 'config.json'), JSON.stringify(CONFIG));

const TYPES = ['F16', 'Q8_0', 'Q6_K', 'Q5_K', 'Q5_1', 'Q5_0', 'Q4_K', 'Q4_1', 'Q4_0', 'Q3_K', 'Q2_K'];
describe.each([...TYPES, 'IQ4_NL', 'IQ4_XS', 'MXFP4'])('%s', (type) => {
  test('moves W as far as numpy finds, and the spectrum less', () => {
    const file = join(folder, `${type}.gguf`);
    const { heads, type: kept } = JSON.parse(quantize(small, type, file, '--distances')) as Quantized;
    expect(kept).toBe(type);
    const found = json('head-drift', { changed: file }, small);
    expect(found.heads).toHaveLength(8);
    for (const [i, head] of found.heads.entries()) {
      expect([head.layer, head.head]).toEqual([heads[i].layer, heads[i].head]);
      expect(head.weight_distance).toBeCloseTo(heads[i].distance, 6);
      expect(head.spectrum_distance).toBeLessThanOrEqual(head.weight_distance);
      expect(head.spectrum_distance).toBeGreaterThan(0);
      const { spread } = found.measures[0];
      expect(head.mean_drift).toBeCloseTo((head.mean_changed - head.mean) / spread, 9);
    }
  });
});

test('a checkpoint beside itself has no drift, and each of its numbers is that of heads and attend', () => {
  const text = join(folder, 'text.txt');
  writeFileSync(text, 'The whale swam in the sea, and the men of the ship saw it. '.repeat(20));
  const options = { file: text, length: 64, passages: 2 };
  const found = json('head-drift', { changed: MINILM, ...options }, MINILM);
  const { heads } = json('heads', { length: 64 }, MINILM);
  const read = json('attend', options, MINILM).heads;
  expect(found.heads).toHaveLength(72);
  for (const [i, head] of found.heads.entries()) {
    expect(head.weight_distance).toBeLessThan(1e-7);
    for (const name of ['mean', 'variance', 'localization', 'spectral_norm', 'entropy', 'sink']) {
      const other = name === 'entropy' || name === 'sink' ? read[i] : heads[i];
      expect(head[name]).toBeCloseTo(other[name], 9);
      expect(head[`${name}_changed`]).toBe(head[name]);
      expect(head[`${name}_drift`]).toBe(0);
    }
  }
  for (const measure of found.measures) {
    expect([measure.rms_drift, measure.largest_drift, measure.rank_correlation]).toEqual([0, 0, 1]);
    expect(measure.spread).toBeGreaterThan(0);
  }
});

test('fewer bits move the heads of MiniLM further, and text is read from its GGUF', { timeout: 240_000 }, () => {
  const text = join(folder, 'text.txt');
  const drifts = ['Q8_0', 'Q5_0', 'Q4_0'].map((type) => {
    const file = join(folder, `MiniLM-${type}.gguf`);
    quantize(MINILM, type, file);
    const { measures } = json('head-drift', { changed: file, file: text, length: 64, passages: 2 }, MINILM);
    return Object.fromEntries(
      measures.map((it: { measure: string; rms_drift: number }) => [it.measure, it.rms_drift]),
    ) as Record<string, number>;
  });
  for (const name of Object.keys(drifts[0])) {
    const [eight, five, four] = drifts.map((it) => it[name]);
    expect(eight, name).toBeGreaterThan(0);
    expect(five, name).toBeGreaterThan(eight);
    expect(four, name).toBeGreaterThan(five);
    expect(eight, name).toBeLessThan(0.1);
  }
});

test('a head with NaN is left out and named, beside the rows of the others', () => {
  const changed = join(folder, 'nan');
  mkdirSync(changed);
  writeFileSync(
    join(changed, 'model.safetensors'),
    safetensorsOf(weights((at, i) => (at === 0 && i === 0 ? NaN : noise(at)(i)))),
  );
  writeFileSync(join(changed, 'config.json'), JSON.stringify(CONFIG));
  const { status, stdout, stderr } = run('head-drift', { changed }, small, '--csv');
  expect(status).toBe(0);
  expect(stdout.trim().split('\n')).toHaveLength(1 + 7);
  expect(stderr).toContain('left out layer 0 head 0: 1 NaN and 0 infinite weights');
});

/**
 * A LoRA adapter of rank 2 for the queries of layer 0, with other tensors beside it, and the same model with it merged
 * in.
 */
function adapter(rules: object, others: Parameters<typeof safetensorsOf>[0] = {}) {
  const [rank, scale] = [2, 3];
  const name = 'encoder.layer.0.attention.self.query';
  const inner = (i: number) => 0.1 * Math.cos(i);
  const outer = (i: number) => 0.1 * Math.sin(2 * i);
  const path = mkdtempSync(join(folder, 'adapter-'));
  const prefix = `base_model.model.bert.${name}`;
  const tensors = {
    [`${prefix}.lora_A.weight`]: { shape: [rank, WIDTH], value: inner },
    [`${prefix}.lora_B.weight`]: { shape: [WIDTH, rank], value: outer },
    ...others,
  };
  writeFileSync(join(path, 'adapter_model.safetensors'), safetensorsOf(tensors));
  const config = { peft_type: 'LORA', r: rank, lora_alpha: scale * rank, ...rules };
  writeFileSync(join(path, 'adapter_config.json'), JSON.stringify(config));
  const change = (i: number) => {
    const [row, column] = [Math.floor(i / WIDTH), i % WIDTH];
    const parts = [0, 1].map((k) => Math.fround(outer(row * rank + k)) * Math.fround(inner(k * WIDTH + column)));
    return scale * (parts[0] + parts[1]);
  };
  const merged = join(folder, 'merged.safetensors');
  writeFileSync(merged, safetensorsOf(weights((at, i) => noise(at)(i) + (at === 0 ? change(i) : 0))));
  return { path, merged };
}

test('a LoRA adapter changes heads as the model with it merged in, by its rank', () => {
  const { path, merged } = adapter({});
  const found = json('head-drift', { changed: path }, small);
  const expected = json('head-drift', { changed: merged, changed_config: join(small, 'config.json') }, small);
  expect(found.heads).toHaveLength(8);
  for (const [i, head] of found.heads.entries()) {
    expect(head.weight_distance).toBeCloseTo(expected.heads[i].weight_distance, 6);
    expect(head.mean_changed).toBeCloseTo(expected.heads[i].mean_changed, 5);
    expect(head.change_rank).toBe(head.layer === 0 ? 2 : 0);
    expect(expected.heads[i].change_rank).toBeNull();
  }
  expect(found.heads[0].weight_distance).toBeGreaterThan(1e-4);
});

test('whole tensors of an adapter stand in the place of those of its model, or beside them', () => {
  const trained = { modules_to_save: ['score'] };
  const rows = 'base_model.model.bert.encoder.layer.1.attention.self.key.weight';
  const key = { [rows]: { shape: [WIDTH, WIDTH], value: noise(5) } };
  const head = { 'base_model.model.score.weight': { shape: [2, WIDTH], value: noise(6) } };
  const heads = (at: ReturnType<typeof adapter>) => json('head-drift', { changed: at.path }, small).heads;
  const plain = heads(adapter({}));
  expect(heads(adapter(trained, head))).toEqual(plain);
  const replaced = heads(adapter({}, key));
  for (const [i, { layer, mean_changed: mean }] of plain.entries()) {
    if (layer === 1) expect(replaced[i].mean_changed).not.toBe(mean);
    else expect(replaced[i].mean_changed).toBe(mean);
  }
  // PEFT writes the bias of a layer that it wraps under another name.
  const biased = (name: string) =>
    heads(
      adapter({ modules_to_save: ['key'] }, { [`${rows.slice(0, -7)}.${name}`]: { shape: [WIDTH], value: noise(7) } }),
    );
  expect(biased('base_layer.bias')).toEqual(biased('bias'));
  const refusal = (at: ReturnType<typeof adapter>) => run('head-drift', { changed: at.path }, small).stderr;
  const vision = { [rows.replace('bert', 'vision_tower.bert')]: key[rows]! };
  expect(refusal(adapter({}, vision))).toContain('vision_tower');
  expect(refusal(adapter({}, head))).toContain('base_model.model.score.weight: an adapter must have');
  expect(refusal(adapter({}, { [rows]: { shape: [WIDTH, 2], value: noise(5) } }))).toContain(`${rows}: its shape`);
  const delta = rows.replace('weight', 'lora_magnitude_vector.weight');
  expect(refusal(adapter({}, { [delta]: { shape: [WIDTH], value: noise(5) } }))).toContain('an adapter must have');
});

test('a folder with an adapter of older versions of PEFT is one', () => {
  const { path } = adapter({});
  rmSync(join(path, 'adapter_model.safetensors'));
  writeFileSync(join(path, 'adapter_model.bin'), 'weights');
  const { stderr } = run('head-drift', { changed: path }, small);
  expect(stderr).toContain('adapter_model.bin: it is plain text');
});

test('a factor of alpha_pattern is that of the layers that its key names', () => {
  const heads = (rules: object) => json('head-drift', { changed: adapter(rules).path }, small).heads;
  const byLayer = (key: string) => heads({ lora_alpha: 1, alpha_pattern: { [key]: 6 } });
  const plain = heads({});
  expect(byLayer('layer.0.attention.self.query')).toEqual(plain);
  expect(byLayer('layer.1.attention.self.query')).toEqual(heads({ lora_alpha: 1 }));
  expect(heads({ lora_alpha: 1 })).not.toEqual(plain);
});

test('an adapter that is no plain LoRA is refused by the key that says so', () => {
  const pattern = adapter({ alpha_pattern: { '.*query': 4 } }).path;
  expect(run('head-drift', { changed: pattern }, small).stderr).toContain(
    "alpha_pattern: its keys must be ends of names of modules, but '.*query' is a regular expression",
  );
  expect(run('head-drift', { changed: adapter({ init_lora_weights: 'orthogonal' }).path }, small).status).toBe(0);
  for (const rules of [{ init_lora_weights: 'pissa' }, { use_qalora: true }, { lora_bias: true }, { r: 3 }]) {
    const [key] = Object.keys(rules);
    const { stderr } = run('head-drift', { changed: adapter(rules).path }, small);
    expect(stderr).toContain(key === 'r' ? "as 'r' in adapter_config.json says, 3" : `${key}: it must`);
  }
  const other = adapter({ peft_type: 'LOHA' });
  const factors = { 'base_model.model.bert.x.hada_w1_a': { shape: [2, WIDTH], value: noise(8) } };
  writeFileSync(join(other.path, 'adapter_model.safetensors'), safetensorsOf(factors));
  expect(run('head-drift', { changed: other.path }, small).stderr).toContain(
    "peft_type: it must be LORA, but is 'LOHA'",
  );
  const { path } = adapter({ use_dora: true });
  const { status, stderr } = run('head-drift', { changed: path }, small);
  expect(status).not.toBe(0);
  expect(stderr).toContain("query.lora_magnitude_vector: it must have 256 numbers, as 'use_dora' is true");
  expect(run('heads', {}, path).stderr).toContain('unsupported: an adapter');
});

test('checkpoints with other heads are refused', () => {
  const { status, stderr } = run('head-drift', { changed: MINILM }, small);
  expect(status).toBe(2);
  expect(stderr).toContain(
    '--changed must have the heads of the model, layer by layer and of the same width: 72 heads in 6 layers',
  );
  expect(run('head-drift', {}, small).stderr).toContain('--changed must be given');
  expect(run('head-drift', { changed: join(folder, 'none.gguf') }, small).stderr).toContain('no such file');
});

test('notes of both checkpoints are told, and that they are of two families', () => {
  const shape = [8, 8];
  const layer = (query: string, key: string) =>
    safetensorsOf({ [query]: { shape, value: noise(1) }, [key]: { shape, value: noise(2) } });
  const files = {
    bert: layer('encoder.layer.0.attention.self.query.weight', 'encoder.layer.0.attention.self.key.weight'),
    foo: layer('model.layers.0.self_attn.q_proj.weight', 'model.layers.0.self_attn.k_proj.weight'),
  };
  const [model, changed] = Object.entries(files).map(([type, tensors]) => {
    const path = join(folder, type);
    mkdirSync(path);
    writeFileSync(join(path, 'model.safetensors'), tensors);
    const config = { model_type: type, hidden_size: 8, num_attention_heads: 2, num_hidden_layers: 1 };
    writeFileSync(join(path, 'config.json'), JSON.stringify(config));
    return path;
  });
  const { status, stderr } = run('head-drift', { changed }, model!);
  expect(status).toBe(0);
  expect(stderr).toMatch(/of `changed`: the conventions of the model are not known: .*'foo'/);
  expect(stderr).toContain('the checkpoints are of two families, BERT and LLaMA');
});

/** A quantized weight of tests/reference/quantized-weights.json: what is stored, and its values by numpy. */
interface StoredWeight {
  name: string;
  config: string;
  shape: [rows: number, columns: number];
  tensors: { name: string; dtype: string; shape: number[]; bytes: string }[];
  values: number[];
}
const { cases } = JSON.parse(readFileSync(`${root}tests/reference/quantized-weights.json`, 'utf8')) as {
  cases: StoredWeight[];
};

/** A .safetensors file of tensors as they are stored. */
function storedFile(tensors: StoredWeight['tensors']): Buffer {
  const data = tensors.map(({ bytes }) => Buffer.from(bytes, 'hex'));
  let end = 0;
  const entries = tensors.map(({ name, dtype, shape }, i) => [
    name,
    { dtype, shape, data_offsets: [end, (end += data[i]!.length)] },
  ]);
  const text = Buffer.from(JSON.stringify(Object.fromEntries(entries)));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, ...data]);
}

/** A tensor in 32 bits, as those of the reference. */
const floats = (name: string, shape: number[], values: number[]) => ({
  name,
  dtype: 'F32',
  shape,
  bytes: Buffer.from(Float32Array.from(values).buffer).toString('hex'),
});

describe.each(cases)('queries in $name', ({ config, shape, tensors, values }) => {
  test('are as far from those before as their values by numpy', () => {
    const [rows, columns] = shape;
    const width = rows / 2; // of two heads
    const prefix = 'model.layers.0.';
    const keys = values.map((_, i) => noise(3)(i));
    const before = values.map((value, i) => Math.fround(value + 0.1 * noise(5)(i) * Math.abs(value)));
    const others = [
      floats(`${prefix}self_attn.k_proj.weight`, shape, keys),
      floats(`${prefix}input_layernorm.weight`, [columns], Array(columns).fill(1)),
    ];
    const place = mkdtempSync(join(folder, 'stored-'));
    const sizes = { hidden_size: columns, num_attention_heads: 2, num_key_value_heads: 2, head_dim: width };
    const write = (name: string, query: StoredWeight['tensors'], extra: object) => {
      const path = join(place, name);
      mkdirSync(path);
      writeFileSync(join(path, 'model.safetensors'), storedFile([...query, ...others]));
      writeFileSync(join(path, 'config.json'), JSON.stringify({ model_type: 'llama', ...sizes, ...extra }));
      return path;
    };
    const query = floats(`${prefix}self_attn.q_proj.weight`, shape, before);
    const changed = write('changed', tensors, JSON.parse(config));
    const found = json('head-drift', { changed }, write('before', [query], {}));
    expect(found.heads).toHaveLength(2);
    for (const [h, head] of found.heads.entries()) {
      // W = W_Q^T W_K of the head, from its rows.
      const norms = [0, 0];
      for (let i = 0; i < columns; ++i) {
        for (let j = 0; j < columns; ++j) {
          const entries = [0, 0];
          for (let row = h * width; row < (h + 1) * width; ++row) {
            const key = Math.fround(keys[row * columns + j]!);
            const first = before[row * columns + i]!;
            entries[0] += first * key;
            entries[1] += (values[row * columns + i]! - first) * key;
          }
          norms[0] += entries[0] ** 2;
          norms[1] += entries[1] ** 2;
        }
      }
      expect(head.weight_distance).toBeCloseTo(Math.sqrt(norms[1]! / norms[0]!), 5);
    }
  });
});
