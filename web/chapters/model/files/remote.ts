// Checkpoints of other hosts: models of the Hugging Face Hub by their names, files by their URLs.
import { hostPatience } from '../../../engine/patience';
import type { Remote } from '../../../engine/protocol';
import { WEIGHT_ENDINGS, partNames, shardsOf } from './files';
import type { Checkpoint } from '../../shared/checkpoint';

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
async function fileAt(url: URL, signal: AbortSignal): Promise<File> {
  return ask(url, { signal }, async (response) => {
    if (!response.ok) throw statusError(url, response);
    return new File([await response.blob()], fileName(url));
  });
}

/** A file to be read by ranges: its first byte is asked for, to see that there are any. */
async function remoteAt(url: URL, signal: AbortSignal): Promise<Remote> {
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

const HUB = 'https://huggingface.co';

interface HubModel {
  /** Owner and name, such as `google/gemma-2b`; the name alone of a model that the Hub knows by it, such as `gpt2`. */
  name: string;
  /** A branch, a tag or a commit. */
  revision: string;
  /** A file of weights or an index of shards in the model's folder; null for the only one. */
  file: string | null;
}

/**
 * The model that a person means by `name`, `owner/name` or `owner/name@revision`, with or without `/file` behind it, or
 * by the address of its page or of a file on the Hub; null for anything else.
 */
export function hubModel(text: string): HubModel | null {
  const [, name, revision, file] = text.startsWith(`${HUB}/`)
    ? (/^\/((?:[^/]+\/)?[^/]+)\/?(?:(?:tree|blob|resolve)\/([^/]+)\/?([^/]+)?)?$/.exec(new URL(text).pathname) ?? [])
    : (/^((?:[^/@]+\/)?[^/@]+)(?:@([^/@]+))?(?:\/([^/@]+))?$/.exec(text) ?? []);
  if (name === undefined || ![name, revision ?? 'main'].every(isPlain) || isWeights(name)) return null;
  return file === undefined || isWeights(file) ? { name, revision: revision ?? 'main', file: file ?? null } : null;
}

const isPlain = (text: string) => /^[\w-][\w.-]*(\/[\w-][\w.-]*)?$/.test(text);
const isWeights = (text: string) => WEIGHT_ENDINGS.some((ending) => text.endsWith(ending));

/** `owner/name@revision` for each of `owner/name@revision,revision,...`; any other text itself. */
export function eachRevision(text: string): string[] {
  const [, name, revisions = '', file] = /^([^:@]+@)([^/@]+,[^/@]+)(.*)$/.exec(text) ?? [];
  return revisions ? revisions.split(',').map((it) => name + it + file) : [text];
}

/** What the Hub says of a model. */
interface Listing {
  /** Owner and name. */
  id?: string;
  /** Of the commit. */
  sha: string;
  /** Whether files are sent only to those who accepted its terms. */
  gated: boolean | string;
  siblings: { rfilename: string }[];
}

/**
 * Where the weights of a model are, at the commit that its revision has now, and its owner and name. Throws
 * AddressError.
 */
async function hubAddress(
  { name: given, revision, file }: HubModel,
  signal: AbortSignal,
): Promise<{ name: string; url: URL }> {
  const url = new URL(`${HUB}/api/models/${given}/revision/${encodeURIComponent(revision)}`);
  const listing = await ask(url, { signal }, async (response) => {
    if (!response.ok) throw new AddressError(refusalOf(given, revision, response));
    return listingOf(given, await response.text());
  });
  const { sha, gated, siblings } = listing;
  const name = listing.id && isPlain(listing.id) ? listing.id : given; // the name alone leads to that
  if (gated) {
    throw new AddressError(
      `${name} is gated: ${url.host} sends it only to accounts that accepted its terms. Download it there and open ` +
        'the folder',
    );
  }
  const chosen =
    file ??
    weightsAmong(
      name,
      siblings.map(({ rfilename }) => rfilename),
    );
  return { name, url: new URL(`${HUB}/${name}/resolve/${sha}/${encodeURIComponent(chosen)}`) };
}

function listingOf(name: string, text: string): Listing {
  try {
    const listing = JSON.parse(text) as Listing;
    if (typeof listing.sha === 'string' && listing.siblings.every((it) => typeof it.rfilename === 'string'))
      return listing;
  } catch {
    // said below
  }
  throw new AddressError(`${new URL(HUB).host} must list the files of ${name} with their revision, but does not`);
}

/** The Hub does not tell a missing model from a private one. */
function refusalOf(name: string, revision: string, { status, headers }: Response): string {
  const { host } = new URL(HUB);
  if (status === 404 && headers.get('x-error-code') !== 'RepoNotFound')
    return `${name} has no revision '${revision}' on ${host}`;
  if ([401, 403, 404].includes(status)) return `${host} has no public model ${name}`;
  return `${host} answers ${status} for ${name}`;
}

/** In the order in which one of them is taken as the weights, although there are others. */
const USUAL = WEIGHT_ENDINGS.filter((it) => it !== '.gguf').map(
  (it) => (it.startsWith('.bin') ? 'pytorch_model' : 'model') + it,
);

/** The file of weights among the names of a model's files. */
function weightsAmong(name: string, files: string[]): string {
  const usual = USUAL.find((it) => files.includes(it));
  if (usual) return usual;
  const own = files.filter((it) => !it.includes('/') && isWeights(it));
  const weights = own.filter((it) => partNames(it)[0] === it);
  if (weights.length === 1) return weights[0];
  if (weights.length === 0) throw new AddressError(`${name} has no file that ends with ${WEIGHT_ENDINGS.join(' or ')}`);
  const most = 12;
  const more = weights.length > most ? `, and ${weights.length - most} more` : '';
  throw new AddressError(
    `${name} has several files of weights: ${weights.slice(0, most).join(', ')}${more}. Name one, as in ` +
      `${name}/${weights[0]}`,
  );
}

/**
 * The checkpoint of a model of the Hugging Face Hub (hubModel), or at a URL: a .safetensors, .gguf or .bin file, with
 * the other parts of a GGUF model, or the index of shards beside it. Asks the host for the index, the sizes, and the
 * config.json, tokenizer.json and preprocessor_config.json beside it; the weights are read later, by ranges. Throws AddressError.
 */
export async function remoteCheckpoint(address: string, signal: AbortSignal): Promise<Checkpoint> {
  const model = hubModel(address);
  if (!model) return checkpointAt(urlOf(address), signal);
  const { name, url } = await hubAddress(model, signal);
  const { revision } = model;
  return {
    ...(await checkpointAt(url, signal)),
    name: revision === 'main' ? name : `${name}@${revision}`,
    folder: revision,
  };
}

async function checkpointAt(url: URL, signal: AbortSignal): Promise<Checkpoint> {
  const ending = shardsOf(fileName(url));
  const index = ending === null ? null : await fileAt(url, signal);
  const names = index ? namesIn(await index.text()) : partNames(fileName(url));
  const [model, config, tokenizer, preprocessor] = await Promise.all([
    Promise.all(names.map((name) => remoteAt(beside(url, name), signal))),
    fileBeside(url, 'config.json', signal),
    fileBeside(url, 'tokenizer.json', signal),
    fileBeside(url, 'preprocessor_config.json', signal),
  ]);
  return { name: fileName(url), model, index, config, tokenizer, preprocessor };
}

function urlOf(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : null;
  const path = url?.pathname ?? '';
  if (url?.username || url?.password) {
    throw new AddressError('it must not have a user name or a password');
  }
  if (url && /^https?:$/.test(url.protocol) && WEIGHT_ENDINGS.some((it) => path.endsWith(it))) {
    return url;
  }
  throw new AddressError(
    `it must be name or owner/name, or begin with https:// or http:// and end with ${WEIGHT_ENDINGS.join(' or ')}: ` +
      `found '${address}'`,
  );
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

/** The same of a file that need not be there; hosts may let no page read that it is not. */
async function fileBeside(url: URL, name: string, signal: AbortSignal): Promise<File | null> {
  try {
    return await fileAt(beside(url, name), signal);
  } catch (error) {
    if (error instanceof AddressError) return null;
    throw error;
  }
}
