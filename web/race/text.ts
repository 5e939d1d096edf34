import { bytesOf } from '../engine/base64';
import address from '../generated/text.txt?url';

/** What the runs learn from. */
export interface Text {
  name: string;
  bytes: Uint8Array;
}

/** More of a file than this is not read: every piece of training hands the text to a worker. */
export const MOST_BYTES = 16e6;

/** The text that comes with the page: a file beside it, or inside the single file. */
export async function ownText(): Promise<Text> {
  const name = 'Moby Dick, first chapters';
  if (address.startsWith('data:')) return { name, bytes: bytesOf(address) };
  const response = await fetch(address);
  if (!response.ok) throw new Error(`the text did not load: ${response.status} ${address}`);
  return { name, bytes: new Uint8Array(await response.arrayBuffer()) };
}

/** A file that a person picked; it is read here and sent nowhere. */
export async function textOf(file: File): Promise<Text> {
  const bytes = new Uint8Array(await file.slice(0, MOST_BYTES).arrayBuffer());
  const cut = file.size > MOST_BYTES ? `, first ${MOST_BYTES / 1e6} MB` : '';
  return { name: `${file.name}${cut}`, bytes };
}
