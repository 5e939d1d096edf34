// Why the engine is not compiled: each cause by its own name.
import { afterEach, expect, test, vi } from 'vitest';
import { whyNotCompiled } from '../../web/engine/support';

const real = WebAssembly;
const error = new Error('unexpected end');
const why = () => whyNotCompiled('engine (engine.wasm)', error);

/** A browser whose WebAssembly differs in these. */
function browser(changed: Partial<typeof WebAssembly>): void {
  const { compile, validate } = real;
  vi.stubGlobal('WebAssembly', { compile, validate, ...changed });
}

/** The first byte of all instructions of SIMD. */
const SIMD_PREFIX = 253;
const hasSimd = (bytes: BufferSource) => (bytes as Uint8Array).includes(SIMD_PREFIX);

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

test('a browser that has everything is not blamed, and no policy is', async () => {
  expect(await why()).toMatch(/^Cannot compile the engine \(engine\.wasm\): unexpected end\./);
});

test('a policy is blamed where not even an empty module compiles', async () => {
  browser({ compile: () => Promise.reject(new real.CompileError('refused')) });
  expect(await why()).toMatch(/Content-Security-Policy.*'wasm-unsafe-eval'/);
});

test.each([
  ['SIMD', (bytes: BufferSource) => !hasSimd(bytes)],
  ['exceptions', hasSimd],
])('a browser without %s is told so', async (name, validate) => {
  browser({ validate });
  const text = await why();
  expect(text).toContain(`must have ${name}`);
  expect(text).not.toContain('Policy');
});

test('a browser without WebAssembly is told so, before anything is fetched', async () => {
  vi.stubGlobal('WebAssembly', undefined);
  const fetched = vi.fn();
  vi.stubGlobal('fetch', fetched);
  const { compileEngine } = await import('../../web/engine/modules');
  await expect(compileEngine()).rejects.toThrow('this browser does not provide it');
  expect(fetched).not.toHaveBeenCalled();
});
