// The engine as the page has it, and a file as its source of bytes.
import { fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../../build/wasm', import.meta.url));

export function createEngine() {
  const create = createRequire(import.meta.url)(`${folder}/engine.js`);
  return create({ wasmBinary: readFileSync(`${folder}/engine.wasm`) });
}

/** Bytes of a file, read where they are asked for. It stays open until the process ends. */
export function fileSource(path) {
  const descriptor = openSync(path, 'r');
  return {
    name: basename(path),
    size: fstatSync(descriptor).size,
    read(offset, length) {
      const bytes = new Uint8Array(length);
      return readSync(descriptor, bytes, 0, length, offset) === length ? bytes : 'it is too short';
    },
  };
}

/** Does all of a job. */
export function finish(job) {
  while (!job.advance(1e9));
  job.delete();
}
