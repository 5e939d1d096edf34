import type { ByteSource } from './protocol';

/** Reads below this many bytes come from blocks that are kept: each costs a file access otherwise. */
const SMALL = 4096;
const BLOCK = 1 << 18;
/** Blocks that are kept of one file, 64 MiB: all of a fused matrix whose columns are read in turn. */
const MOST = 256;

/** Reads ranges of a file at once, as only a worker can. */
class BlobSource implements ByteSource {
  readonly size: number;
  private reader = new FileReaderSync();
  /** By place in the file; the one used last is last. */
  private blocks = new Map<number, Uint8Array>();

  constructor(
    private blob: Blob,
    readonly name: string,
  ) {
    this.size = blob.size;
  }

  read(offset: number, length: number): Uint8Array | null {
    try {
      const within = offset % BLOCK;
      if (length >= SMALL || within + length > BLOCK) return this.range(offset, length);
      return this.block(offset - within).subarray(within, within + length);
    } catch {
      return null; // the file was changed or removed since it was picked
    }
  }

  private range(offset: number, length: number): Uint8Array {
    return new Uint8Array(this.reader.readAsArrayBuffer(this.blob.slice(offset, offset + length)));
  }

  private block(start: number): Uint8Array {
    const found = this.blocks.get(start) ?? this.range(start, BLOCK);
    this.blocks.delete(start);
    this.blocks.set(start, found);
    const [oldest] = this.blocks.keys();
    if (this.blocks.size > MOST) this.blocks.delete(oldest);
    return found;
  }
}

/** The input of a job as the library takes it: files become sources of bytes. */
export function withSources(input: unknown): unknown {
  if (typeof input !== 'object' || input === null) return input;
  const source = (value: unknown, key: string): unknown =>
    value instanceof Blob ? new BlobSource(value, value instanceof File ? value.name : key) : value;
  const entries = Object.entries(input).map(([key, value]) => [
    key,
    Array.isArray(value) ? value.map((it) => source(it, key)) : source(value, key),
  ]);
  return Object.fromEntries(entries);
}
