// Asks other hosts for files.
import { hostPatience } from '../../engine/patience';
import type { Remote } from '../../engine/protocol';

/** What is wrong with a name or a URL, or with the answer of its host. */
export class AddressError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(`Name or URL: ${message}`, options);
  }
}

export function fileName({ pathname }: URL): string {
  return decodeURIComponent(pathname.slice(pathname.lastIndexOf('/') + 1));
}

/** Bytes for which a host gets time that does not say how many it sends. */
const UNKNOWN_LENGTH = 10e6;

/** Asks a host and reads its answer. Throws AddressError when this page cannot ask it, or it is too slow. */
export async function ask<T>(
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
    throw new AddressError(`${url.host} cannot be read from this page: ${why}`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

/** A small file, read whole. */
export async function fileAt(url: URL, signal: AbortSignal): Promise<File> {
  return ask(url, { signal }, async (response) => {
    if (!response.ok) throw statusError(url, response);
    return new File([await response.blob()], fileName(url));
  });
}

/** A file to be read by ranges: its first byte is asked for, to see that there are any. */
export async function remoteAt(url: URL, signal: AbortSignal): Promise<Remote> {
  const stop = new AbortController();
  const range = { headers: { Range: 'bytes=0-0' }, signal: AbortSignal.any([signal, stop.signal]) };
  const first = await ask(url, range, (response) => response);
  stop.abort(); // a host without ranges sends all of it
  if (!first.ok) throw statusError(url, first);
  if (first.status !== 206) {
    throw new AddressError(`${url.host} does not serve parts of a file (HTTP ranges)`);
  }
  const said = /\/(\d+)$/.exec(first.headers.get('content-range') ?? '')?.[1];
  const lengthOf = ({ headers }: Response) => headers.get('content-length');
  const size = said ?? (await ask(url, { method: 'HEAD', signal }, lengthOf));
  if (size === null) {
    throw new AddressError(`${url.host} does not send the size of ${fileName(url)}`);
  }
  const version = { etag: first.headers.get('etag'), modified: first.headers.get('last-modified') };
  return { url: url.href, name: fileName(url), size: Number(size), version };
}

function statusError(url: URL, { status }: Response): AddressError {
  return new AddressError(`${url.host} answers ${status} for ${fileName(url)}`);
}
