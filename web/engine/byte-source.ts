import type { ByteSource, Remote } from './protocol';

/** Reads of a file below this many bytes come from blocks: each costs a file access otherwise. */
const SMALL = 4096;
const BLOCK = 1 << 18;
/** Blocks that are kept of one source, 64 MiB: all of a fused matrix whose columns are read in turn. */
const MOST = 256;

/** Reads ranges at once, as only a worker can. */
abstract class RangeSource implements ByteSource {
  /** By place in the file; the one used last is last. */
  private blocks = new Map<number, Uint8Array>();

  constructor(
    readonly name: string,
    readonly size: number,
    /** Reads below this many bytes come from blocks that are kept. */
    private small: number,
  ) {}

  read(offset: number, length: number): Uint8Array | null {
    try {
      const within = offset % BLOCK;
      if (length >= this.small || within + length > BLOCK) return this.range(offset, length);
      return this.block(offset - within).subarray(within, within + length);
    } catch {
      return null; // the file was changed or removed since it was picked, or its host is gone
    }
  }

  /** So many bytes, or as many as there are; may throw. */
  protected abstract range(offset: number, length: number): Uint8Array;

  private block(start: number): Uint8Array {
    const found = this.blocks.get(start) ?? this.range(start, BLOCK);
    this.blocks.delete(start);
    this.blocks.set(start, found);
    const [oldest] = this.blocks.keys();
    if (this.blocks.size > MOST) this.blocks.delete(oldest);
    return found;
  }
}

class BlobSource extends RangeSource {
  private reader = new FileReaderSync();

  constructor(
    private blob: Blob,
    name: string,
  ) {
    super(name, blob.size, SMALL);
  }

  protected range(offset: number, length: number): Uint8Array {
    return new Uint8Array(this.reader.readAsArrayBuffer(this.blob.slice(offset, offset + length)));
  }
}

class RemoteSource extends RangeSource {
  constructor(private remote: Remote) {
    super(remote.name, remote.size, BLOCK); // a request costs more than what is read too much
  }

  protected range(offset: number, length: number): Uint8Array {
    const request = new XMLHttpRequest();
    request.open('GET', this.remote.url, false);
    request.responseType = 'arraybuffer';
    const last = Math.min(offset + length, this.size) - 1;
    request.setRequestHeader('Range', `bytes=${offset}-${last}`);
    request.send();
    if (request.status !== 206) throw new Error(`${this.name}: status ${request.status}`);
    return new Uint8Array(request.response as ArrayBuffer);
  }
}

function isRemote(value: unknown): value is Remote {
  return typeof value === 'object' && value !== null && 'url' in value;
}

/** The input of a job as the library takes it: files become sources of bytes. */
export function withSources(input: unknown): unknown {
  if (typeof input !== 'object' || input === null) return input;
  const source = (value: unknown, key: string): unknown => {
    if (isRemote(value)) return new RemoteSource(value);
    if (!(value instanceof Blob)) return value;
    return new BlobSource(value, value instanceof File ? value.name : key);
  };
  const entries = Object.entries(input).map(([key, value]) => [
    key,
    Array.isArray(value) ? value.map((it) => source(it, key)) : source(value, key),
  ]);
  return Object.fromEntries(entries);
}
