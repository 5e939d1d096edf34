// Checkpoints of several files, other conventions and other hosts.
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test, onTestFinished } from 'vitest';
import { LLAMA, LLAMA_CONFIG, safetensorsOf, shardsOf, waves, WHISPER, WHISPER_CONFIG } from '../checkpoints';
import { json, root, temporaryFolder } from '../cli/eigenscope';
import { browser, caption, csv, host, openBrowser, openTable, saved, settled, showView, visit } from './browser';
import { enter, pickModel, picked } from './gestures';
import { column, number, said } from './heads';

openBrowser();

/** A checkpoint of GPT-2's kind with one layer of two heads, all weights multiples of `scale`. */
function tiny(scale: number): Buffer {
  const value = (i: number) => scale * (((7 * i) % 5) - 1);
  return safetensorsOf({
    'h.0.attn.c_attn.weight': { shape: [4, 12], value },
    'h.0.attn.c_attn.bias': { shape: [12], value },
    'h.0.ln_1.weight': { shape: [4], value: () => 1 },
  });
}

test('several checkpoints are put side by side', async () => {
  const { page, errors } = await visit(browser, `${host.address}#model`);
  expect(await page.locator('#figure-compare').isVisible()).toBe(false);
  await pickModel(page, [
    ...[1, 2, 3].map((scale) => picked(`step-${scale}.safetensors`, tiny(scale))),
    picked('config.json', '{"model_type": "gpt2", "n_head": 2}'),
  ]);
  await page.locator('[data-report]', { hasText: '2 heads of step-3.safetensors' }).waitFor();
  await settled(page, 'compare');
  const rows = await csv(page, 'compare');
  expect(rows).toHaveLength(2);
  for (const row of rows) expect(Number(row.mean)).toBeCloseTo(9 * Number(row.mean_before), 9);
  const slider = page.locator('[data-file-chooser] input');
  await slider.focus();
  await page.keyboard.press('ArrowLeft');
  const live = page.locator('#figure-compare [data-live]', { hasText: 'to step-2.safetensors' });
  await live.waitFor({ state: 'attached' }); // below Details
  const earlier = await csv(page, 'compare');
  expect(earlier).toHaveLength(2);
  for (const row of earlier) expect(Number(row.mean)).toBeCloseTo(4 * Number(row.mean_before), 9);
  // Over the standard deviation of two heads, |a - b| / sqrt(2).
  const [a, b] = earlier.map((row) => Number(row.mean_before));
  for (const row of earlier) {
    const change = Number(row.mean) - Number(row.mean_before);
    expect(Number(row.mean_drift)).toBeCloseTo((change * Math.SQRT2) / Math.abs(a - b), 6);
  }
  expect(await caption(page, 'compare')).toContain('Root-mean-square drift of a head');
  expect(await page.locator('[data-table-status]').textContent()).toContain('step-2.safetensors');
  expect(errors).toEqual([]);
});

test('shards with an index are one checkpoint, and a missing one is named', async () => {
  const { page, errors } = await visit(browser, `${host.address}#model`);
  const config = picked('config.json', LLAMA_CONFIG);
  const shards = shardsOf(LLAMA).map(({ name, buffer }) => picked(name, buffer));
  await pickModel(page, [...shards.slice(1), config]);
  await page.locator('[data-problem]', { hasText: `${shards[0].name}: it is missing` }).waitFor();
  await pickModel(page, [...shards, config]);
  await page.locator('[data-report]', { hasText: '2 heads of model.safetensors.' }).waitFor();
  expect(await page.locator('#figure-compare').isVisible()).toBe(false);
  await expect.poll(() => page.locator('[data-head-table] tbody tr').count()).toBe(2); // drawn last
  expect(errors).toEqual([]);
});

