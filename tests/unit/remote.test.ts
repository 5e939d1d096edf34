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
