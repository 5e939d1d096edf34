// What arrives in place of a file of the page, and what the page says of it. Each test has a file of its own.
import { crc32 } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { downloads, load, LoadError, NetworkError, type ShippedFile } from '../../web/engine/shipped';

const content = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 7, 8, 9);
let count = 0;

function fileOf(bytes = content): ShippedFile {
  const url = `./assets/engine-${++count}.wasm`;
  return { url, name: 'engine (engine.wasm)', bytes: bytes.length, crc32: crc32(bytes) };
}

/** Answers of a host in turn; the last one stays. What was asked is returned. */
function answer(...answers: (() => Response | Promise<Response>)[]): RequestCache[] {
  const asked: RequestCache[] = [];
  vi.stubGlobal('fetch', (_: string, { cache }: RequestInit) => {
    asked.push(cache!);
    return Promise.resolve(answers[Math.min(asked.length, answers.length) - 1]());
  });
  return asked;
}

const file = (bytes = content) => new Response(bytes);
const LOGIN = '<!DOCTYPE html><html><body><form>Password</form></body></html>';
const login = () => new Response(LOGIN, { headers: { 'content-type': 'text/html' } });
const failure = (it: ShippedFile) => load(it).catch((error: Error) => error) as Promise<Error>;

beforeEach(() => {
  vi.stubGlobal('navigator', { onLine: true });
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test('the bytes are fetched once', async () => {
  const asked = answer(file);
  const it = fileOf();
  expect(await load(it)).toEqual(content);
  expect(await load(it)).toEqual(content);
  expect(asked).toEqual(['default']);
});

describe('what is not the file', () => {
  const flipped = Uint8Array.from(content, (byte, at) => (at === 9 ? byte ^ 1 : byte));
  test.each([
    ['a page to log in', login, /with a web page.*Log in/],
    ['a truncated file', () => file(content.slice(0, 5)), /must have 11 bytes, and 5 arrived/],
    ['a changed file', () => file(flipped), /must have the CRC-32 [0-9a-f]{8}, and what arrived/],
    ['no file', () => new Response('', { status: 404 }), /status 404.*reload the page/],
    ['a refusal', () => new Response('', { status: 403 }), /status 403\.$/],
  ])('%s is named with its address, and asked for without the cache once', async (_, host, text) => {
    const asked = answer(host);
    const it = fileOf();
    const error = await failure(it);
    expect(error).toBeInstanceOf(LoadError);
    expect(error).not.toBeInstanceOf(NetworkError);
    expect(error.message).toMatch(text);
    expect(error.message).toContain(it.url);
    expect(error.message).not.toMatch(/policy/i);
    expect(asked).toEqual(['default', 'reload']);
  });

  test('does not stay: a damaged copy in the cache is replaced at once', async () => {
    const asked = answer(() => file(content.slice(0, 5)), file);
    expect(await load(fileOf())).toEqual(content);
    expect(asked).toEqual(['default', 'reload']);
  });

  test('does not stay: the next call asks the host again', async () => {
    answer(login, login, file);
    const it = fileOf();
    await failure(it);
    expect(await load(it)).toEqual(content);
  });
});

describe('a host that cannot answer', () => {
  test.each([
    ['is busy', true, () => new Response('', { status: 503 }), /status 503/],
    ['fails', true, () => Promise.reject(new TypeError('Failed to fetch')), /Failed to fetch/],
    ['is out of reach', false, () => Promise.reject(new TypeError('x')), /the browser is offline/],
  ])('since it %s is worth asking again', async (_, onLine, host, text) => {
    vi.stubGlobal('navigator', { onLine });
    answer(host);
    const error = await failure(fileOf());
    expect(error).toBeInstanceOf(NetworkError);
    expect(error.message).toMatch(text);
  });

  test('since it sends nothing is given up after 20 s, and the download is seen until then', async () => {
    vi.useFakeTimers();
    vi.stubGlobal('fetch', (_: string, { signal }: RequestInit) => {
      const body = new ReadableStream({
        start(controller) {
          controller.enqueue(content.slice(0, 4));
          signal!.addEventListener('abort', () => controller.error(signal!.reason));
        },
      });
      return Promise.resolve(new Response(body));
    });
    const it = fileOf();
    const error = failure(it);
    await vi.advanceTimersByTimeAsync(19_000);
    expect(downloads()).toEqual([{ file: it, received: 4, wanted: true }]);
    await vi.advanceTimersByTimeAsync(1000);
    expect(await error).toBeInstanceOf(NetworkError);
    expect((await error).message).toContain('no byte of');
    expect(downloads()).toEqual([]);
  });
});
