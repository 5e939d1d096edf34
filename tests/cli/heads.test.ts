// `eigenscope heads` on more than one model, on shards, mappings, gains, offsets and frames.
import { copyFileSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LLAMA, LLAMA_CONFIG, llamaGguf, safetensorsOf, waves, type Tensors } from '../checkpoints.ts';
import { parseCsv } from '../csv.ts';
import { expectRefused, json, MINILM, raw, run, temporaryFolder } from './eigenscope.ts';

const folder = temporaryFolder();

/** A folder with the small LLaMA. */
function llama(name: string): string {
  const path = join(folder, name);
  mkdirSync(path);
  write(join(path, 'model.safetensors'), LLAMA);
  writeFileSync(join(path, 'config.json'), LLAMA_CONFIG);
  return path;
}

function write(path: string, tensors: Tensors) {
  writeFileSync(path, safetensorsOf(tensors));
}

const model = llama('llama');

test('gains are folded unless told otherwise, and it says which', () => {
  const folded = json('heads', {}, model).heads;
  const plain = json('heads', { fold_gains: 'no' }, model).heads;
  expect(folded).toHaveLength(2);
  folded.forEach((head: Record<string, number | string>, i: number) => {
    expect(head.folded).toBe('input_layernorm');
    expect(plain[i].folded).toBe('');
    expect(head.xi).toBeCloseTo(4 * plain[i].xi, 9); // 2 in W_Q, 2 in W_K
  });
});

test('a GGUF file has the heads of the checkpoint that it was converted from, at every offset', () => {
  const file = join(folder, 'llama.gguf');
  writeFileSync(file, llamaGguf());
  for (const offset of [0, 3]) {
    const [found, expected] = [file, model].map((path) =>
      json('heads', { offset }, path).heads.map(({ model: _, ...head }: { model: string }) => head),
    );
    expect(found).toEqual(expected);
  }
});

test('a GGUF file of another architecture is listed and read by a mapping', () => {
  const file = join(folder, 'other.gguf');
  writeFileSync(file, llamaGguf('brand-new'));
  const [query, key] = ['q', 'k'].map((it) => `blk.{n}.attn_${it}.weight`);
  expect(json('tensors', {}, file).names).toContain('blk.0.attn_q.weight');
  expect(json('heads', { map_query: query, map_key: key, heads: 2 }, file).heads).toHaveLength(2);
  expectRefused(run('heads', {}, file), "unrecognized architecture 'brand-new'; it has 'blk.0.attn_", 1);
});

test('a file name that is not UTF-8 leaves the JSON whole', () => {
  const parent = join(folder, 'names');
  const path = Buffer.concat([Buffer.from(`${parent}/`), Buffer.from([0x66, 0xff])]);
  mkdirSync(path, { recursive: true });
  writeFileSync(Buffer.concat([path, Buffer.from('/model.safetensors')]), safetensorsOf(LLAMA));
  const { heads } = json('heads', { heads: 2, key_heads: 1, model_type: 'llama' }, parent);
  expect(heads.map((head: { model: string }) => head.model)).toEqual([`${parent}/f\ufffd`, `${parent}/f\ufffd`]);
});

test('rotary heads are seen at an offset and on average', () => {
  const at = (offset: number) => json('heads', { offset, length: 4 }, model).heads[1];
  const averaged = json('heads', { length: 4 }, model, '--average').heads[1];
  expect(at(0).offset).toBe(0);
  expect(averaged.offset).toBeNull();
  const xi = [0, 1, 2, 3].map((offset) => at(offset).xi);
  expect(new Set(xi).size).toBe(4);
  expect(averaged.xi).toBeCloseTo(xi.reduce((a, b) => a + b) / 4, 9); // the trace is linear
  expect(json('heads', { offset: 3 }, MINILM).heads[0].offset).toBeNull();
});

test('scaled angles turn rotary heads; a scaling that is not known only matters where they turn', () => {
  const scaled = (name: string, scaling: object) => {
    const path = llama(name);
    const config = { ...JSON.parse(LLAMA_CONFIG), rope_scaling: scaling };
    writeFileSync(join(path, 'config.json'), JSON.stringify(config));
    return path;
  };
  const linear = scaled('linear', { type: 'linear', factor: 2 });
  const xi = (path: string, offset: number) => json('heads', { offset }, path).heads[0].xi;
  expect(xi(linear, 6)).toBeCloseTo(xi(model, 3), 12);
  const unknown = scaled('unknown', { rope_type: 'spiral', factor: 2 });
  expect(xi(unknown, 0)).toBe(xi(model, 0));
  for (const flag of [['--offset', '1'], ['--average']]) {
    expectRefused(
      raw('heads', unknown, ...flag),
      /^eigenscope: --offset must be 0 unless .*: 'rope_scaling.rope_type' in \S*config.json is 'spiral'/,
    );
  }
});

