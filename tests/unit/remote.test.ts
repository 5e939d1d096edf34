import { expect, test, vi } from 'vitest';
import { AddressError, remoteCheckpoint } from '../../web/chapters/model/remote';

/** Resolves when a request is given up. */
const aborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));

test.each([
  ['never answers', (signal: AbortSignal) => aborted(signal)],
  [
    'answers and then sends nothing',
    (signal: AbortSignal) => ({
      ...{ ok: true, status: 200, headers: new Headers({ 'content-length': '20000' }) },
      blob: () => aborted(signal),
    }),
  ],
])('a host that %s is given up in words', async (_, answer) => {
  vi.useFakeTimers();
  vi.stubGlobal('fetch', async (_: URL, { signal }: { signal: AbortSignal }) => answer(signal));
  const address = 'https://a.host/model.safetensors.index.json';
  const failure = remoteCheckpoint(address, new AbortController().signal).catch((it: Error) => it);
  await vi.advanceTimersByTimeAsync(62_000);
  const message = 'Checkpoint URL: a.host cannot be read from this page: it is too slow, or does not answer';
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
