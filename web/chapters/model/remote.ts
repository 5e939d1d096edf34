import { hostPatience } from '../../engine/patience';
import type { Remote } from '../../engine/protocol';
import { partNames, shardsOf, type Checkpoint } from './checkpoint-files';

const ENDINGS = ['.safetensors', '.safetensors.index.json', '.gguf', '.bin', '.bin.index.json'];

/** What is wrong with a URL, or with the answer of its host. */
export class AddressError extends Error {}

/**
 * The checkpoint at an address: a .safetensors, .gguf or .bin file, with the other parts of a GGUF model, or the
 * index of shards beside it. Asks the host
 * for the index, the sizes, and the config.json and tokenizer.json beside it; the weights are read
 * later, by ranges. Throws AddressError.
 */
export async function remoteCheckpoint(address: string, signal: AbortSignal): Promise<Checkpoint> {
  const url = urlOf(address);
  const ending = shardsOf(fileName(url));
  const index = ending === null ? null : await fileAt(url, signal);
  const names = index ? namesIn(await index.text()) : partNames(fileName(url));
  const [model, config, tokenizer] = await Promise.all([
    Promise.all(names.map((name) => remoteAt(beside(url, name), signal))),
    fileBeside(url, 'config.json', signal),
    fileBeside(url, 'tokenizer.json', signal),
  ]);
  return { name: fileName(url), model, index, config, tokenizer };
}

function urlOf(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : null;
  const path = url?.pathname ?? '';
  if (url && /^https?:$/.test(url.protocol) && ENDINGS.some((it) => path.endsWith(it))) {
    return url;
  }
  throw new AddressError(
    `Checkpoint URL: '${address}' is not allowed; it must begin with https:// or http:// and end with ` +
      ENDINGS.join(' or '),
  );
}

function fileName({ pathname }: URL): string {
  return decodeURIComponent(pathname.slice(pathname.lastIndexOf('/') + 1));
}

/** A file in the same folder; what follows a question mark, such as a key, is kept. */
function beside(url: URL, name: string): URL {
  const other = new URL(encodeURIComponent(name), url);
  other.search = url.search;
  return other;
}

/** The files that an index names; a text that is no index has none, and the library says why. */
function namesIn(text: string): string[] {
  try {
    const { weight_map: map } = JSON.parse(text) as { weight_map: Record<string, string> };
    const names = Object.values(map).filter((name) => /^[^/\\:]+\.(safetensors|bin)$/.test(name));
    return [...new Set(names)];
  } catch {
    return [];
  }
}

/** Bytes for which a host gets time that does not say how many it sends. */
const UNKNOWN_LENGTH = 10e6;

/** Asks a host and reads its answer. Throws AddressError when this page cannot ask it, or it is too slow. */
async function ask<T>(
  url: URL,
  { signal, ...init }: RequestInit & { signal: AbortSignal },
  read: (response: Response) => T | Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const within = (bytes: number) => setTimeout(() => late.abort(), hostPatience(bytes));
  let timer = within(0);
  try {
    const response = await fetch(url, {
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      ...init,
      signal: AbortSignal.any([signal, late.signal]),
    });
    clearTimeout(timer);
    timer = within(Number(response.headers.get('content-length') ?? UNKNOWN_LENGTH));
    return await read(response);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof AddressError) throw error;
    const why = late.signal.aborted
      ? 'it is too slow, or does not answer'
      : 'it does not answer, or does not let other pages read it (CORS)';
    throw new AddressError(`Checkpoint URL: ${url.host} cannot be read from this page: ${why}`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

/** A small file, read whole. */
async function fileAt(url: URL, signal: AbortSignal): Promise<File> {
  return ask(url, { signal }, async (response) => {
    if (!response.ok) throw statusError(url, response);
    return new File([await response.blob()], fileName(url));
  });
}

/** The same of a file that need not be there; hosts may let no page read that it is not. */
async function fileBeside(url: URL, name: string, signal: AbortSignal): Promise<File | null> {
  try {
    return await fileAt(beside(url, name), signal);
  } catch (error) {
    if (error instanceof AddressError) return null;
    throw error;
  }
}

/** A file to be read by ranges: its first byte is asked for, to see that there are any. */
async function remoteAt(url: URL, signal: AbortSignal): Promise<Remote> {
  const stop = new AbortController();
  const range = { headers: { Range: 'bytes=0-0' }, signal: AbortSignal.any([signal, stop.signal]) };
  const first = await ask(url, range, (response) => response);
  stop.abort(); // a host without ranges sends all of it
  if (!first.ok) throw statusError(url, first);
  if (first.status !== 206) {
    throw new AddressError(`Checkpoint URL: ${url.host} does not serve parts of a file (HTTP ranges)`);
  }
  const said = /\/(\d+)$/.exec(first.headers.get('content-range') ?? '')?.[1];
  const lengthOf = ({ headers }: Response) => headers.get('content-length');
  const size = said ?? (await ask(url, { method: 'HEAD', signal }, lengthOf));
  if (size === null) {
    throw new AddressError(`Checkpoint URL: ${url.host} does not send the size of ${fileName(url)}`);
  }
  const version = { etag: first.headers.get('etag'), modified: first.headers.get('last-modified') };
  return { url: url.href, name: fileName(url), size: Number(size), version };
}

function statusError(url: URL, { status }: Response): AddressError {
  return new AddressError(`Checkpoint URL: ${url.host} answers ${status} for ${fileName(url)}`);
}