test('shards of torch.save with their index are one checkpoint, and a missing one is named', async () => {
  const { page, errors } = await visit(browser, `${host.address}#model?fold_gains=no`);
  const file = (path: string) => readFileSync(`${root}tests/${path}`);
  const [first, second] = ['pytorch_model-00001-of-00002.bin', 'pytorch_model-00002-of-00002.bin'];
  const map = { 'embed_tokens.weight': first, 'a.weight': second };
  const given = [
    picked('pytorch_model.bin.index.json', JSON.stringify({ weight_map: map })),
    picked('config.json', '{"model_type": "llama", "num_attention_heads": 2}'),
    picked(first, file('torch/state_dict.bin')),
  ];
  await pickModel(page, given);
  await page.locator('[data-problem]', { hasText: `${second}: it is missing` }).waitFor();
  await pickModel(page, [...given, picked(second, file('fuzz/corpus/torch/small'))]);
  await page.locator('[data-report]', { hasText: '4 heads of pytorch_model.bin.index.json' }).waitFor();
  expect(await page.locator('[data-problem]').textContent()).toBe('');
  expect(errors).toEqual([]);
});

test('heads of several stacks keep their names', async () => {
  const { page, errors } = await visit(browser, `${host.address}#model`);
  await pickModel(page, [picked('model.safetensors', safetensorsOf(WHISPER)), picked('config.json', WHISPER_CONFIG)]);
  await page.locator('[data-report]', { hasText: '6 heads' }).waitFor();
  const stacks = ['encoder', 'decoder', 'cross'].flatMap((name) => [name, name]);
  await expect.poll(() => column(page, 'Stack')).toEqual(stacks);
  await openTable(page);
  await enter(page.locator('#field-model-filter'), 'stack=cross');
  await page.locator('[data-table-status]', { hasText: '2 of 6 heads' }).waitFor();
  await page.locator('[data-action="brush-rows"]').click();
  await page.waitForFunction(() => location.hash.includes('brush=cross.0.0,cross.0.1'));
  await page.locator('[data-table-status]', { hasText: '2 highlighted' }).waitFor();
  await page.locator('[data-row="file:cross.0.1"]').click();
  await page.waitForFunction(() => location.hash.includes('head=file:cross.0.1'));
  await showView(page, 'localize');
  await page.locator('[data-head-detail]', { hasText: 'cross layer 0, head 1' }).waitFor();
  const rows = await csv(page, 'head-spectra');
  expect(new Set(rows.map(({ stack }) => stack)).size).toBe(3);
  expect(errors).toEqual([]);
});

test('of several stacks of alike layers one is chosen, and another after it', async () => {
  const { page, errors } = await visit(browser, `${host.address}#model`);
  const stack = (name: string, seed: number) =>
    Object.entries(LLAMA).map(([tensor, { shape }], i) => [`${name}.${tensor}`, { shape, value: waves(seed + i) }]);
  const towers = safetensorsOf(Object.fromEntries([...stack('first', 1), ...stack('second', 10)]));
  await pickModel(page, [picked('model.safetensors', towers), picked('config.json', LLAMA_CONFIG)]);
  await page.locator('[data-problem]', { hasText: 'several stacks' }).waitFor();
  expect(await page.locator('[data-map-form]').isVisible()).toBe(false);
  const means = async (name: string) => {
    await page.getByRole('button', { name }).click();
    await page.locator(`[data-stacks] [aria-pressed="true"]`, { hasText: name }).waitFor();
    await page.locator('[data-report]', { hasText: '2 heads of model.safetensors: read' }).waitFor();
    expect(await page.locator('[data-problem]').textContent()).toBe('');
    return column(page, 'Mean');
  };
  const first = await means('first.model');
  expect(first).toHaveLength(2);
  await page.getByRole('button', { name: 'second.model' }).click();
  await expect.poll(() => column(page, 'Mean')).not.toEqual(first);
  expect(errors).toEqual([]);
});

