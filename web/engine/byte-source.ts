import { FedRanges, Refused } from './fed-ranges';
import { hostPatience, isRemote } from './patience';
import type { ByteSource, Remote } from './protocol';

/**
 * Reads of a file below this many bytes, such as the rows of a head, of a token or of the positions of a passage,
 * come from blocks: each costs a millisecond otherwise, half as much as a block.
 */
const SMALL = 1 << 17;
const BLOCK = 1 << 20;
/** A block of a file that another host has: what is read too much takes time there. */
const REMOTE_BLOCK = 1 << 18;
/**
 * A large read that begins in the one before it or right behind it, as the rows of the next head of a layer do, takes so
 * many bytes at once: a megabyte alone takes twice as long as one of eight.
 */
const AHEAD = 1 << 23;
/** Tensors that are read in turn: the queries and the keys of a layer, of two checkpoints that are compared. */
const IN_TURN = 4;
/** Bytes of blocks that are kept of all sources: most fused matrices, whose columns are read in turn, fit in. */
const KEPT = 1 << 25;

interface Block {
  bytes: Uint8Array;
  /** Takes it away from its source. */
  drop(): void;
}
/** The blocks of all sources; the one used last is last. */
const kept = new Set<Block>();
/** Bytes of large reads since a block was last used. */
let passed = 0;

interface LargeRead {
  source: RangeSource;
  start: number;
  bytes: Uint8Array;
}
/** The last large reads of all sources, outside of the blocks, one of each tensor; the latest is last. */
let large: LargeRead[] = [];

/** Takes what is sent to it, and nobody receives it. */
const { port1: nobody, port2: closed } = new MessageChannel();
closed.close();

/**
 * Frees the memory of bytes that nobody reads any more. The garbage collector does not hurry to free what
 * FileReaderSync has allocated: a large checkpoint would take some hundred MB more. (The method `transfer` of
 * ArrayBuffer would not free it either: Chromium holds on to what it has allocated itself.)
 */
function free(bytes: Uint8Array): void {
  nobody.postMessage(null, [bytes.buffer]);
}

function release(block: Block): void {
  block.drop();
  kept.delete(block);
  free(block.bytes);
}

/** Reads ranges at once, as only a worker can. What a read returns is valid until the next one. */
abstract class RangeSource implements ByteSource {
  /** By place in the file. */
  private blocks = new Map<number, Block>();

  constructor(
    readonly name: string,
    readonly size: number,
    /** Reads below this many bytes come from blocks that are kept. */
    private small: number,
    private blockSize: number,
    /** Bytes of a large read that follows another one. */
    private ahead: number,
  ) {}

  read(offset: number, length: number): Uint8Array | string {
    try {
      const within = offset % this.blockSize;
      if (length >= this.small || within + length > this.blockSize) return this.inTurn(offset, length);
      return this.block(offset - within).subarray(within, within + length);
    } catch (error) {
      return error instanceof Refused ? error.message : 'it could not be read; is it still there?';
    }
  }

  /** Frees what is kept of the file, which nobody reads any more. */
  close(): void {
    for (const block of this.blocks.values()) release(block);
    for (const { source, bytes } of large) if (source === this) free(bytes);
    large = large.filter(({ source }) => source !== this);
  }

  /** So many bytes, or as many as there are; may throw. */
  protected abstract range(offset: number, length: number): Uint8Array;

  private inTurn(offset: number, length: number): Uint8Array {
    passed += length;
    if (passed > KEPT) kept.forEach(release); // small tensors between large ones, which are read once
    const latest = large.find(
      ({ source, start, bytes }) => source === this && offset >= start && offset <= start + bytes.length,
    );
    const holds = latest && offset + length <= latest.start + latest.bytes.length;
    const read = holds ? latest : this.readLarge(offset, length, latest);
    large = [...large.filter((it) => it !== read), read];
    return read.bytes.subarray(offset - read.start, offset - read.start + length);
  }

  /** Reads what follows the read before it in its tensor, or else begins a tensor, and frees what is not read in turn. */
  private readLarge(offset: number, length: number, before: LargeRead | undefined): LargeRead {
    const others = large.filter((it) => it !== before && it.bytes.length <= it.source.ahead).slice(1 - IN_TURN);
    for (const it of large) if (!others.includes(it)) free(it.bytes);
    large = others; // should the next lines throw
    const most = before ? Math.max(length, Math.min(this.ahead, this.size - offset)) : length;
    return { source: this, start: offset, bytes: this.range(offset, most) };
  }

  private block(start: number): Uint8Array {
    const block = this.blocks.get(start) ?? this.newBlock(start);
    passed = 0;
    kept.delete(block);
    kept.add(block);
    return block.bytes;
  }

