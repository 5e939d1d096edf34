// What a checkpoint's heads are and do: the same numbers in a terminal and in a browser tab.
import { writeFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { CheckpointFiles, Head, Input, NativeEngine, Output } from '../../web/engine/protocol.ts';
import operations from '../../web/generated/operations.json';
import { LLAMA, LLAMA_CONFIG, llamaGguf, safetensorsOf, shardsOf } from '../checkpoints.ts';
import { engine, expectRefused, finish, json, MINILM, pages, raw, run, source, temporaryFolder } from './eigenscope.ts';

const folder = temporaryFolder();
const text = pages();
const prose = join(folder, 'prose.txt');
writeFileSync(prose, text);

interface Measured {
  measure: string;
}

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

/** All numbers of a result, in its order. */
function numbersIn(value: unknown): (number | null)[] {
  if (value === null || typeof value === 'number') return [value];
  return typeof value === 'object' ? Object.values(value).flatMap(numbersIn) : [];
}

/** The same of two results. */
function expectAlike(wasm: unknown, terminal: unknown, error: number) {
  const numbers = numbersIn(wasm).map((it) => it ?? NaN);
  expectNear(numbers, numbersIn(terminal), error);
}

const COMPARED = [
  ...(['xi', 'eta_s', 'eta_f', 'variance_modulus', 'localization'] as const),
  ...(['components', 'spectral_norm', 'symmetric_share', 'directionality', 'logit_bound'] as const),
] as const;

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
  const given = { ...weights, ...tokens, ...PLAIN };
  const { heads } = finish(native, 'heads', given);
  expectSameHeads(heads, terminal);
  // Divided among workers, each of which has half of the layers, they are the same, from the first on.
  const ready = new Set<number>();
  const parts = [0, 1].flatMap((number) => {
    const job = native.createPartition('heads', given, number, []);
    const rows = () => (job.output() as { heads: typeof heads }).heads;
    while (!job.advance(1)) ready.add(rows().length);
    return rows();
  });
  expect(parts).toEqual(heads);
  expect([...ready]).toContain(1);
  const plain = finish(native, 'heads', { ...given, directionality: 'no' }).heads;
  expect(plain).toEqual(heads.map((head) => ({ ...head, directionality: null })));
});

test('rotary circuits, of a safetensors file and of its GGUF, whose rows are in another order', () => {
  const weights = join(folder, 'rotary.safetensors');
  const gguf = join(folder, 'rotary.gguf');
  const config = join(folder, 'config.json');
  writeFileSync(weights, safetensorsOf(LLAMA));
  writeFileSync(gguf, llamaGguf());
  writeFileSync(config, LLAMA_CONFIG);
  const [terminal, converted] = [weights, gguf].map(
    (path) => json('rotary-circuits', { length: 5, config }, path).heads,
  );
  const { heads } = finish(native, 'rotary-circuits', {
    model: [source(weights)],
    index: null,
    config: source(config),
    length: 5,
  });
  expect(heads).toHaveLength(2);
  const CURVES = ['mean', 'variance', 'variance_frobenius', 'logit', 'angle', 'query_energy', 'key_energy'] as const;
  heads.forEach((head, i) => {
    for (const name of CURVES) {
      expectNear(head[name], terminal[i][name], 1e-9);
      expectNear(converted[i][name], terminal[i][name], 1e-9);
    }
    expect(head.logit).toHaveLength(5);
    expect(new Set(head.logit).size).toBe(5);
    expect(head.previous_token).toBeCloseTo(terminal[i].previous_token, 9);
    expect([head.width, head.head_width]).toEqual([terminal[i].width, terminal[i].head_width]);
  });
  expectRefused(raw('rotary-circuits', MINILM), 'no head has rotary positions', 1);
  const unknown = join(folder, 'unknown-type.json');
  writeFileSync(unknown, LLAMA_CONFIG.replace('"llama"', '"unlisted"'));
  const lacking =
    "have rotary positions that are known at distances above 0: the tensors have the names of LLaMA, but 'model_type' is 'unlisted'";
  expectRefused(raw('rotary-circuits', '--config', unknown, weights), lacking);
  // The scan turns queries itself.
  for (const distance of [1, 4]) {
    const scanned = json('heads', { offset: distance, config }, weights).heads;
    scanned.forEach((head: { mean: number; variance: number; variance_frobenius: number }, i: number) => {
      for (const name of ['mean', 'variance', 'variance_frobenius'] as const) {
        expect(terminal[i][name][distance]).toBeCloseTo(head[name], 9);
      }
    });
  }
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
    expect(heads.map(({ folded }) => folded)).toEqual(terminal.map(({ folded }: { folded: string }) => folded));
    expectSameHeads(heads, terminal);
    seen.add(heads[0]!.xi);
  }
  expect(seen.size).toBe(cases.length); // each option changes something
  const few = { ...given, model: model.slice(1) };
  expect(() => native.createJob('heads', { ...few, ...tokens, ...PLAIN })).toThrow(
    `${named[0]}: it is missing; ${join(shards, named.at(-1)!)} names it`,
  );
  const list = finish(native, 'tensors', given);
  expect(list).toEqual({ known: true, pictures: false, stacks: [], names: Object.keys(LLAMA).sort(), unknown: [] });
});

