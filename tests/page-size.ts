// What a visitor downloads, as a plain host would compress it.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

/**
 * The most bytes that script, styles, markup and the engine may have together, compressed: 6.1 s on a line of
 * 1.6 Mbit/s. Figures that open with the build's answer do not wait for the engine.
 */
export const MOST = 1_225_000;

/** Compressed bytes of script, styles and markup, and of the engine. Throws without a build. */
export function sizes(): { page: number; engine: number } {
  const dist = fileURLToPath(new URL('../dist/', import.meta.url));
  const compressed = (file: string) => gzipSync(readFileSync(dist + file), { level: 9 }).length;
  const assets = readdirSync(`${dist}assets`).map((name) => `assets/${name}`);
  const own = assets.filter((name) => /\.(js|css)$/.test(name));
  if (own.length < 2) throw new Error('dist/assets has no script or no styles');
  const engine = assets.filter((name) => name.endsWith('.wasm'));
  if (engine.length !== 1) throw new Error('dist/assets has not one WASM module');
  return { page: ['index.html', ...own].map(compressed).reduce((a, b) => a + b), engine: compressed(engine[0]) };
}