  private newBlock(start: number): Block {
    const block = { bytes: this.range(start, this.blockSize), drop: () => this.blocks.delete(start) };
    let sum = block.bytes.length;
    for (const { bytes } of kept) sum += bytes.length;
    for (const oldest of kept) {
      if (sum <= KEPT) break;
      sum -= oldest.bytes.length;
      release(oldest);
    }
    this.blocks.set(start, block);
    return block;
  }
}

/** A file of the person. Where the browser does not let a worker read it, the main thread does. */
class BlobSource extends RangeSource {
  private reader = new FileReaderSync();
  private fed: FedRanges | null = null;

  constructor(
    private blob: Blob,
    name: string,
  ) {
    super(name, blob.size, SMALL, BLOCK, AHEAD);
  }

  /** The bytes for which the last read failed; null where it did not fail for want of them. */
  get missing(): { offset: number; length: number } | null {
    return this.fed?.missing ?? null;
  }

  /** Takes bytes that were missing; null when they cannot be had. */
  feed(offset: number, bytes: Uint8Array | null): void {
    this.fed?.feed(offset, bytes);
  }

  override close(): void {
    super.close();
    this.fed = null;
  }

  protected range(offset: number, length: number): Uint8Array {
    if (!this.fed) {
      try {
        const part = this.blob.slice(offset, offset + length);
        return new Uint8Array(this.reader.readAsArrayBuffer(part));
      } catch (error) {
        // WebKit, in a page from the disk; or the file is gone, which the main thread finds out.
        if ((error as Error).name !== 'NotReadableError') throw error;
        this.fed = new FedRanges(this.size);
      }
    }
    return this.fed.range(offset, Math.min(length, this.size - offset));
  }
}

class RemoteSource extends RangeSource {
  constructor(private remote: Remote) {
    super(remote.name, remote.size, REMOTE_BLOCK, REMOTE_BLOCK, 0); // a request costs more than what is read too much
  }

  protected range(offset: number, length: number): Uint8Array {
    const request = new XMLHttpRequest();
    request.open('GET', this.remote.url, false);
    request.responseType = 'arraybuffer';
    const last = Math.min(offset + length, this.size) - 1;
    request.setRequestHeader('Range', `bytes=${offset}-${last}`);
    const wanted = last - offset + 1;
    request.timeout = hostPatience(wanted);
    try {
      request.send();
    } catch (error) {
      const { host } = new URL(this.remote.url);
      const why =
        (error as Error).name === 'TimeoutError'
          ? `did not send ${wanted} bytes within ${Math.round(request.timeout / 1000)} s`
          : 'does not answer';
      throw new Refused(`its host ${host} ${why}; is there a connection?`);
    }
    if (request.status !== 206) {
      throw new Refused(`its host answers ${request.status}; was it changed or removed?`);
    }
    this.checkVersion(request);
    return new Uint8Array(request.response as ArrayBuffer);
  }

  /**
   * Compares what both answers have. A request with If-Range would leave that to the host, but first
   * needs its leave, which few give.
   */
  private checkVersion(request: XMLHttpRequest): void {
    const now = headersOf(request);
    const { etag, modified } = this.remote.version;
    const size = /\/(\d+)$/.exec(now.get('content-range') ?? '')?.[1];
    for (const [what, before, after] of [
      ['ETag', etag, now.get('etag')],
      ['time of change', modified, now.get('last-modified')],
      ['size', String(this.size), size],
    ]) {
      if (before && after && before !== after) {
        throw new Refused(
          `it was changed while it was read: its ${what} was ${before} and is ${after}; ` + 'ask for it again',
        );
      }
    }
  }
}

/** The headers that the host lets this page see; to ask for another by its name would be an error. */
function headersOf(request: XMLHttpRequest): Map<string, string> {
  const lines = request.getAllResponseHeaders().trim().split('\r\n');
  return new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
}

/** The input of a job as the library takes it, and its files (as blobsOf numbers them). */
export interface Sources {
  input: unknown;
  files: BlobSource[];
  /** Frees what is kept of all of them. */
  close(): void;
}

/** Makes sources of bytes of the files in a job's input. */
export function withSources(input: unknown): Sources {
  const files: BlobSource[] = [];
  const remotes: RemoteSource[] = [];
  const source = (value: unknown, key: string): unknown => {
    if (isRemote(value)) {
      remotes.push(new RemoteSource(value));
      return remotes[remotes.length - 1];
    }
    if (!(value instanceof Blob)) return value;
    files.push(new BlobSource(value, value instanceof File ? value.name : key));
    return files[files.length - 1];
  };
  const entries = Object.entries(input as object).map(([key, value]) => [
    key,
    Array.isArray(value) ? value.map((it) => source(it, key)) : source(value, key),
  ]);
  const close = () => [...files, ...remotes].forEach((it) => it.close());
  return { input: Object.fromEntries(entries), files, close };
}
