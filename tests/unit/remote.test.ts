import { expect, test, vi } from 'vitest';
import { AddressError } from '../../web/chapters/model/files/remote';
import { hubModel } from '../../web/chapters/model/files/remote';
import { remoteCheckpoint } from '../../web/chapters/model/files/remote';

/** Resolves when a request is given up. */
const aborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));

test.each([
  ['never answers', (signal: AbortSignal) => aborted(signal)],
  [
    'answers and then sends nothing',
    (signal: AbortSignal) => ({
      ok: true,
      status: 200,
      headers: new Headers({ 'content-length': '20000' }),
      blob: () => aborted(signal),
    }),
  ],
])('a host that %s is given up in words', async (_, answer) => {
  vi.useFakeTimers();
  vi.stubGlobal('fetch', async (_: URL, { signal }: { signal: AbortSignal }) => answer(signal));
  const address = 'https://a.host/model.safetensors.index.json';
  const failure = remoteCheckpoint(address, new AbortController().signal).catch((it: Error) => it);
  await vi.advanceTimersByTimeAsync(62_000);
  const message = 'a.host cannot be read from this page: it is too slow, or does not answer';
  expect(await failure).toEqual(new AddressError(message));
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** A host that has these files, each with a byte. */
function hostOf(files: Record<string, string>): string[] {
  const asked: string[] = [];
  vi.stubGlobal('fetch', async (url: URL) => {
    const name = url.pathname.slice(1);
    asked.push(name);
    const text = files[name];
    if (text === undefined) return new Response('', { status: 404 });
    const isJson = name.endsWith('.json');
    return new Response(text, { status: isJson ? 200 : 206, headers: { 'content-range': 'bytes 0-0/9' } });
  });
  return asked;
}

test.each([
  ['the index of shards of PyTorch', 'pytorch_model.bin.index.json', ['a.bin', 'b.bin']],
  ['one part of a GGUF model', 'm-00002-of-00002.gguf', ['m-00001-of-00002.gguf', 'm-00002-of-00002.gguf']],
])('%s has the other files beside it', async (_, name, names) => {
  const index = JSON.stringify({ weight_map: { x: 'a.bin', y: 'b.bin', z: 'a.bin', hostile: '../c.bin' } });
  hostOf({ 'pytorch_model.bin.index.json': index, ...Object.fromEntries(names.map((it) => [it, 'x'])) });
  const { model } = await remoteCheckpoint(`https://a.host/${name}`, new AbortController().signal);
  expect(model.map((it) => it.name)).toEqual(names);
  hostOf({ 'pytorch_model.bin.index.json': index, [names[1]]: 'x' });
  await expect(remoteCheckpoint(`https://a.host/${name}`, new AbortController().signal)).rejects.toThrow(
    `answers 404 for ${names[0]}`,
  );
  vi.unstubAllGlobals();
});

const HUB = 'https://huggingface.co';

test.each([
  ['a/b', 'a/b', 'main', null],
  ['gpt2', 'gpt2', 'main', null],
  ['gpt2@v2/x.gguf', 'gpt2', 'v2', 'x.gguf'],
  [`${HUB}/gpt2`, 'gpt2', 'main', null],
  [`${HUB}/gpt2/blob/main/model.safetensors`, 'gpt2', 'main', 'model.safetensors'],
  ['a/b-1.5_c@v2', 'a/b-1.5_c', 'v2', null],
  ['a/b@v2/x.gguf', 'a/b', 'v2', 'x.gguf'],
  [`${HUB}/a/b`, 'a/b', 'main', null],
  [`${HUB}/a/b/tree/dev?x=1`, 'a/b', 'dev', null],
  [`${HUB}/a/b/blob/main/model.safetensors`, 'a/b', 'main', 'model.safetensors'],
])('%s is a model of the Hub', (text, name, revision, file) => {
  expect(hubModel(text)).toEqual({ name, revision, file });
});

test.each([
  'model.safetensors',
  'a/model.safetensors',
  'a/b@',
  'a/b@x@y',
  'a/b/config.json',
  'a b/c',
  '../b',
  'https://a.host/a/b',
  ...[`${HUB}/a/b/discussions/1`, `${HUB}/datasets/a/b`, `${HUB}/a/b/blob/main/onnx/model.safetensors`, `${HUB}/`],
])('%s is none', (text) => {
  expect(hubModel(text)).toBeNull();
});

/** The Hub with one model, `a/b`, which has these files. */
function hubOf(files: string[], { gated = false as boolean | string, sha = 'c0ffee' as unknown } = {}): string[] {
  const asked: string[] = [];
  vi.stubGlobal('fetch', async (url: URL) => {
    asked.push(url.pathname);
    const listing = { sha, gated, siblings: files.map((rfilename) => ({ rfilename })) };
    if (url.pathname === '/api/models/a/b/revision/main') return new Response(JSON.stringify(listing));
    // The Hub leads the name alone to the model of its owner.
    if (url.pathname === '/api/models/b/revision/main') return new Response(JSON.stringify({ id: 'a/b', ...listing }));
    if (url.pathname.startsWith('/api/models/a/b/')) {
      return new Response('', { status: 404, headers: { 'x-error-code': 'RevisionNotFound' } });
    }
    if (url.pathname.startsWith('/api/')) return new Response('', { status: 401 });
    const name = url.pathname.replace(`/a/b/resolve/${String(sha)}/`, '');
    if (!files.includes(name)) return new Response('', { status: 404 });
    return new Response('x', {
      status: name.endsWith('.json') ? 200 : 206,
      headers: { 'content-range': 'bytes 0-0/9' },
    });
  });
  return asked;
}

const named = (text: string) => remoteCheckpoint(text, new AbortController().signal);

test('a model of the Hub is read at its commit, with its configuration', async () => {
  const asked = hubOf(['README.md', 'config.json', 'model.safetensors', 'pytorch_model.bin', 'onnx/model.bin']);
  const { name, model, config, tokenizer } = await named('a/b');
  expect([name, model, config?.name, tokenizer]).toEqual([
    'a/b',
    [expect.objectContaining({ url: `${HUB}/a/b/resolve/c0ffee/model.safetensors`, size: 9 })],
    'config.json',
    null,
  ]);
  expect(asked[0]).toBe('/api/models/a/b/revision/main');
  const alone = await named('b');
  expect([alone.name, alone.model]).toEqual([name, model]);
  hubOf(['x-00001-of-00002.gguf', 'x-00002-of-00002.gguf']);
  expect((await named('a/b')).model).toHaveLength(2);
  vi.unstubAllGlobals();
});

test.each([
  ['a/b', ['x.gguf', 'y.gguf'], {}, 'a/b has several files of weights: x.gguf, y.gguf. Name one, as in a/b/x.gguf'],
  ['a/b', ['README.md'], {}, 'a/b has no file that ends with .safetensors or'],
  ['a/b', ['model.safetensors'], { gated: 'auto' }, 'a/b is gated: huggingface.co sends it only to accounts'],
  ['a/b', [], { sha: 7 }, 'huggingface.co must list the files of a/b with their revision, but does not'],
  ['https://me:secret@files.example/model.safetensors', [], {}, 'it must not have a user name or a password'],
  ['a/b@dev', [], {}, "a/b has no revision 'dev' on huggingface.co"],
  ['a/c', [], {}, 'huggingface.co has no public model a/c'],
  ['a/b/absent.gguf', [], {}, 'huggingface.co answers 404 for absent.gguf'],
])('%s with %j %j is refused in words', async (text, files, options, message) => {
  hubOf(files, options);
  await expect(named(text)).rejects.toThrow(`Name or URL: ${message}`);
  vi.unstubAllGlobals();
});