test('traces alone are the same traces, without what needs eigenvalues', () => {
  const [full] = json('heads', {}, model).heads;
  const [traces] = json('heads', {}, model, '--traces').heads;
  const names = ['variance_modulus', 'components', 'spectral_norm', 'directionality', 'logit_bound'];
  const skipped = Object.fromEntries(names.map((name) => [name, full[name]]));
  for (const name of names) {
    expect(full[name]).toEqual(expect.any(Number));
    expect(traces[name]).toBeNull();
  }
  expect({ ...traces, ...skipped }).toEqual(full);
  expect(raw('heads', model, '--traces', '--eigenvalues').status).toBe(2);
});

test('layers are scored together, and a limit of QK-Clip gives each head its headroom', () => {
  const { heads, layers } = json('heads', { qk_clip: 50 }, model, MINILM, '--layers');
  expect(layers.map(({ layer }: { layer: number }) => layer)).toEqual([0, 0, 1, 2, 3, 4, 5]);
  const own = heads.filter((head: { model: string; layer: number }) => head.model === MINILM && head.layer === 3);
  const symmetries = own.map((head: { symmetric_share: number }) => 2 * head.symmetric_share - 1).sort();
  expect(layers[4].model).toBe(MINILM);
  expect(layers[4].median_symmetry).toBeCloseTo((symmetries[5] + symmetries[6]) / 2, 12);
  expect(Math.abs(layers[4].symmetry)).toBeLessThanOrEqual(1);
  for (const head of heads) expect(head.headroom).toBeCloseTo(50 / head.logit_bound, 12);
  const plain = json('heads', {}, model);
  expect(plain.layers).toEqual([]);
  expect(plain.heads[0].headroom).toBeNull();
});

test("the frame is the checkpoint's own embeddings, where it has any", () => {
  const [own] = json('heads', { frame: 'embeddings' }, model).heads;
  const [identity] = json('heads', {}, model).heads;
  expect(Math.abs(own.xi - identity.xi)).toBeGreaterThan(1e-3);
  expect(json('heads', { frame: 'embeddings' }, MINILM).heads).toHaveLength(72);
});

test('several models in one call, and folders of models, have a column that distinguishes them', () => {
  const runs = join(folder, 'runs');
  for (const step of ['step1', 'step2']) {
    mkdirSync(join(runs, step), { recursive: true });
    for (const file of ['model.safetensors', 'config.json']) {
      copyFileSync(join(model, file), join(runs, step, file));
    }
  }
  const { stdout } = raw('heads', model, runs, '--csv');
  expect(stdout).toMatch(/^model,stack,layer,head,/);
  expect(parseCsv(stdout).map(({ model: name }) => name)).toEqual([
    model,
    model,
    ...['step1', 'step1', 'step2', 'step2'].map((step) => join(runs, step)),
  ]);
  const config = join(model, 'config.json');
  expect(raw('heads', model, runs, '--config', config).stderr).toContain(
    '--config must be given with one checkpoint only: found',
  );
});

test('of a folder of models those that cannot be read are left out with their reason', () => {
  const parts = join(folder, 'parts');
  const [first, second] = ['step1', 'step2'].map((step) => join(parts, step));
  mkdirSync(parts);
  for (const part of [first, second]) cpSync(model, part, { recursive: true });
  const reason = `${second}: model.layers.0.self_attn.q_proj.weight`;
  writeFileSync(join(second, 'config.json'), JSON.stringify({ model_type: 'llama', num_attention_heads: 7 }));
  const { status, stdout, stderr } = raw('heads', parts);
  expect(status).toBe(0);
  const found = JSON.parse(stdout) as { heads: { model: string }[]; excluded: string[] };
  expect(found.heads.map(({ model: name }) => name)).toEqual([first, first]);
  expect(found.excluded).toEqual([expect.stringContaining(reason)]);
  expect(stderr).toContain(`eigenscope: left out ${reason}`);
  expectRefused(raw('heads', parts, second), `eigenscope: ${reason}`, 1); // it is asked for by name
  writeFileSync(join(second, 'model.safetensors'), 'broken');
  expect(raw('heads', parts, '--csv').stderr).toContain(`eigenscope: left out ${second}`);
  writeFileSync(join(first, 'model.safetensors'), 'broken');
  expectRefused(raw('heads', parts), `eigenscope: ${first}`, 1);
});

