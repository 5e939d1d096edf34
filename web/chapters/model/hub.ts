// Models of the Hugging Face Hub by their names.
import { partNames, WEIGHT_ENDINGS } from './checkpoint-files';
import { AddressError, ask } from './host';

const HUB = 'https://huggingface.co';

export interface HubModel {
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
export async function hubAddress(
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
