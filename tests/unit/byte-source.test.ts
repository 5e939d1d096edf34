// What a worker reads of a file, and what memory it keeps of it.
import { beforeAll, expect, test, vi } from 'vitest';
import { withSources } from '../../web/engine/byte-source';
import type { ByteSource } from '../../web/engine/protocol';

const content = Uint8Array.from({ length: 3_000_000 }, (_, i) => (i * 31) % 251);

/** The part of a worker's FileReaderSync that is used, over parts that know where they are. */
class Reader {
  readAsArrayBuffer(part: { from: number; to: number }): ArrayBuffer {
    const bytes = new Uint8Array(part.to - part.from); // behind the content it is zero
    bytes.set(content.subarray(part.from, part.to));
    return bytes.buffer;
  }
}

class Sliced extends Blob {
  constructor(private total = content.length) {
    super();
  }
  override get size() {
    return this.total;
  }
  override slice(from = 0, to = this.total): never {
    return { from, to } as never;
  }
}

beforeAll(() => {
  vi.stubGlobal('FileReaderSync', Reader);
});

function opened(file = new Sliced()): ByteSource {
  return (withSources({ file }).input as { file: ByteSource }).file;
}

function read(source: ByteSource, offset: number, length: number): Uint8Array {
  const bytes = source.read(offset, length);
  if (typeof bytes === 'string') throw new Error(bytes);
  return bytes;
}

test('long and short reads give the bytes of the file', () => {
  const source = opened();
  for (const [offset, length] of [
    [0, 8],
    [1_000_003, 1_000_000],
    [(1 << 20) - 4, 8],
    [content.length - 3, 3],
  ]) {
    const bytes = read(source, offset, length);
    expect(Buffer.compare(bytes, content.subarray(offset, offset + length))).toBe(0);
  }
});

test('a long read frees the bytes of the long read before it, and no block', () => {
  const source = opened();
  const short = read(source, 100, 8);
  const long = read(source, 0, 1_000_000);
  expect(long.length).toBe(1_000_000);
  read(source, 1_000_000, 1_000_000);
  expect(long.buffer.byteLength).toBe(0);
  expect(Buffer.compare(short, content.subarray(100, 108))).toBe(0);
});

test('long reads that follow one another in two tensors take eight megabytes at once', () => {
  const large = 40_000_000;
  const asked: number[] = [];
  class Counted extends Sliced {
    override slice(from = 0, to = large): never {
      asked.push(to - from);
      return super.slice(from, to);
    }
  }
  const source = opened(new Counted(large));
  const size = 1_000_000;
  for (let head = 0; head < 6; head++) {
    for (const tensor of [0, 20_000_000]) {
      const bytes = read(source, tensor + head * size, size);
      expect(bytes.length).toBe(size);
      if (tensor === 0 && head < 2) {
        expect(Buffer.compare(bytes, content.subarray(head * size, (head + 1) * size))).toBe(0);
      }
    }
  }
  const ahead = 1 << 23;
  expect(asked).toEqual([size, size, ahead, ahead]);
});

test('32 MiB of blocks are kept of all sources, and the oldest beyond them are freed', () => {
  const blocks = 34;
  const sources = [opened(new Sliced(blocks << 20)), opened(new Sliced(blocks << 20))];
  const reads = Array.from({ length: blocks }, (_, block) => read(sources[block % 2], block << 20, 8));
  expect(reads.map(({ buffer }) => buffer.byteLength > 0).lastIndexOf(false)).toBe(1);
});

test('a source that is closed frees what it kept', () => {
  const { input, close } = withSources({ file: new Sliced() });
  const { file } = input as { file: ByteSource };
  const short = read(file, 100, 8);
  const long = read(file, 0, 1_000_000);
  close();
  expect([short.buffer.byteLength, long.buffer.byteLength]).toEqual([0, 0]);
});

test.each([
  ['TimeoutError', 'did not send 8 bytes within'],
  ['NetworkError', 'does not answer'],
])('a host that fails with %s is named, and no file is said to be gone', (name, text) => {
  class Request {
    open() {}
    setRequestHeader() {}
    send() {
      throw new DOMException('', name);
    }
  }
  vi.stubGlobal('XMLHttpRequest', Request);
  const remote = { url: 'https://example.org/m', name: 'm', size: 8, version: {} };
  const { file } = withSources({ file: remote }).input as { file: ByteSource };
  expect(file.read(0, 8)).toMatch(`its host example.org ${text}`);
});
