import type { ByteSource } from './protocol';

/** Reads ranges of a file at once, as only a worker can. */
function byteSource(blob: Blob, name: string): ByteSource {
  const reader = new FileReaderSync();
  return {
    name,
    size: blob.size,
    read(offset, length) {
      try {
        return new Uint8Array(reader.readAsArrayBuffer(blob.slice(offset, offset + length)));
      } catch {
        return null; // the file was changed or removed since it was picked
      }
    },
  };
}

/** The input of a job as the library takes it: files become sources of bytes. */
export function withSources(input: unknown): unknown {
  if (typeof input !== 'object' || input === null) return input;
  const entries = Object.entries(input).map(([key, value]) => {
    if (!(value instanceof Blob)) return [key, value];
    return [key, byteSource(value, value instanceof File ? value.name : key)];
  });
  return Object.fromEntries(entries);
}
