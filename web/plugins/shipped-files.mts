import { readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import type { Plugin } from 'vite';

const QUERY = '?shipped';
const PREFIX = '\0shipped:';
/** Behind the path, so that no plugin takes the module for the file itself. */
const SUFFIX = '.js';

/**
 * `import file from './name?shipped'` gives the address of a file together with what the page checks when
 * the file arrives: its length and CRC-32.
 */
export function shippedFiles(): Plugin {
  return {
    name: 'eigenscope-shipped-files',
    enforce: 'pre',
    async resolveId(source, importer) {
      if (!source.endsWith(QUERY)) return null;
      const found = await this.resolve(source.slice(0, -QUERY.length), importer);
      if (!found) throw new Error(`${source} must name a file: imported by ${importer}`);
      return PREFIX + found.id + SUFFIX;
    },
    load(id) {
      if (!id.startsWith(PREFIX)) return null;
      const path = id.slice(PREFIX.length, -SUFFIX.length);
      const bytes = readFileSync(path);
      this.addWatchFile(path);
      return (
        `import url from ${JSON.stringify(`${path}?url`)};\n` +
        `export default { url, bytes: ${bytes.length}, crc32: ${crc32(bytes)} };\n`
      );
    },
  };
}