test('a shard without its index is named as one part', () => {
  const lone = join(folder, 'model-00001-of-00003.safetensors');
  write(lone, LLAMA);
  const ran = raw('heads', lone, '--config', join(model, 'config.json'));
  expect(ran.status).toBe(0);
  expect(ran.stderr).toBe(
    `eigenscope: ${lone} is one of 3 parts of a model; its .safetensors.index.json or its folder opens all parts\n`,
  );
  expect(raw('heads', model).stderr).toBe('');
});

test('a count of heads may be given for one stack', () => {
  const clip = join(folder, 'clip.safetensors');
  const part = (stack: string, kind: string) => `${stack}_model.encoder.layers.0.self_attn.${kind}_proj.weight`;
  const square = { shape: [8, 8], value: waves(1) };
  write(clip, {
    [part('text', 'q')]: square,
    [part('text', 'k')]: square,
    [part('vision', 'q')]: square,
    [part('vision', 'k')]: square,
  });
  const stacks = (heads: string) => {
    const ran = raw('heads', '--heads', heads, clip, '--csv');
    expect(ran.stderr).toContain("there is no config.json with a 'model_type'");
    const [header, ...rows] = ran.stdout
      .trim()
      .split('\n')
      .map((row) => row.split(','));
    return rows.map((row) => row[header!.indexOf('stack')]);
  };
  expect(stacks('vision=2,1')).toEqual(['text', 'vision', 'vision']);
  expect(stacks('vision=2,text=1')).toEqual(['text', 'vision', 'vision']);
  expectRefused(
    run('heads', { heads: 'tower=2' }, clip),
    /^eigenscope: --heads must name a stack of .*: text, vision: found 'tower'/,
  );
  expect(run('heads', { heads: 'text=two' }, clip).stderr).toContain(
    "eigenscope: --heads must be an integer from 1 to 4096: found 'two'",
  );
});

test('without a known model type only the stored weights are read, unless one is given', () => {
  const path = llama('untyped');
  const { model_type: _, ...untyped } = JSON.parse(LLAMA_CONFIG);
  writeFileSync(join(path, 'config.json'), JSON.stringify(untyped));
  expectRefused(
    raw('heads', path),
    /^eigenscope: --fold-gains must be no, .*: the tensors have the names of LLaMA, but \S*config.json has no 'model_type'/,
  );
  expectRefused(raw('heads', path, '--fold-gains', 'no', '--offset', '2'), /^eigenscope: --offset must be 0/);
  const ran = raw('heads', path, '--fold-gains', 'no');
  expect(ran.stderr.split('\n')).toHaveLength(2); // said once
  expect(ran.stderr).toContain('the conventions of the model are not known');
  const [bare] = JSON.parse(ran.stdout).heads;
  const [plain] = json('heads', { fold_gains: 'no' }, model).heads;
  expect({ ...bare, model: plain.model }).toEqual({
    ...plain,
    ...{ localization: null, rho_mean: null, regime: 'none', signal: 'none' },
    outside_theory: 'the scale of the logits is not known',
  });
  expectRefused(raw('heads', path, '--fold-gains', 'no', '--measures'), /^eigenscope: --measures must be omitted/);
  const own = json('heads', { model_type: 'llama', offset: 3 }, path).heads;
  expect(own).toEqual(json('heads', { offset: 3 }, model).heads.map((head: object) => ({ ...head, model: path })));
  expectRefused(raw('heads', path, '--model-type', 'spiral'), /^eigenscope: --model-type must be one that/);
  expectRefused(raw('heads', model, '--model-type', 'cohere'), /^eigenscope: --model-type must be omitted/);
});

test('an adapter beside the weights and layers beyond the configuration are named', () => {
  const path = llama('adapted');
  const adapter = 'model.layers.0.self_attn.q_proj.lora_A.default.weight';
  write(join(path, 'model.safetensors'), { ...LLAMA, [adapter]: { shape: [2, 8], value: waves(5) } });
  expectRefused(raw('heads', path), `eigenscope: ${path}: ${adapter}: `, 1);
  expect(raw('heads', path).stderr).toContain('merge the adapter into the weights');
  expect(json('tensors', {}, path).unknown).toEqual([adapter]);
  const listed = raw('tensors', path, '--csv').stdout.trim().split('\n');
  expect(listed.length).toBe(1 + json('tensors', {}, path).names.length);
  const apart = `base_model.model.${adapter}`; // as peft names it
  write(join(path, 'model.safetensors'), { ...LLAMA, [apart]: { shape: [2, 8], value: waves(5) } });
  expectRefused(raw('heads', path), `eigenscope: ${path}: ${apart}: `, 1);
  const more = Object.fromEntries(
    Object.entries(LLAMA)
      .filter(([name]) => name.includes('.layers.'))
      .map(([name, tensor]) => [name.replace('.0.', '.1.'), tensor]),
  );
  write(join(path, 'model.safetensors'), { ...LLAMA, ...more });
  expect(json('heads', {}, path).heads).toHaveLength(4);
  writeFileSync(join(path, 'config.json'), JSON.stringify({ ...JSON.parse(LLAMA_CONFIG), num_hidden_layers: 1 }));
  const ran = raw('heads', path);
  expect(JSON.parse(ran.stdout).heads).toHaveLength(2);
  expect(ran.stderr).toContain("1 layer of the file beyond 'num_hidden_layers'");
});

