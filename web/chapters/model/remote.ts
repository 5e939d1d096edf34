import { partNames, shardsOf, WEIGHT_ENDINGS } from './checkpoint-files';
import type { Checkpoint } from '../shared/checkpoint';
import { AddressError, fileAt, fileName, remoteAt } from './host';
import { hubAddress, hubModel } from './hub';

/**
 * The checkpoint of a model of the Hugging Face Hub (hubModel), or at a URL: a .safetensors, .gguf or .bin file, with
 * the other parts of a GGUF model, or the index of shards beside it. Asks the host for the index, the sizes, and the
 * config.json, tokenizer.json and preprocessor_config.json beside it; the weights are read later, by ranges. Throws AddressError.
 */
export async function remoteCheckpoint(address: string, signal: AbortSignal): Promise<Checkpoint> {
  const model = hubModel(address);
  if (!model) return checkpointAt(urlOf(address), signal);
  const { name, url } = await hubAddress(model, signal);
  return { ...(await checkpointAt(url, signal)), name };
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
