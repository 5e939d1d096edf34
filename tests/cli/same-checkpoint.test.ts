// What a checkpoint's heads are and do: the same numbers in a terminal and in a browser tab.
import {
  openSync,
  readFileSync,
  readSync,
  statSync,
  writeFileSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type {
  ByteSource,
  CheckpointFiles,
  Head,
  Input,
  NativeEngine,
} from '../../web/engine/protocol.ts';
import operations from '../../web/generated/operations.json';
import { LLAMA, LLAMA_CONFIG, safetensorsOf, shardsOf } from '../checkpoints.ts';
import { engine, finish, json, MINILM, root } from './eigenscope.ts';

/** A file as the page's worker gives it to the engine. */
function source(path: string): Blob {
  const file = openSync(path, 'r');
  const found: ByteSource = {
    name: path,
    size: statSync(path).size,
    read(offset, length) {
      const bytes = new Uint8Array(length);
      return readSync(file, bytes, 0, length, offset) === length ? bytes : 'it is too short';
    },
  };
  return found as unknown as Blob;
}

const folder = mkdtempSync(join(tmpdir(), 'eigenscope-same-'));
afterAll(() => rmSync(folder, { recursive: true }));
const text = readFileSync(`${root}README.md`);
const prose = join(folder, 'prose.txt');
writeFileSync(prose, text);

/** The heads as the page asks for them. */
const PLAIN = { eigenvalues: true };

let native: NativeEngine;
let files: CheckpointFiles;
beforeAll(async () => {
  native = await engine();
  files = {
    model: [source(`${MINILM}/model.fp16.safetensors`)],
    index: null,
    config: source(`${MINILM}/config.json`),
    tokenizer: source(`${MINILM}/tokenizer.json`),
  };
});

/** Equal to what single precision leaves of many layers; null is NaN. */
function expectNear(wasm: ArrayLike<number>, terminal: (number | null)[], error: number) {
  expect(wasm.length).toBe(terminal.length);
  terminal.forEach((value, i) => {
    if (value === null) expect(wasm[i]).toBeNaN();
    else expect(Math.abs(wasm[i]! - value)).toBeLessThan(error * (1 + Math.abs(value)));
  });
}

const COMPARED = ['xi', 'eta_s', 'eta_f', 'variance_modulus', 'localization'] as const;

function expectSameHeads(
  wasm: Pick<Head, (typeof COMPARED)[number]>[],
  terminal: Record<string, number | null>[],
  error = 1e-9,
) {
  expect(wasm.length).toBeGreaterThan(0);
  for (const name of COMPARED) {
    const column = terminal.map((head) => head[name]!);
    expectNear(
      wasm.map((head) => head[name] ?? NaN),
      column,
      error,
    );
  }
}

test('the heads of a file', () => {
  const tokens = { length: 40, tokens: 'ar1' as const, correlation: 0.7 };
  const { tokenizer: _, ...weights } = files;
  const terminal = json('heads', tokens, MINILM).heads;
  const { heads } = finish(native, 'heads', { ...weights, ...tokens, ...PLAIN });
  expectSameHeads(heads, terminal);
});

test('a sharded LLaMA by options and by names', () => {
  const shards = join(folder, 'shards');
  mkdirSync(shards);
  for (const { name, buffer } of shardsOf(LLAMA)) writeFileSync(join(shards, name), buffer);
  const config = join(shards, 'config.json');
  writeFileSync(config, LLAMA_CONFIG);
  const at = (name: string) => source(join(shards, name));
  const named = shardsOf(LLAMA).map(({ name }) => name);
  const model = named.filter((name) => name.endsWith('.safetensors')).map(at);
  const given = { model, index: at(named.at(-1)!), config: source(config) };
  const tokens = { length: 12, tokens: 'ar1' as const, correlation: 0.7 };
  const query = 'model.layers.{n}.self_attn.q_proj.weight';
  const key = query.replace('q_proj', 'k_proj');
  const cases: [Record<string, string | number>, Partial<Input<'heads'>>][] = [
    [{}, {}],
    [
      { fold_gains: 'no', offset: 3 },
      { fold_gains: 'no', offset: 3 },
    ],
    [{}, { average: true }],
    [{ frame: 'embeddings' }, { frame: 'embeddings' }],
    [
      { map_query: query, map_key: key, heads: 2, key_heads: 1 },
      { map_query: query, map_key: key, heads: '2', key_heads: 1 },
    ],
  ];
  const seen = new Set<number>();
  for (const [options, asked] of cases) {
    const flags = asked.average ? ['--average'] : [];
    const terminal = json('heads', { ...tokens, ...options }, shards, ...flags).heads;
    const { heads } = finish(native, 'heads', { ...given, ...tokens, ...PLAIN, ...asked });
    expect(heads.map(({ folded }) => folded)).toEqual(
      terminal.map(({ folded }: { folded: string }) => folded),
    );
    expectSameHeads(heads, terminal);
    seen.add(heads[0]!.xi);
  }
  expect(seen.size).toBe(cases.length); // each option changes something
  const few = { ...given, model: model.slice(1) };
  expect(() => native.createJob('heads', { ...few, ...tokens, ...PLAIN })).toThrow(
    `${named[0]}: it is missing; ${join(shards, named.at(-1)!)} names it`,
  );
  const list = finish(native, 'tensors', given);
  expect(list).toEqual({ known: true, names: Object.keys(LLAMA).sort() });
});

test('a wide LLaMA in BF16, whose products are formed in single precision', () => {
  const wide = Object.fromEntries(
    Object.entries(LLAMA).map(([name, { shape, value }]) => [
      name,
      { shape: [...shape.slice(0, -1), 1100], value },
    ]),
  );
  const path = join(folder, 'wide.safetensors');
  writeFileSync(path, safetensorsOf(wide, 'BF16'));
  const config = join(folder, 'wide.json');
  writeFileSync(config, JSON.stringify({ ...JSON.parse(LLAMA_CONFIG), hidden_size: 1100 }));
  const tokens = { length: 12, tokens: 'ar1' as const, correlation: 0.7 };
  const terminal = json('heads', { ...tokens, config, offset: 5 }, path).heads;
  const given = { model: [source(path)], index: null, config: source(config) };
  const { heads } = finish(native, 'heads', { ...given, ...tokens, ...PLAIN, offset: 5 });
  expectSameHeads(heads, terminal);
});

test('what every head does on a text', () => {
  const sentence = 'The whale swam, and Ahab cursed it.';
  const terminal = json('attend', { text: sentence }, MINILM, '--weights');
  const asked = { ...files, text: sentence, length: 128 };
  const found = finish(native, 'attend', { ...asked, weights: true });
  expect(found.passages[0]!.tokens).toEqual(terminal.passages[0].tokens);
  expect([...found.passages[0]!.ids]).toEqual(terminal.passages[0].ids);
  expect(found.text_passages).toBe(1);
  expect(found.heads).toHaveLength(72);
  const near = (rows: object[], others: Record<string, number | null>[]) => {
    expect(rows).toHaveLength(others.length);
    rows.forEach((row, i) => {
      expect(Object.keys(row)).toEqual(Object.keys(others[i]!));
      expectNear(Object.values(row) as number[], Object.values(others[i]!), 1e-4);
    });
  };
  near(found.heads, terminal.heads);
  near(found.layers, terminal.layers);
  expect(found.weights).toHaveLength(72);
  found.weights.forEach(({ layer, head, weights }, i) => {
    const other = terminal.weights[i];
    expect([layer, head]).toEqual([other.layer, other.head]);
    expectNear(weights, other.weights.flat(), 1e-4);
  });
  const cut = finish(native, 'attend', { ...asked, length: 5, passages: 1 });
  expect(cut.text_passages).toBe(4);
  expect(cut.passages).toHaveLength(1);
  expect(cut.passages[0]!.tokens).toEqual(['[CLS]', 'the', 'whale', 'swam', '[SEP]']);
  expect(cut.weights).toEqual([]);
});

test('a length above the longest of the model is refused, or shortened where asked for', () => {
  const asked = { ...files, text: 'The whale swam.', length: 600 };
  expect(() => native.createJob('attend', asked)).toThrow(/length: 600 .* at most 512 tokens/);
  const { passages } = finish(native, 'attend', { ...asked, fit_length: true });
  expect(passages[0]!.tokens).toHaveLength(6);
});

test('predictions, level by level', { timeout: 180_000 }, () => {
  const asked = { length: 48, passages: 2, queries: 40, resamples: 50, seed: 5 };
  const terminal = json('predict', { ...asked, file: prose }, MINILM);
  const { length, passages, seed } = asked;
  const both = { length, passages, seed };
  const drawn = finish(native, 'passages', { ...files, ...both, file: new Uint8Array(text) });
  expect(drawn.same_text).toBe(true);
  expect([drawn.length, drawn.leading, drawn.trailing]).toEqual([48, 1, 1]);
  expect(json('passages', { ...both, file: prose }, MINILM)).toEqual({
    ...{ length: 48, leading: 1, trailing: 1, same_text: true },
    ids: [0, 1, 2, 3].map((i) => [...drawn.ids.slice(48 * i, 48 * (i + 1))]),
  });
  const found = finish(native, 'predict', { ...files, ...asked, ...drawn });
  expect(Object.keys(found)).toEqual(Object.keys(terminal));
  for (const [name, values] of Object.entries(found)) {
    if (values instanceof Float64Array) expectNear(values, terminal[name].flat(), 1e-4);
  }
  const { name, verdict } = operations.predict.names;
  expect([...found.name].map((k) => name[k])).toEqual(terminal.name);
  expect([...found.verdict].map((k) => verdict[k])).toEqual(terminal.verdict);
  expect(found.profiles).toHaveLength(72);
  found.profiles.forEach(({ measured, gaussian }, i) => {
    expect(measured).toHaveLength(24);
    expectNear(measured, terminal.profiles[i].measured, 1e-4);
    expectNear(gaussian, terminal.profiles[i].gaussian, 1e-4);
  });
  expect(found.rotary_decay).toBe(terminal.rotary_decay);
  expect(found.summary).toHaveLength(13);
  found.summary.forEach(({ name: own, ...row }, i) => {
    const { name: other, ...numbers } = terminal.summary[i];
    expect(own).toBe(other);
    expect(Object.keys(row)).toEqual(Object.keys(numbers));
    // Ranks of heads that are nearly equal may change places.
    expectNear(
      Object.values(row).map((it) => it ?? NaN),
      Object.values(numbers),
      2e-3,
    );
  });
  // Divided among workers it gives the same.
  const drawnIds = { ...files, ...asked, ...drawn };
  const ended = (number: number, given: Uint8Array[]) => {
    const job = native.createShare('predict', drawnIds, number, given);
    while (!job.advance(1e7));
    return job;
  };
  const shares = [0, 1].map((number) => ended(number, []).found());
  expect(ended(-1, shares).output()).toEqual(found);
  for (const [number, given] of [
    [2, []],
    [-1, shares.slice(1)],
    [-1, shares.map((it) => it.subarray(1))],
  ] as const) {
    expect(() => native.createShare('predict', drawnIds, number, [...given])).toThrow(/shares: /);
  }
  // Ids and texts exclude each other, and must be as many as they are said to be.
  expect(() => native.createJob('predict', { ...drawnIds, file: new Uint8Array(text) })).toThrow(
    /ids: give either passages as ids or texts, not both/,
  );
  expect(() => native.createJob('predict', { ...drawnIds, passages: 3 })).toThrow(
    /ids: they must be one, two or three times 3 passages of 48 tokens/,
  );
  // The text itself gives the same as the passages that were drawn from it.
  expect(finish(native, 'predict', { ...files, ...asked, file: new Uint8Array(text) })).toEqual(
    found,
  );
});

test('the spectra with the covariance of each layer, on a text and on random tokens', () => {
  const drawn = { length: 48, passages: 2, seed: 5 };
  const { tokenizer: _, ...weights } = files;
  const first: number[] = [];
  for (const file of [new Uint8Array(text), null]) {
    const terminal = json('layer-spectra', { ...drawn, ...(file && { file: prose }) }, MINILM);
    const { ids, leading, trailing } = finish(native, 'passages', {
      ...{ ...files, ...drawn },
      ...(file && { file }),
    });
    const own = { ids: [...ids.subarray(0, drawn.passages * drawn.length)], leading, trailing };
    const { heads } = finish(native, 'layer-spectra', { ...weights, ...drawn, ...own });
    expectSameHeads(heads, terminal.heads, 1e-4); // states of single precision
    const given = { ...drawn, leading, trailing, ids: own.ids.join() };
    expect(json('layer-spectra', given, MINILM)).toEqual(terminal);
    const direct = finish(native, 'layer-spectra', { ...files, ...drawn, ...(file && { file }) });
    expect(direct.heads).toEqual(heads);
    first.push(heads[0]!.xi);
  }
  expect(Math.abs(first[0]! / first[1]! - 1)).toBeGreaterThan(1e-3);
});

test('the simulated rows of the heads, and text that a model samples itself', () => {
  const rows = { samples: 20, length: 12, seed: 3 };
  const { tokenizer: _, ...weights } = files;
  const entropies = (heads: { entropy?: number | null }[]) => heads.map((it) => it.entropy ?? NaN);
  const { heads } = finish(native, 'heads', { ...weights, ...rows, measures: true });
  const terminal = json('heads', rows, MINILM, '--measures');
  expectNear(entropies(heads), entropies(terminal.heads), 1e-9);
  const sampled = { tokens_law: 'sampled' as const, length: 12, passages: 1, seed: 3 };
  expect(() => finish(native, 'passages', { ...files, ...sampled })).toThrow(
    'tokens_law: sampled needs a language model',
  );
});

test('text asks for all three files', () => {
  for (const name of ['config', 'tokenizer'] as const) {
    const job = () => native.createJob('attend', { ...files, [name]: null, text: 'a', length: 9 });
    expect(job).toThrow(`${name}.json: it is missing`);
  }
});
