import { readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import type { Plugin } from 'vite';

/** With the second one the file is beside the page or nowhere. */
const QUERY = /\?shipped(-beside)?$/;
const PREFIX = '\0shipped:';
/** Behind the path, so that no plugin takes the module for the file itself. */
const SUFFIX = '.js';
const ABSENT = '\0not-shipped';

/**
 * `import file from './name?shipped'` gives the address of a file together with what the page checks when
 * the file arrives: its length and CRC-32. `'./name?shipped-beside'` gives null in a page of a `single` file.
 */
export function shippedFiles(single = false): Plugin {
  return {
    name: 'eigenscope-shipped-files',
    enforce: 'pre',
    async resolveId(source, importer) {
      const [query, beside] = QUERY.exec(source) ?? [];
      if (query === undefined) return null;
      if (beside && single) return ABSENT;
      const found = await this.resolve(source.slice(0, -query.length), importer);
      if (!found) throw new Error(`${source} must name a file: imported by ${importer}`);
      return PREFIX + found.id + SUFFIX;
    },
    load(id) {
      if (id === ABSENT) return 'export default null;\n';
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
