// The policy that the built pages carry is the documented one, and allows no script but their own.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { documentedHeaders } from '../headers';

const dist = new URL('../../dist/', import.meta.url);

function policyOf(file: string): string {
  const html = readFileSync(new URL(file, dist), 'utf8');
  const [, policy] = /<meta http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(html) ?? [];
  return policy ?? '';
}

test('the page of a host has the documented policy', () => {
  const documented = documentedHeaders()['content-security-policy'];
  expect(documented).toBe(`${policyOf('index.html')}; frame-ancestors 'self'`);
});

test.each(['index.html', 'eigenscope.html'])('%s allows no evaluated and no inline script', (file) => {
  const scripts = /script-src ([^;]+)/.exec(policyOf(file))?.[1] ?? '';
  expect(scripts).toContain("'wasm-unsafe-eval'");
  expect(scripts).not.toMatch(/'unsafe-(eval|inline)'|\*|https?:|data:|blob:/);
});

test('no script of the page evaluates text', () => {
  expect(readFileSync(new URL('eigenscope.html', dist), 'utf8')).not.toMatch(/\bnew Function\(/);
});
