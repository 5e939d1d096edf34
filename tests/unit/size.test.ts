// What a visitor downloads, as a plain host would compress it.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

const dist = fileURLToPath(new URL('../../dist/', import.meta.url));
const compressed = (file: string) => gzipSync(readFileSync(dist + file), { level: 9 }).length;
const assets = readdirSync(`${dist}assets`).map((name) => `assets/${name}`);

test('script, styles and markup are under 300 kB', () => {
  const own = ['index.html', ...assets.filter((name) => /\.(js|css)$/.test(name))];
  expect(own.length).toBeGreaterThan(2);
  expect(own.map(compressed).reduce((a, b) => a + b)).toBeLessThan(300_000);
});

test('the WASM of each section is under 150 kB', () => {
  const wasm = assets.filter((name) => name.endsWith('.wasm'));
  expect(wasm).toHaveLength(6);
  for (const name of wasm) expect(compressed(name)).toBeLessThan(150_000);
});
