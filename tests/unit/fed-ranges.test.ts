// Ranges of a file that is fed to a reader block by block.
import { expect, test } from 'vitest';
import { FedRanges } from '../../web/engine/fed-ranges';

const size = 11_000_000;

/** So many bytes of the file, from a place on. */
function content(from: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i++) bytes[i] = ((from + i) * 31) % 251;
  return bytes;
}

/** Reads a range as a job does: again after each part that was missing. Returns how often it asked. */
function read(ranges: FedRanges, offset: number, length: number): { bytes: Uint8Array; asked: number } {
  for (let asked = 0; ; asked++) {
    try {
      return { bytes: ranges.range(offset, length), asked };
    } catch (error) {
      const { missing } = ranges;
      if (!missing || asked > 10) throw error;
      ranges.feed(missing.offset, content(missing.offset, missing.length));
    }
  }
}

test.each([
  [0, 8, 1],
  [4_194_300, 8, 1],
  [5, 9_000_000, 1],
  [size - 3, 3, 1],
])('the %i-th byte and %i from there', (offset, length, asked) => {
  const ranges = new FedRanges(size);
  const first = read(ranges, offset, length);
  expect(first.asked).toBe(asked);
  expect(Buffer.compare(first.bytes, content(offset, length))).toBe(0);
  expect(read(ranges, offset, length).asked).toBe(0); // kept
});

test('what cannot be had fails for good', () => {
  const ranges = new FedRanges(size);
  expect(() => ranges.range(0, 8)).toThrow('still to be read');
  ranges.feed(0, null);
  expect(() => ranges.range(0, 8)).toThrow('is it still there?');
  expect(ranges.missing).toBeNull();
});

test('memory is bounded by what one step needs and 256 MiB', () => {
  const ranges = new FedRanges(2 ** 40);
  const block = 2 ** 22;
  for (let at = 0; at < 100; at++) {
    expect(() => ranges.range(at * block, 8)).toThrow();
    ranges.feed(at * block, new Uint8Array(block));
    ranges.range(at * block, 8);
  }
  const kept = Array.from({ length: 100 }, (_, at) => {
    try {
      ranges.range(at * block, 8);
      return true;
    } catch {
      return false;
    }
  });
  expect(kept.filter(Boolean).length).toBeLessThanOrEqual(65);
  expect(kept[99]).toBe(true);
});
