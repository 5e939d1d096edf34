// Models on other hosts, by their names on the Hugging Face Hub and by URL.
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { LLAMA, LLAMA_CONFIG, llamaGguf, safetensorsOf, shardsOf, waves, type Tensors } from '../checkpoints.ts';
import { json, MINILM, program, type Ran, temporaryFolder } from './eigenscope.ts';
import { COMMIT, hostHub, TOKEN, type HostedModel, type HubHost, type Sending } from './hub-host.ts';

/** Reads below this many bytes come from blocks. */
const BLOCK = 1 << 18;

/** Two heads of 256, among tensors that no head needs. */
const WIDTH = 512;
const square = (seed: number) => ({ shape: [WIDTH, WIDTH], value: waves(seed) });
const WIDE: Tensors = {
  'model.embed_tokens.weight': { shape: [4096, WIDTH], value: waves(1) },
  'model.layers.0.self_attn.q_proj.weight': square(2),
  'model.layers.0.mlp.up_proj.weight': { shape: [4096, WIDTH], value: waves(3) },
  'model.layers.0.self_attn.k_proj.weight': square(4),
  'model.layers.0.mlp.down_proj.weight': { shape: [4096, WIDTH], value: waves(5) },
  'model.layers.0.input_layernorm.weight': { shape: [WIDTH], value: () => 2 },
  'model.norm.weight': { shape: [4096, WIDTH], value: waves(6) },
};
const WIDE_CONFIG = JSON.stringify({ model_type: 'llama', num_attention_heads: 2, hidden_size: WIDTH });

const folder = temporaryFolder();
const saved = (name: string, files: HostedModel['files']) => {
  mkdirSync(join(folder, name));
  for (const [file, bytes] of Object.entries(files)) writeFileSync(join(folder, name, file), bytes);
  return join(folder, name);
};
const wide = { 'model.safetensors': safetensorsOf(WIDE), 'config.json': Buffer.from(WIDE_CONFIG) };
const llama = { 'model.safetensors': safetensorsOf(LLAMA), 'config.json': Buffer.from(LLAMA_CONFIG) };
const sent = (sending: Sending): HostedModel => ({ files: llama, sending });
const shards = Object.fromEntries(shardsOf(LLAMA).map(({ name, buffer }) => [name, buffer]));
const models: Record<string, HostedModel> = {
  'a/llama': { files: llama },
  'a/wide': { files: { ...wide, 'README.md': Buffer.from('x') } },
  'a/minilm': { files: Object.fromEntries(readdirSync(MINILM).map((it) => [it, readFileSync(join(MINILM, it))])) },
  'a/shards': { files: { ...shards, 'config.json': llama['config.json'] } },
  'a/quantized': { files: { 'x-q8.gguf': llamaGguf(), 'x-q4.gguf': llamaGguf() } },
  'a/gated': { files: llama, access: 'gated' },
  'a/closed': { files: llama, access: 'closed' },
  'a/private': { files: llama, access: 'private' },
  'a/empty': { files: { 'README.md': Buffer.from('x') } },
  'a/whole': sent('whole'),
  'a/truncated': sent('truncated'),
  'a/slow': sent('slow'),
  'a/unavailable': sent('unavailable'),
  'a/flaky': sent('flaky'),
  'a/expiring': { files: wide, sending: 'expiring' },
  'a/changing': { files: wide, sending: 'changing' },
};

let hub: HubHost;
beforeAll(async () => {
  hub = await hostHub(models);
});
beforeEach(() => hub.asked.splice(0));
afterAll(() => hub.close());

/** Runs a command beside the host, which this process serves. */
function ask(args: string[], env: Record<string, string> = {}): Promise<Ran> {
  const all = { ...process.env, HF_ENDPOINT: hub.endpoint, HF_TOKEN: '', NO_PROXY: '127.0.0.1', ...env };
  return new Promise((resolve) => {
    const child = execFile(program, args, { env: all, cwd: folder, maxBuffer: 1 << 28 }, (_, stdout, stderr) =>
      resolve({ status: child.exitCode, stdout, stderr }),
    );
  });
}

/** The heads that a command prints, without the model's name. */
const headsOf = (stdout: string) =>
  (JSON.parse(stdout).heads as Record<string, unknown>[]).map(({ model: _, ...head }) => head);