test('a LoRA adapter beside its base shows heads with and without it, and what it changes', async () => {
  const { page, errors } = await visit(browser, `${host.address}#model`);
  const projection = 'model.layers.0.self_attn.q_proj';
  const adapter = safetensorsOf({
    [`base_model.model.${projection}.lora_A.weight`]: { shape: [1, 8], value: waves(5) },
    [`base_model.model.${projection}.lora_B.weight`]: { shape: [8, 1], value: waves(6) },
  });
  const rules = JSON.stringify({ peft_type: 'LORA', r: 1, lora_alpha: 2 });
  await openLlama(page);
  await page.locator('[data-report]', { hasText: '2 heads of model.safetensors' }).waitFor();
  await pickModel(page, [picked('adapter_model.safetensors', adapter), picked('adapter_config.json', rules)]);
  const name = 'model.safetensors with adapter';
  await page.locator('[data-report]', { hasText: `2 heads of ${name}` }).waitFor();
  await page.locator('#figure-compare').scrollIntoViewIfNeeded();
  await said(page, 'compare', 'changes 2 of 2 heads, by matrices of rank 1');

  const folder = temporaryFolder(onTestFinished);
  const write = (file: string, content: string | Buffer) => writeFileSync(join(folder, file), content);
  write('model.safetensors', safetensorsOf(LLAMA));
  write('config.json', LLAMA_CONFIG);
  write('adapter_model.safetensors', adapter);
  write('adapter_config.json', rules);
  const changed = join(folder, 'adapter_model.safetensors');
  const drift = json('head-drift', { changed }, join(folder, 'model.safetensors'));
  const rows = await csv(page, 'compare');
  expect(rows).toHaveLength(2);
  for (const [i, row] of rows.entries()) {
    expect(Number(row.mean_before)).toBeCloseTo(drift.heads[i].mean, 9);
    expect(Number(row.mean)).toBeCloseTo(drift.heads[i].mean_changed, 9);
    expect(Number(row.weight_distance)).toBeCloseTo(drift.heads[i].weight_distance, 9);
    expect(Number(row.change_rank)).toBe(1);
  }
  expect(errors).toEqual([]);
});

/** Opens the small LLaMA. */
async function openLlama(page: Page): Promise<void> {
  const weights = picked('model.safetensors', safetensorsOf(LLAMA));
  await pickModel(page, [weights, picked('config.json', LLAMA_CONFIG)]);
}

test('a change of the options reads the heads again, as the command line does', async () => {
  const { page, errors } = await visit(browser, `${host.address}#model?fold_gains=no`);
  const folder = temporaryFolder(onTestFinished);
  writeFileSync(join(folder, 'model.safetensors'), safetensorsOf(LLAMA));
  writeFileSync(join(folder, 'config.json'), LLAMA_CONFIG);
  const report = (text: string) => page.locator('[data-report]', { hasText: text }).waitFor();
  const expectMeans = async (options: Record<string, unknown>, ...flags: string[]) => {
    const { heads } = json('heads', options, folder, ...flags);
    const means = heads.map(({ mean }: { mean: number }) => mean);
    const file = await saved(page.locator('[data-action="table-json"]'));
    const { columns, rows } = JSON.parse(file.toString());
    expect(rows).toHaveLength(means.length);
    const place = columns.indexOf('mean');
    rows.forEach((row: number[], i: number) => expect(row[place]).toBeCloseTo(means[i], 9));
  };
  expect(await page.locator('[data-scan-options]').isVisible()).toBe(false);
  await openLlama(page);
  await report('Without norm gains; rotary heads at offset 0.');
  await expectMeans({ fold_gains: 'no' });
  await page.locator('[data-control="fold_gains"] label', { hasText: 'folded' }).click();
  await report('Norm gains included: input_layernorm; rotary');
  await enter(page.locator('#field-model-offset'), '3');
  await report('rotary heads at offset 3.');
  await page.waitForFunction(() => location.hash === '#model?offset=3&model=model.safetensors');
  await expectMeans({ offset: 3 });
  await page.locator('[data-control="offset_kind"] label', { hasText: 'average' }).click();
  await report('averaged over the offsets 0 to 47.');
  await expectMeans({ length: 48 }, '--average');
  await page.locator('[data-control="frame"] label', { hasText: 'embeddings' }).click();
  await report('with the covariance of the token embeddings');
  await expectMeans({ length: 48, frame: 'embeddings' }, '--average');
  await pickModel(page, [picked('model.safetensors', safetensorsOf(WHISPER)), picked('config.json', WHISPER_CONFIG)]);
  await page.locator('[data-control="frame"] .error', { hasText: 'Covariance Σ must be identity' }).waitFor();
  await page.locator('[data-control="frame"] label', { hasText: 'identity' }).click();
  await report('6 heads of model.safetensors');
  expect(await page.locator('[data-rotary]').isVisible()).toBe(false);
  expect(errors).toEqual([]);
});

