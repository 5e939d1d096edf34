import { load } from '../../engine/shipped';
import book from '../../generated/book.txt?shipped';
import ownFile from '../../generated/text.txt?shipped';

/** What the runs learn from. */
export interface Text {
  name: string;
  bytes: Uint8Array;
}

/** What the page's own text is called. */
export const OWN_TEXT = 'Moby Dick, first chapters';
/** What the text of the published experiments is called. */
const BOOK = 'Moby Dick, the whole book';

/** More of a file than this is not read: every piece of training hands the text to a worker. */
const MOST_BYTES = 16e6;

/** The text that the next comparison learns from: the page's own until a person gives a file. */
export class TextSource {
  private given: Text | null = null;

  /** Fetched when it is first needed; a fetch that failed is tried again. */
  async load(): Promise<Text> {
    return this.given ?? ownText();
  }

  take(text: Text): void {
    this.given = text;
  }
}

/** The text of the published experiments, the same bytes each time. */
export async function bookText(): Promise<Text> {
  return { name: BOOK, bytes: await load({ ...book, name: 'book' }) };
}

/** The text that comes with the page. */
export async function ownText(): Promise<Text> {
  return { name: OWN_TEXT, bytes: await load({ ...ownFile, name: 'text' }) };
}

/** Whether bytes are UTF-8. */
export function isText(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** A file that a person picked; it is read here and sent nowhere. */
export async function textOf(file: File): Promise<Text> {
  if (file.size === 0) throw new Error('the text must have at least 1 byte: it has 0');
  const bytes = new Uint8Array(await file.slice(0, MOST_BYTES).arrayBuffer());
  if (file.size <= MOST_BYTES) return { name: file.name, bytes };
  return { name: `${file.name}, first ${MOST_BYTES / 1e6} MB`, bytes: wholeCharacters(bytes) };
}

/** A file for a tokenizer. */
export async function utf8Of(file: File): Promise<Text> {
  const text = await textOf(file);
  if (!isText(text.bytes)) throw new Error('the text must be UTF-8');
  return text;
}

/** Without the character of UTF-8 in which the bytes may end. */
function wholeCharacters(bytes: Uint8Array): Uint8Array {
  const isContinued = (byte: number) => (byte & 0xc0) === 0x80;
  const last = bytes.findLastIndex((byte) => !isContinued(byte));
  return bytes[last] < 0x80 ? bytes : bytes.subarray(0, last);
}
