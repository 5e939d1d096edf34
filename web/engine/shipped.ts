/** A file that comes with the page: beside it on the host, or inside the single file. */
export interface ShippedFile {
  /** As the build wrote it; a data: URL inside the single file. */
  url: string;
  /** Its length in bytes and its CRC-32, as the build found them. */
  bytes: number;
  crc32: number;
  /** How messages call it, after "the": "engine (engine.wasm)". */
  name: string;
}

/** A shipped file did not arrive whole. Asked for again, it may. */
export class LoadError extends Error {
  constructor({ name }: ShippedFile, reason: string, options?: ErrorOptions) {
    super(`Cannot load the ${name}: ${reason}`, options);
  }
}

/** The host cannot be reached, or cannot answer now: worth asking again without being told to. */
export class NetworkError extends LoadError {}

/** A file on its way. */
export interface Download {
  file: ShippedFile;
  /** Bytes so far. */
  received: number;
  /** Something waits for it; otherwise it is loaded ahead. */
  wanted: boolean;
}

/** A download of which no byte comes for so many seconds is given up. */
const MOST_SILENT = 20;

const files = new Map<string, Promise<Uint8Array<ArrayBuffer>>>();
const underWay = new Map<string, Download>();

/** The files on their way that something waits for. */
export function downloads(): Download[] {
  return [...underWay.values()].filter(({ wanted }) => wanted);
}

/**
 * The bytes of a shipped file, fetched once and compared with what the build wrote; what failed is fetched
 * again by the next call. Throws NetworkError where the host cannot be reached, LoadError where the host
 * does not have the file or sends another.
 */
export function load(file: ShippedFile): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = begun(file);
  const download = underWay.get(file.url);
  if (download) download.wanted = true;
  return bytes;
}

/** The value of a shipped JSON file, of which `Value` is the type. Throws as `load`. */
export async function loadJson<Value>(file: ShippedFile): Promise<Value> {
  return JSON.parse(new TextDecoder().decode(await load(file))) as Value;
}

function begun(file: ShippedFile): Promise<Uint8Array<ArrayBuffer>> {
  const { url } = file;
  const known = files.get(url);
  if (known) return known;
  if (!isInside(file)) underWay.set(url, { file, received: 0, wanted: false });
  const bytes = read(file).finally(() => underWay.delete(url));
  files.set(url, bytes);
  bytes.catch(() => files.delete(url));
  return bytes;
}

async function read(file: ShippedFile): Promise<Uint8Array<ArrayBuffer>> {
  if (isInside(file)) return bytesOf(file.url);
  const found = await fetched(file, 'default');
  if (!found.flaw) return found.bytes;
  // The browser may have kept a damaged copy: the second time the host itself is asked.
  const again = await fetched(file, 'reload');
  if (!again.flaw) return again.bytes;
  throw again.mayPass ? new NetworkError(file, again.flaw) : new LoadError(file, again.flaw);
}

const isInside = ({ url }: ShippedFile) => url.startsWith('data:');

/** What the host sent. */
interface Fetched {
  bytes: Uint8Array<ArrayBuffer>;
  /** Why it is not the file, as a sentence; '' where it is. */
  flaw: string;
  /** The host has only trouble at present. */
  mayPass: boolean;
}

async function fetched(file: ShippedFile, cache: RequestCache): Promise<Fetched> {
  const silence = new AbortController();
  let silent = 0;
  // Ticks, not time: a page that slept has not waited.
  const timer = setInterval(() => {
    if (++silent >= MOST_SILENT) silence.abort();
  }, 1000);
  try {
    const response = await fetch(file.url, { cache, signal: silence.signal });
    const bytes = await received(response, (length) => {
      silent = 0;
      const download = underWay.get(file.url);
      if (download) download.received = length;
    });
    return { bytes, flaw: flawOf(file, response, bytes), mayPass: isPassing(response.status) };
  } catch (error) {
    const reason = silence.signal.aborted
      ? `no byte of ${file.url} arrived for ${MOST_SILENT} s.`
      : navigator.onLine
        ? `the request for ${file.url} failed (${(error as Error).message}).`
        : 'the browser is offline.';
    throw new NetworkError(file, reason, { cause: error });
  } finally {
    clearInterval(timer);
  }
}

/** The whole body; `progress` hears of the bytes so far whenever some came. */
async function received(response: Response, progress: (length: number) => void): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  progress(length);
  const reader = response.body?.getReader();
  for (let part = await reader?.read(); part?.value; part = await reader?.read()) {
    parts.push(part.value);
    length += part.value.length;
    progress(length);
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** Too many requests, or a failure of the host itself. */
const isPassing = (status: number) => status === 429 || status >= 500;

const MARKUP = /^\s*<(!doctype|html|head|body|script|meta)\b/i;

/** Why what a host sent is not the file, as a sentence; '' where it is. */
function flawOf(file: ShippedFile, response: Response, bytes: Uint8Array): string {
  const { url } = file;
  if (!response.ok) {
    const advice = response.status === 404 ? ' The site may have been updated: reload the page.' : '';
    return `the host answered ${url} with status ${response.status}.${advice}`;
  }
  const start = new TextDecoder().decode(bytes.subarray(0, 200));
  if (MARKUP.test(start)) {
    const from = response.redirected ? `, from ${response.url}` : '';
    return (
      `the host answered ${url} with a web page${from}, as for a login or an error. ` +
      'Log in where the host asks for it, then try again.'
    );
  }
  const damaged = 'The file on the host is damaged or of another build, or it was changed in transit.';
  const count = (value: number) => value.toLocaleString('en');
  if (bytes.length !== file.bytes) {
    return `${url} must have ${count(file.bytes)} bytes, and ${count(bytes.length)} arrived. ${damaged}`;
  }
  const found = crc32(bytes);
  if (found === file.crc32) return '';
  const hex = (value: number) => value.toString(16).padStart(8, '0');
  return `${url} must have the CRC-32 ${hex(file.crc32)}, and what arrived has ${hex(found)}. ${damaged}`;
}

/**
 * Loads what no figure has asked for yet, one file after the other, so that the page keeps working
 * without a connection. Not where the person asks for little data; what fails is asked for when it is
 * needed.
 */
export async function prefetch(wanted: readonly ShippedFile[]): Promise<void> {
  const { connection } = navigator as { connection?: { saveData?: boolean } };
  if (connection?.saveData) return;
  for (const file of wanted) {
    if (!isInside(file)) await begun(file).catch(() => {});
  }
}

/** Makes a value when it is first asked for, and the same one after that; what was rejected is made anew. */
export function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | null = null;
  return () => {
    if (made) return made;
    made = make();
    made.catch(() => (made = null));
    return made;
  };
}

/** The bytes that a data: URL of base64 holds. */
export function bytesOf(url: string): Uint8Array<ArrayBuffer> {
  const text = atob(url.slice(url.indexOf(',') + 1));
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** The reversed polynomial of the CRC-32 of zip, gzip and PNG. */
const POLYNOMIAL = 0xedb88320;

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ POLYNOMIAL : rest >>> 1;
  return rest;
});

/** CRC-32 of bytes. (SHA-256 of the browser would do, but only pages from https or the disk have it.) */
function crc32(bytes: Uint8Array): number {
  let rest = 0xffffffff;
  for (const byte of bytes) rest = CRC_TABLE[(rest ^ byte) & 0xff] ^ (rest >>> 8);
  return ~rest >>> 0;
}