test('a scaling of rotary angles that is not known is named, and read at offset 0', async () => {
  const { page, errors } = await visit(browser, `${host.address}#model?offset=3`);
  const config = { ...JSON.parse(LLAMA_CONFIG), rope_scaling: { rope_type: 'spiral' } };
  await pickModel(page, [
    picked('model.safetensors', safetensorsOf(LLAMA)),
    picked('config.json', JSON.stringify(config)),
  ]);
  const text = "'rope_scaling.rope_type' in config.json is 'spiral'";
  await page.locator('#error-model-offset', { hasText: text }).waitFor();
  await enter(page.locator('#field-model-offset'), '0');
  await page.locator('[data-report]', { hasText: 'rotary heads at offset 0.' }).waitFor();
  expect(await page.locator('#error-model-offset').textContent()).toBe('');
  await page.locator('[data-control="offset_kind"] label', { hasText: 'average' }).click();
  await page.locator('[data-problem]', { hasText: text }).waitFor();
  expect(errors).toEqual([]);
});

test('an unrecognized architecture is read by the names that a person gives', async () => {
  const { page, errors } = await visit(browser, `${host.address}#model`);
  const named = (it: string) => it.replace('model.layers.0.self_attn', 'blk.0.mine');
  const unknown = Object.entries(LLAMA).map(([name, tensor]) => [named(name), tensor]);
  const weights = picked('model.safetensors', safetensorsOf(Object.fromEntries(unknown)));
  const form = page.locator('[data-map-form]');
  const give = (name: string, text: string) => enter(page.locator(`#field-model-${name}`), text);
  const refused = (name: string, text: string) => page.locator(`#error-model-${name}`, { hasText: text }).waitFor();
  expect(await form.isVisible()).toBe(false);
  await pickModel(page, weights);
  await form.waitFor();
  const offered = await page
    .locator('#tensor-names option')
    .evaluateAll((list) => list.map((it) => (it as HTMLOptionElement).value));
  expect(offered).toContain('blk.{n}.mine.q_proj.weight');
  await give('map_query', 'blk.mine.q_proj.weight');
  await refused('map_query', 'with {n} once');
  await give('map_query', 'blk.{n}.mine.q_proj.weight');
  await refused('map_key', 'with {n} once');
  await give('map_key', 'blk.{n}.mine.k_proj.weight');
  await refused('map_heads', 'Heads must be given, an integer from 1 to 4096');
  await give('map_heads', 'two');
  await refused('map_heads', "found 'two'");
  await give('map_heads', '2');
  await page.locator('[data-report]', { hasText: '2 heads of model.safetensors' }).waitFor();
  const link = page.url();
  expect(decodeURIComponent(link)).toContain('map_query=blk.{n}.mine.q_proj.weight&map_key=');
  expect(errors).toEqual([]);
  await page.goto('about:blank');
  await page.goto(link);
  await pickModel(page, weights);
  await page.locator('[data-report]', { hasText: '2 heads of model.safetensors' }).waitFor();
});

test('key heads that no file gives are asked for, and kept in the link', async () => {
  const { page, errors } = await visit(browser, `${host.address}#model`);
  const folder = temporaryFolder(onTestFinished);
  const file = join(folder, 'model.safetensors');
  // Four heads of width 2 that share two keys: 8 rows of queries, 4 of keys, 4 of values.
  const norm = { 'model.layers.0.input_layernorm.weight': { shape: [8], value: () => 1 } };
  const write = (name: string) =>
    writeFileSync(file, safetensorsOf({ [name]: { shape: [16, 8], value: waves(1) }, ...norm }));
  const report = page.locator('[data-report]', { hasText: '4 heads of model.safetensors' });
  const heads = page.locator('#heads-count');
  const keyHeads = page.locator('#field-model-map_key_heads');
  const refused = (text: string) => page.locator('#error-model-map_key_heads', { hasText: text }).waitFor();
  write('model.layers.0.self_attn.qkv_proj.weight');
  const config = join(folder, 'config.json');
  writeFileSync(config, '{"model_type": "phi3"}');
  expect(await keyHeads.isVisible()).toBe(false);
  await pickModel(page, [file, config]);
  await enter(heads, '4');
  await refused('Key heads must be given for grouped keys, an integer from 0 to 4096');
  await enter(keyHeads, 'two');
  await refused("found 'two'");
  await enter(keyHeads, '3');
  await page.locator('[data-problem]', { hasText: 'do not divide into 4 heads' }).waitFor();
  await enter(keyHeads, '2');
  await report.waitFor();
  expect(await report.textContent()).toContain('key heads as given, 2');
  await page.waitForFunction(() => location.hash.includes('map_key_heads=2'));
  await expect.poll(async () => (await column(page, 'Mean')).length).toBe(4);
  const means = (await column(page, 'Mean')).map(number);
  const terminal = json('heads', { heads: 4, key_heads: 2 }, file).heads;
  means.forEach((mean, i) => expect(mean).toBeCloseTo(terminal[i].mean, 2));
  // A link holds them for a mapping too.
  write('blk.0.mine.weight');
  await page.goto('about:blank');
  await page.goto(`${host.address}#model?map_query=blk.{n}.mine.weight&map_layout=fused&map_heads=4&map_key_heads=2`);
  await pickModel(page, file);
  await report.waitFor();
  await expect.poll(async () => (await column(page, 'Mean')).map(number)).toEqual(means);
  expect(await page.locator('[data-map-form] #field-model-map_key_heads').inputValue()).toBe('2');
  expect(errors).toEqual([]);
});