describe('a model is read by its name', () => {
  const local = () => headsOf(JSON.stringify(json('heads', {}, saved('wide', wide))));

  test('at the commit of its revision, from the redirected host, without the tensors that no head needs', async () => {
    const { stdout, stderr } = await ask(['heads', 'a/wide@v1'], { HF_TOKEN: TOKEN });
    expect(headsOf(stdout)).toEqual(local());
    expect(JSON.parse(stdout).heads[0].model).toBe('a/wide@v1');
    const host = new URL(hub.endpoint).host;
    expect(stderr).toBe(
      `eigenscope: a/wide at commit ${COMMIT} of ${host}: model.safetensors (35.7 MB, only needed parts are ` +
        `requested), config.json (${WIDE_CONFIG.length} bytes)\n`,
    );
    const [listing, config] = hub.asked.filter(({ path }) => !path.endsWith('safetensors'));
    expect([listing.path, config.path]).toEqual([
      '/api/models/a/wide/revision/v1',
      `/a/wide/resolve/${COMMIT}/config.json`,
    ]);
    for (const { host, token } of hub.asked) expect(token).toBe(host === 'hub' ? `Bearer ${TOKEN}` : '');

    const { length } = safetensorsOf(WIDE);
    const header = Number(wide['model.safetensors'].readBigUInt64LE(0));
    const places = JSON.parse(wide['model.safetensors'].subarray(8, 8 + header).toString());
    const ranges = hub.asked.filter(({ host }) => host === 'store').map(({ range }) => range!);
    const bytes = ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0);
    const matrices = 2 * 4 * WIDTH * WIDTH;
    expect(bytes).toBeGreaterThan(matrices);
    expect(bytes).toBeLessThan(matrices + 4 * BLOCK);
    for (const name of Object.keys(places).filter((it) => /embed|mlp|model.norm/.test(it))) {
      const [begin, end] = places[name].data_offsets.map((it: number) => it + 8 + header);
      const inside = ranges.filter(([first, last]) => first < end - BLOCK && last >= begin + BLOCK);
      expect(inside, name).toEqual([]);
    }
    expect(Math.max(...ranges.map(([, last]) => last))).toBeLessThan(length);
  });

  test('in shards, as a GGUF file, by the address of its page and by URL', async () => {
    const expected = headsOf(JSON.stringify(json('heads', {}, saved('llama', llama))));
    const url = `${hub.store}/a/llama/model.safetensors?key=1`;
    for (const model of ['a/shards', `${hub.endpoint}/a/llama/blob/main/model.safetensors`, 'a/flaky', url]) {
      const { stdout, stderr } = await ask(['heads', model]);
      expect(stderr).toContain('only needed parts are requested');
      expect(headsOf(stdout), model).toEqual(expected);
    }
    const gguf = await ask(['heads', 'a/quantized/x-q8.gguf']);
    expect(headsOf(gguf.stdout)).toHaveLength(2);
    expect(gguf.stderr).not.toContain('config.json');
  });

  test('at several revisions, of which a missing one is named', async () => {
    const { status, stdout, stderr } = await ask(['heads', 'a/wide@step2000,step1000,step3000']);
    const { heads, excluded } = JSON.parse(stdout);
    expect(heads.map((it: { model: string; step: number }) => [it.model, it.step])).toEqual(
      [1000, 2000].flatMap((step) => [0, 1].map(() => [`a/wide@step${step}`, step])),
    );
    const single = headsOf(JSON.stringify(json('heads', {}, join(folder, 'wide'))));
    expect(headsOf(stdout).slice(0, 2)).toEqual(single.map((head) => ({ ...head, step: 1000 })));
    expect([status, excluded]).toEqual([0, [expect.stringContaining("has no revision 'step3000'")]]);
    expect(stderr).toContain("has no revision 'step3000'");
    const ranges = hub.asked.filter(({ host }) => host === 'store').map(({ range }) => range!);
    const bytes = ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0);
    expect(bytes).toBeLessThan(2 * (2 * 4 * WIDTH * WIDTH + 4 * BLOCK));
    expect((await ask(['heads', 'a/wide@step1000,step1000'])).stderr).toContain('MODEL must ');
  });

  test('with its tokenizer, and beside another', async () => {
    const sentence = ['--text', 'The whale swims.', '--csv'];
    const { stdout, stderr } = await ask(['attend', 'a/minilm', ...sentence]);
    expect(stderr).toContain('tokenizer.json (');
    expect(stdout).toBe((await ask(['attend', MINILM, ...sentence])).stdout);
    const drift = await ask(['head-drift', 'a/llama', '--changed', 'a/shards']);
    expect(JSON.parse(drift.stdout).heads[0].weight_distance).toBe(0);
  });

  test('although links expire', async () => {
    const { stdout } = await ask(['heads', 'a/expiring']);
    expect(headsOf(stdout)).toEqual(headsOf(JSON.stringify(json('heads', {}, join(folder, 'wide')))));
    const links = hub.asked.filter(({ host, path }) => host === 'hub' && path.endsWith('model.safetensors'));
    expect(links.length).toBeGreaterThan(1);
  });

  test.each(['gated', 'private'])('with HF_TOKEN where it is %s', async (access) => {
    const { stdout, stderr } = await ask(['heads', `a/${access}`], { HF_TOKEN: TOKEN });
    expect(headsOf(stdout)).toHaveLength(2);
    expect(stdout + stderr).not.toContain(TOKEN);
  });

  test('but a path that exists comes first', async () => {
    mkdirSync(join(folder, 'a'), { recursive: true });
    saved('a/llama', llama);
    const { stdout, stderr } = await ask(['heads', 'a/llama']);
    rmSync(join(folder, 'a'), { recursive: true });
    expect(headsOf(stdout)).toHaveLength(2);
    expect([stderr, hub.asked]).toEqual(['', []]);
  });
});