test('the adapter in the folder of a model is left out with a note', () => {
  const path = llama('beside-adapter');
  const plain = json('heads', {}, path);
  expect(raw('heads', path).stderr).toBe('');
  for (const name of ['adapters.safetensors', 'adapter_model.safetensors']) {
    writeFileSync(join(path, name), 'weights');
    expect(json('heads', {}, path)).toEqual(plain);
    expect(raw('heads', path).stderr).toBe(
      `eigenscope: ${path}: left out the adapter in it (${name}), without which the model is read\n`,
    );
    expect(raw('heads', join(path, 'model.safetensors')).stderr).toBe('');
  }
});

test('a params.json beside weights without a config.json has the base of their positions', () => {
  const path = join(folder, 'consolidated');
  mkdirSync(path);
  const tensors = {
    'layers.0.attention.wq.weight': { shape: [8, 8], value: waves(1) },
    'layers.0.attention.wk.weight': { shape: [4, 8], value: waves(2) },
    'layers.0.attention_norm.weight': { shape: [8], value: () => 2 },
  };
  write(join(path, 'consolidated.safetensors'), tensors);
  const keys = { dim: 8, n_layers: 1, head_dim: 4, n_heads: 2, n_kv_heads: 1, rope_theta: 1e6 };
  const traces = (params: object) => {
    writeFileSync(join(path, 'params.json'), JSON.stringify(params));
    return json('heads', { model_type: 'llama2.c', offset: 7 }, path).heads.map((head: { xi: number }) => head.xi);
  };
  const given = traces(keys);
  expect(given).toHaveLength(2);
  expect(traces({ ...keys, rope_theta: 1e4 })).not.toEqual(given);
  writeFileSync(join(path, 'params.json'), JSON.stringify({ ...keys, yarn: { factor: 4 } }));
  const refused = run('heads', { model_type: 'llama2.c', offset: 7 }, path);
  expect(refused.stderr).toContain('yarn: it must be null');
  // Other files beside it have their own.
  const gguf = join(path, 'model.gguf');
  writeFileSync(gguf, llamaGguf());
  expect(json('heads', {}, gguf).heads).toHaveLength(2);
});

test('an unrecognized architecture is read by a mapping', () => {
  const path = join(folder, 'own.safetensors');
  write(path, { 'blk.0.qkv.weight': { shape: [24, 8], value: waves(1) } });
  expect(run('heads', { heads: 2 }, path).stderr).toContain('unrecognized architecture');
  const mapping = { map_query: 'blk.{n}.qkv.weight', map_layout: 'interleaved' };
  const heads = (more: object) => json('heads', { ...mapping, heads: 2, ...more }, path).heads;
  expect(heads({}).map((head: { localization: number | null }) => head.localization)).toEqual([null, null]);
  expect(
    raw('heads', path, '--heads', '2', '--map-query', mapping.map_query, '--map-layout', 'interleaved').stderr,
  ).toContain('localization, rho_mean and logit_bound are null: a mapping does not say what divides the logits');
  expect(heads({ model_type: 'llama' })[0].localization).toBeGreaterThan(0);
  for (const [bad, field] of [
    [mapping, 'heads'],
    [{ ...mapping, heads: 2, map_layout: 'mixed' }, 'map_layout'],
    [{ ...mapping, heads: 2, map_query: '' }, 'map_query'],
    [{ ...mapping, heads: 2, map_key: 'blk.{n}.k.weight' }, 'map_key'],
  ] as const) {
    expectRefused(run('heads', bad, path), `eigenscope: --${field.replaceAll('_', '-')} must be`);
  }
});

test.each([
  ['fold_gains', 'maybe'],
  ['frame', 'mine'],
  ['offset', 'far'],
  ['offset', '-1'],
  ['offset', ''],
  ['key_heads', '-1'],
])('a bad --%s %s is refused by name', (name, value) => {
  expectRefused(
    run('heads', { [name]: value }, model),
    new RegExp(`^eigenscope: --${name.replaceAll('_', '-')} must be`),
  );
});