/**
 * Another host with files of a checkpoint: it lets pages read them, and serves ranges, or not. With a
 * range go the headers of `version`, which may depend on how many ranges there were before, and on the range.
 */
async function serveFiles(
  given: Map<string, Buffer>,
  { ranges = true, cors = true, version = (_before: number, _range: string): Record<string, string> => ({}) } = {},
) {
  const asked: string[] = [];
  let served = 0;
  const server = createServer(({ url = '', headers, method }, response) => {
    const file = given.get(url.slice(1));
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? [];
    asked.push(`${method} ${url} ${headers.range ?? ''}`.trimEnd());
    if (cors) {
      response.setHeader('access-control-allow-origin', '*');
      response.setHeader('access-control-allow-headers', 'range');
      response.setHeader('access-control-expose-headers', 'content-range, etag');
    }
    if (method === 'OPTIONS') return response.writeHead(204).end();
    if (!file) return response.writeHead(404).end();
    if (!ranges || from === undefined) return response.writeHead(200).end(file);
    const range = `bytes ${from}-${to}`;
    return response
      .writeHead(206, { 'content-range': `${range}/${file.length}`, ...version(served++, range) })
      .end(file.subarray(Number(from), Number(to) + 1));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { address: `http://127.0.0.1:${port}/`, asked, close: () => server.close() };
}

test('a checkpoint is read from another host by ranges, and only when asked', async () => {
  const shards = shardsOf(LLAMA).map(({ name, buffer }) => [name, buffer] as const);
  const other = await serveFiles(new Map([...shards, ['config.json', Buffer.from(LLAMA_CONFIG)]]));
  const { page, foreign } = await visit(browser, `${host.address}#model`);
  const read = async (address: string) => {
    await page.locator('#remote-address').fill(address);
    await page.locator('[data-remote-form] button').click();
  };
  const problem = (text: string) => page.locator('[data-problem]', { hasText: text }).waitFor();
  await read('model.safetensors');
  await problem('Name or URL: it must be name or owner/name, or begin with https://');
  expect(foreign).toEqual([]);
  await read(`${other.address}model.safetensors.index.json`);
  await page.locator('[data-report]', { hasText: '2 heads of model.safetensors.index' }).waitFor();
  await page.locator('[data-no-text]', { hasText: 'tokenizer.json is not among' }).waitFor();
  const whole = other.asked.filter((it) => /^GET .*\.safetensors$/.test(it));
  expect(whole).toEqual([]); // weights by ranges alone
  await page.locator('[data-report]', { hasText: 'Norm gains included: input_layernorm' }).waitFor();
  await read(`${other.address}absent.safetensors`);
  await problem('answers 404 for absent.safetensors');
  other.close();
  for (const [options, said] of [
    [{ ranges: false }, 'does not serve parts of a file (HTTP ranges)'],
    [{ cors: false }, 'does not let other pages read it (CORS)'],
  ] as const) {
    const poor = await serveFiles(new Map([['model.safetensors', safetensorsOf(LLAMA)]]), options);
    await read(`${poor.address}model.safetensors`);
    await problem(said);
    poor.close();
  }
  expect(await page.locator('[data-busy]').isVisible()).toBe(false);
});

test('a model of the Hugging Face Hub is read by its name', async () => {
  const other = await serveFiles(
    new Map([
      ...shardsOf(LLAMA).map(({ name, buffer }) => [name, buffer] as const),
      ['config.json', Buffer.from(LLAMA_CONFIG)],
    ]),
  );
  const { page, foreign } = await visit(browser, `${host.address}#model`);
  const siblings = ['README.md', 'config.json', ...shardsOf(LLAMA).map(({ name }) => name)];
  const listing = { sha: 'c0ffee', gated: false, siblings: siblings.map((rfilename) => ({ rfilename })) };
  const open = { 'access-control-allow-origin': '*' };
  await page.context().route('https://huggingface.co/**', async (route) => {
    const { pathname } = new URL(route.request().url());
    if (pathname === '/api/models/owner/tiny/revision/main') return route.fulfill({ json: listing, headers: open });
    if (pathname.startsWith('/api/')) return route.fulfill({ status: 401, headers: open });
    const file = /^\/owner\/tiny\/resolve\/c0ffee\/(.+)$/.exec(pathname)?.[1] ?? 'absent';
    // Another host has the files themselves.
    return route.fulfill({ status: 302, headers: { ...open, location: `${other.address}${file}` } });
  });
  const read = async (text: string) => {
    await page.locator('#remote-address').fill(text);
    await page.locator('[data-remote-form] button').click();
  };
  await read('owner/tiny');
  await page.locator('[data-report]', { hasText: '2 heads of owner/tiny' }).waitFor();
  const weights = foreign.filter((it) => it.endsWith('.safetensors'));
  expect(weights.length).toBeGreaterThan(0);
  expect(other.asked.filter((it) => /^GET .*\.safetensors$/.test(it))).toEqual([]); // weights by ranges alone
  await read('owner/absent');
  await page.locator('[data-problem]', { hasText: 'huggingface.co has no public model owner/absent' }).waitFor();
  await page.locator('[data-report]', { hasText: '2 heads of owner/tiny' }).waitFor(); // what was open stays
  other.close();
});

test('a file that changes on its host while it is read is refused', async () => {
  const { page, errors } = await visit(browser, `${host.address}#model`);
  // So many tokens that the weights are not in the first block.
  const tokens = { shape: [20_000, 8], value: () => 1 };
  const model = safetensorsOf({ ...LLAMA, 'model.embed_tokens.weight': tokens });
  const files = new Map([
    ['model.safetensors', model],
    ['config.json', Buffer.from(LLAMA_CONFIG)],
  ]);
  type Versions = (before: number, range: string) => Record<string, string>;
  const read = async (version: Versions) => {
    const other = await serveFiles(files, { version });
    await page.locator('#remote-address').fill(`${other.address}model.safetensors`);
    await page.locator('[data-remote-form] button').click();
    return other;
  };
  const time = (hour: number) => `Fri, 20 Nov 2026 0${hour}:00:00 GMT`;
  // The first byte, the header and the weights are asked for, one after another.
  const changing: [Versions, string][] = [
    [(n) => ({ etag: n < 2 ? '"one"' : '"two"' }), 'its ETag was "one" and is "two"'],
    [(n) => ({ 'last-modified': time(n < 2 ? 1 : 2) }), `its time of change was ${time(1)} and is ${time(2)}`],
    [(n, range): Record<string, string> => (n < 2 ? {} : { 'content-range': `${range}/9999999` }), 'its size was'],
  ];
  for (const [version, said] of changing) {
    const other = await read(version);
    const text = `model.safetensors: it was changed while it was read: ${said}`;
    await page.locator('[data-problem]', { hasText: text }).waitFor();
    expect(await page.locator('[data-report]').textContent()).toBe('');
    other.close();
  }
  const steady: Versions[] = [
    () => ({ etag: '"one"', 'last-modified': time(1) }),
    (n): Record<string, string> => (n === 0 ? { etag: '"one"' } : {}), // then it says no more
  ];
  for (const version of steady) {
    const other = await read(version);
    await page.locator('[data-report]', { hasText: '2 heads of model.safetensors' }).waitFor();
    other.close();
  }
  // The host has no tokenizer.json, which is all there is to complain of.
  expect(errors.filter((it) => !it.includes('404'))).toEqual([]);
});