test('a mistyped path in a local folder is no model of the Hub', async () => {
  mkdirSync(join(folder, 'a'), { recursive: true });
  const grid = join(folder, 'mistyped.json');
  writeFileSync(grid, JSON.stringify({ experiment: 'x', operation: 'heads', checkpoints: ['a/llama'] }));
  const commands = [
    ['heads', 'a/llama'],
    ['heads', 'a/llama/model.safetensors'],
    ['heads', '--grid', grid, '--out', join(folder, 'mistyped')],
    ['tensors', 'a/llama@v1'],
    ['attend', 'a/minilm', '--text', 'x'],
    ['predict', 'a/minilm'],
    ['head-drift', join(folder, 'llama'), '--changed', 'a/llama'],
  ];
  const asked = await Promise.all(commands.map((command) => ask(command, { HF_TOKEN: TOKEN })));
  rmSync(join(folder, 'a'), { recursive: true });
  for (const { status, stderr } of asked) {
    expect(status).toBe(1);
    expect(stderr).toContain('it must be a path that exists, for a is here: found no such file or folder');
    expect(stderr).toContain(`must be given by its address, ${hub.endpoint}/a/`);
  }
  expect(hub.asked).toEqual([]);
});

describe('a model that cannot be read is refused in words', () => {
  const quick = { HF_HUB_DOWNLOAD_TIMEOUT: '1' };
  const weights = `/resolve/${COMMIT}/model.safetensors: `;

  test.each([
    ['a/absent', {}, 'a/absent: there is no such file or folder, and HOST has no model of this name that is public'],
    ['a/private', {}, 'HOST has no model of this name that is public (HF_TOKEN gives access to others)'],
    ['a/absent', { HF_TOKEN: TOKEN }, 'HOST has no model of this name that HF_TOKEN may read'],
    ['a/llama', { HF_TOKEN: 'hf_wrong' }, 'HOST has no such model, or does not accept HF_TOKEN'],
    ['a/llama@v2', {}, "a/llama: HOST has no revision 'v2' of it"],
    ['a/gated', {}, 'a/gated: it is gated: accept its terms on http://HOST/a/gated, and set HF_TOKEN'],
    [
      'a/closed',
      { HF_TOKEN: TOKEN },
      `${weights}its host answers with status 403: the account of HF_TOKEN must have access to a/closed`,
    ],
    [
      'a/empty',
      {},
      'a/empty: there is no .safetensors, .gguf, pytorch_model.bin, .pt, .pth or .ckpt file of a model in it',
    ],
    ['a/quantized', {}, 'it holds 2 .gguf files (x-q4.gguf, x-q8.gguf); name one of them, as in a/quantized/x-q4.gguf'],
    ['a/llama/x.gguf', {}, 'a/llama: there is no file x.gguf in it'],
    ['a/whole', {}, `a/whole${weights}its host STORE must serve parts of a file with its size (HTTP ranges)`],
    ['a/truncated', {}, `a/truncated${weights}the request to STORE failed: `],
    ['a/slow', quick, 'its host STORE does not answer, or sends less than 1000 bytes a second for 1 s; requested 3'],
    ['a/unavailable', {}, `a/unavailable${weights}its host answers with status 503; requested 3 times`],
    ['a/changing', {}, 'it changed while it was read: its etag was "1" and is "2"'],
    ['a/b/c', {}, 'a/b/c: there is no such file or folder'],
    ['http://STORE/a/llama', {}, 'a URL of a model must end with .safetensors or '],
    ['http://me:hf_1@STORE/a/llama/model.bin', {}, 'STORE: a URL of a model must not have a user name or a password'],
    ['http://STORE/a/llama/model.bin', { HF_ENDPOINT: 'huggingface.co' }, 'HF_ENDPOINT must begin with https://'],
    ['a/llama', { HF_HUB_DOWNLOAD_TIMEOUT: '0' }, 'HF_HUB_DOWNLOAD_TIMEOUT must be an integer from 1 to 3600: found 0'],
    ['a/llama', { HF_ENDPOINT: 'http://127.0.0.1:9' }, 'the request to 127.0.0.1:9 failed: '],
  ])('%s %j', async (model, env, message) => {
    const [host, store] = [hub.endpoint, hub.store].map((it) => new URL(it).host);
    const named = (text: string) => text.replaceAll('HOST', host).replaceAll('STORE', store);
    const { status, stdout, stderr } = await ask(['heads', named(model)], env);
    expect(stderr).toContain(named(message));
    expect(status).toBeGreaterThan(0);
    expect(stdout).toBe('');
    expect(stderr).not.toContain('hf_');
    expect(stderr).not.toContain('?s=');
  });
});