test('a wide LLaMA in BF16, whose products are formed in single precision', () => {
  const wide = Object.fromEntries(
    Object.entries(LLAMA).map(([name, { shape, value }]) => [name, { shape: [...shape.slice(0, -1), 1100], value }]),
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

test('the drift of heads between two checkpoints', () => {
  const [plain, moved] = [0, 0.05].map((change, i) => {
    const path = join(folder, `drift-${i}.safetensors`);
    const changed = Object.entries(LLAMA).map(([name, { shape, value }]) => [
      name,
      { shape, value: (k: number) => value(k) + change * Math.cos(7 * k) },
    ]);
    writeFileSync(path, safetensorsOf(Object.fromEntries(changed)));
    return path;
  });
  const config = join(folder, 'drift.json');
  writeFileSync(config, LLAMA_CONFIG);
  const options = { changed: moved, config, changed_config: config, length: 12 };
  const terminal = json('head-drift', options, plain);
  const found = finish(native, 'head-drift', {
    model: [source(plain)],
    index: null,
    config: source(config),
    tokenizer: null,
    changed: [source(moved)],
    changed_index: null,
    changed_config: source(config),
    length: 12,
  });
  expect(found.heads).toHaveLength(2);
  found.heads.forEach(({ stack, ...head }, i) => {
    const { stack: other, ...numbers } = terminal.heads[i];
    expect(stack).toBe(other);
    expect(Object.keys(head)).toEqual(Object.keys(numbers));
    expectAlike(head, numbers, 1e-9);
    expect(head.weight_distance).toBeGreaterThan(0.001);
  });
  expect(found.measures.map(({ measure }) => measure)).toEqual(terminal.measures.map((it: Measured) => it.measure));
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
      expectAlike(row, others[i], 1e-4);
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

test('heads that are switched off change the outcome in both, and others are refused', () => {
  const sentence = 'The whale swam.';
  const asked = { ...files, text: sentence, length: 128 };
  for (const [ablate, ablation] of [
    ['2.5,0.1', 'mean'],
    ['each', 'zero'],
  ] as const) {
    const terminal = json('attend', { text: sentence, ablate, ablation }, MINILM);
    const found = finish(native, 'attend', { ...asked, ablate, ablation });
    expect([found.outcome, found.loss, found.predictions]).toEqual(['embedding', null, []]);
    expect([terminal.outcome, terminal.loss, terminal.predictions]).toEqual(['embedding', null, []]);
    const changes = (it: { output_change: number | null; heads: { output_change: number | null }[] }) =>
      ablate === 'each' ? it.heads.map((head) => head.output_change) : [it.output_change];
    expectNear(changes(found).map(Number), changes(terminal).map(Number), 1e-4);
    expect(Math.min(...changes(terminal).map(Number))).toBeGreaterThan(0);
  }
  const refused = (ablate: string, message: RegExp) =>
    expectRefused(run('attend', { text: 'a', ablate }, MINILM), message);
  refused('6.0', /ablate must name heads from 0\.0 to 5\.11 as layer\.head: found 6\.0/);
  refused('1', /ablate must be heads as layer\.head, separated by commas, or each: found '1'/);
});

test('a length above the longest of the model is refused, or shortened where asked for', () => {
  const asked = { ...files, text: 'The whale swam.', length: 600 };
  expect(() => native.createJob('attend', asked)).toThrow(/length must be at most 512, .*: found 600/);
  const { passages } = finish(native, 'attend', { ...asked, fit_length: true });
  expect(passages[0]!.tokens).toHaveLength(6);
});

test('predictions, level by level', { timeout: 180_000 }, () => {
  const asked = { length: 48, passages: 2, queries: 40, resamples: 50, seed: 5 };
  const terminal = json('predict', { ...asked, file: prose }, MINILM);
  const given = { ...files, ...asked, file: new Uint8Array(text) };
  const found = finish(native, 'predict', given);
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
  expect([found.length, found.rotary_decay]).toEqual([terminal.length, terminal.rotary_decay]);
  expect(found.expectations).toHaveLength(4 + 8 + 8);
  found.expectations.forEach(({ metric, quantity, measured, ...row }, i) => {
    const { metric: where, quantity: what, measured: which, ...numbers } = terminal.expectations[i];
    expect([metric, quantity, measured]).toEqual([where, what, which]);
    expect(Object.keys(row)).toEqual(Object.keys(numbers));
    expectAlike(row, numbers, 2e-3);
  });
  expect(found.summary).toHaveLength(13);
  found.summary.forEach(({ name: own, ...row }, i) => {
    const { name: other, ...numbers } = terminal.summary[i];
    expect(own).toBe(other);
    expect(Object.keys(row)).toEqual(Object.keys(numbers));
    // Ranks of heads that are nearly equal may change places.
    expectAlike(row, numbers, 2e-3);
  });
  // Divided among workers it gives the same.
  const ended = (number: number, parts: Uint8Array[]) => {
    const job = native.createPartition('predict', given, number, parts);
    while (!job.advance(1e7));
    return job;
  };
  const shares = [0, 1].map((number) => ended(number, []).found());
  expect(ended(-1, shares).output()).toEqual(found);
  for (const [number, parts] of [
    [2, []],
    [-1, shares.slice(1)],
    [-1, shares.map((it) => it.subarray(1))],
  ] as const) {
    expect(() => native.createPartition('predict', given, number, [...parts])).toThrow(/partitions must /);
  }
});

test('the labs on a checkpoint and a text', { timeout: 60_000 }, () => {
  const drawn = { length: 16, passages: 2, seed: 5 };
  const given = { ...files, ...drawn, file: new Uint8Array(text) };
  const sinks = json('attention-sinks', { ...drawn, sink_threshold: 0.3, file: prose }, MINILM);
  const found = finish(native, 'attention-sinks', { ...given, sink_threshold: 0.3 });
  expect(found.rows.map(({ change }) => change)).toEqual(sinks.rows.map((it: { change: string }) => it.change));
  expect([found.heads.length, found.layers.length]).toEqual([72, 6]);
  for (const name of ['rows', 'heads', 'layers', 'between_passages'] as const) {
    expectAlike(found[name], sinks[name], 2e-3);
  }
  const explained = json('attention-explanation', { ...drawn, file: prose }, MINILM);
  const own = finish(native, 'attention-explanation', given);
  expect(own.rows.map(({ explanation }) => explanation)).toEqual(
    explained.rows.map((it: { explanation: string }) => it.explanation),
  );
  expect(own.nulls).toHaveLength(4);
  expectAlike([own.change_dropped, own.change_masked], [explained.change_dropped, explained.change_masked], 1e-4);
  // Ranks of tokens and heads that are nearly equal may change places.
  for (const name of ['rows', 'heads', 'traits'] as const) expectAlike(own[name], explained[name], 5e-2);
  for (const name of ['value_correlation', 'value_in_layers', 'value_p'] as const) {
    expectAlike(found[name], sinks[name], 5e-2);
  }
  expect(() => finish(native, 'attention-sinks', { ...files, ...drawn })).toThrow('file must be given');
  expect(raw('attention-sinks', MINILM).stderr).toContain('--file must be given');
  expect(() => finish(native, 'attention-explanation', { ...given, length: 5 })).toThrow(
    /length must leave room for 4 content tokens/,
  );
});

test('a head after surgery, prepared once, is at each dose as among all heads', { timeout: 180_000 }, () => {
  const asked = { length: 40, passages: 2, queries: 8, seed: 5 };
  interface Row extends Record<string, number | string> {
    surgery: string;
  }
  const { rows }: { rows: Row[] } = json('head-surgery', { ...asked, draws: 1, file: prose }, MINILM);
  expect(rows).toHaveLength(72 * 50);
  const one = { ...asked, head: '2.3', text: 'The whale swims.' };
  const onHead = { ...files, ...one, file: new Uint8Array(text) };
  const ended = (given: object, number: number, parts: Uint8Array[]) => {
    const job = native.createPartition('edit-head', given, number, parts);
    while (!job.advance(1e8));
    return job;
  };
  const parts = [ended(onHead, 0, []).found()];
  const editedBy = (doses: object) => ended({ ...doses, model: [] }, -1, parts).output() as Output<'edit-head'>;
  const fields = ['entropy', 'sink', 'localization'].flatMap((it) => [`predicted_${it}`, `measured_${it}`]);
  for (const [surgery, dose] of [
    ['mean', 0.5],
    ['mean', -1],
    ['shrink', 0.9],
  ] as const) {
    const found = editedBy({ [surgery === 'mean' ? 'added_mean' : 'shrunk']: dose });
    for (const [i, [kind, at]] of [['none', 0] as const, [surgery, dose] as const].entries()) {
      const row = rows.find((it) => it.layer === 2 && it.head === 3 && it.surgery === kind && it.dose === at)!;
      const own = fields.map((field) => Number(found.rows[i]![field as 'size']));
      // The inverse of the keys' covariance enlarges rounding.
      expectNear(
        own,
        fields.map((field) => Number(row[field])),
        1e-2,
      );
    }
  }
  const { tokens, weights } = editedBy({ added_mean: 0.5, shrunk: 0.5 });
  expect(weights).toHaveLength(tokens.length ** 2);
  const printed = json('edit-head', { ...one, added_mean: 0.5, shrunk: 0.5, file: prose }, MINILM);
  expect(tokens).toEqual(printed.tokens);
  expectNear(weights, printed.weights.flat(), 5e-2);
  expect(() => native.createPartition('edit-head', { model: [], shrunk: 1.5 }, -1, parts)).toThrow(
    'shrunk must be a number from -10 to 1: found 1.5',
  );
  expect(() => native.createPartition('edit-head', { model: [] }, -1, [parts[0]!.subarray(1)])).toThrow(
    'partitions must be complete',
  );
  expect(() => finish(native, 'edit-head', { ...onHead, length: 12 })).toThrow(/keys span the 32 dimensions/);
  expect(() => finish(native, 'edit-head', { ...onHead, head: '6.0' })).toThrow(
    "head must be a head as layer.head, from 0.0 to 5.11: found '6.0'",
  );
});

test('the spectra of the heads in each metric, and another text as a null', { timeout: 180_000 }, () => {
  const asked = { length: 24, passages: 2, queries: 8, resamples: 20, seed: 5, spectra: true };
  const { spectra: _, ...options } = asked;
  const terminal = json('predict', { ...options, measure_file: prose, transfer_file: prose }, MINILM, '--spectra');
  const bytes = new Uint8Array(text);
  const texts = { measure_file: bytes, transfer_file: bytes };
  const found = finish(native, 'predict', { ...files, ...asked, ...texts });
  expect(found.spectra).toHaveLength(72);
  found.spectra.forEach((own, i) => {
    for (const metric of ['bare', 'weighted', 'mean_field'] as const) {
      const other = terminal.spectra[i];
      const values = own[`${metric}_singular_values`];
      const largest = values[0]!;
      expect(values).toHaveLength(32);
      expectNear(values, other[`${metric}_singular_values`], 1e-4 * largest);
      const sum = (parts: number[][]) => parts.reduce((all, [re]) => all + re!, 0);
      const real = own[`${metric}_eigenvalues`].filter((_, k) => k % 2 === 0);
      const trace = real.reduce((all, it) => all + it, 0);
      expect(Math.abs(trace - sum(other[`${metric}_eigenvalues`]))).toBeLessThan(1e-3 * largest);
    }
  });
  const errorOf = (rows: { name: string; entropy_mean_absolute_error: number | null }[]) =>
    rows.find(({ name }) => name === 'transfer')!.entropy_mean_absolute_error!;
  expect(Math.abs(errorOf(found.summary) - errorOf(terminal.summary))).toBeLessThan(1e-3);
  expect(() => finish(native, 'predict', { ...files, ...asked, transfer_file: bytes })).toThrow(/transfer_file/);
});

test('the spectra with the covariance of each layer, on a text and on random tokens', () => {
  const drawn = { length: 48, passages: 2, seed: 5 };
  const first: number[] = [];
  for (const file of [new Uint8Array(text), null]) {
    const terminal = json('layer-spectra', { ...drawn, ...(file && { file: prose }) }, MINILM);
    const { heads } = finish(native, 'layer-spectra', { ...files, ...drawn, ...(file && { file }) });
    expectSameHeads(heads, terminal.heads, 1e-4); // states of single precision
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
  expect(() => finish(native, 'layer-spectra', { ...files, ...sampled })).toThrow(
    'tokens_law must be another than sampled for a model whose attention is not causal',
  );
});

test('text asks for all three files', () => {
  for (const name of ['config', 'tokenizer'] as const) {
    const job = () => native.createJob('attend', { ...files, [name]: null, text: 'a', length: 9 });
    expect(job).toThrow(`${name}.json must be beside it, or be given (--${name} on the command line): found neither`);
  }
});
