// What a visitor downloads, as a plain host would compress it.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

/**
 * The most bytes, compressed, that the first screen and its first answers may need: markup, styles, the script of the
 * first chapter and the engine.
 */
export const MOST = 1_000_000;

/** The most bytes of the script with the other chapters and their markup, which is loaded with one of them or after the first answer. */
export const MOST_LATER = 153_000;

/** Compressed bytes of markup, styles and first script, of the engine, and of the script of the other chapters. Throws without a build. */
export function sizes(): { page: number; engine: number; later: number } {
  const dist = fileURLToPath(new URL('../dist/', import.meta.url));
  const compressed = (file: string) => gzipSync(readFileSync(dist + file), { level: 9 }).length;
  const sum = (files: readonly string[]) => files.map(compressed).reduce((a, b) => a + b, 0);
  const markup = readFileSync(`${dist}index.html`, 'utf8');
  const assets = readdirSync(`${dist}assets`).map((name) => `assets/${name}`);
  const own = assets.filter((name) => /\.(js|css)$/.test(name));
  const first = own.filter((name) => markup.includes(name));
  const later = own.filter((name) => !first.includes(name));
  const engine = assets.filter((name) => name.endsWith('.wasm'));
  // A script of the first screen that imports another one at once would hide it from the sum.
  for (const name of first.filter((name) => name.endsWith('.js'))) {
    const [imported] = /\bimport\s*[\w{*][^;]*?from\s*["'][^"']+/.exec(readFileSync(dist + name, 'utf8')) ?? [];
    if (imported) throw new Error(`${name} imports another script: ${imported}`);
  }
  if (first.length !== 2) throw new Error('index.html must name one script and one style sheet');
  if (engine.length !== 1) throw new Error('dist/assets has not one WASM module');
  return { page: sum(['index.html', ...first]), engine: sum(engine), later: sum(later) };
}
