// Why a browser does not compile the engine, whose bytes are known to be right.

/** What the engine needs of WebAssembly, each with the smallest module that has it. */
const FEATURES = [
  {
    name: 'SIMD',
    since: 'Chrome 91, Firefox 89 and Safari 16.4',
    module: [
      0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11,
    ],
  },
  {
    name: 'exceptions',
    since: 'Chrome 95, Firefox 100 and Safari 15.2',
    module: [0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 10, 8, 1, 6, 0, 6, 64, 25, 11, 11],
  },
];

/** The first eight bytes of every module are themselves one, which is empty. */
const EMPTY = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0);

/** Whether the browser has WebAssembly at all. */
export const hasWebAssembly = () => typeof WebAssembly === 'object';

/** Why WebAssembly is missing. */
export const NO_WEBASSEMBLY =
  'The page needs WebAssembly, and this browser does not provide it. ' +
  'A lockdown mode or a system policy may disable it: allow it for this page, or open the ' +
  'page in another browser.';

/** Why a module did not compile whose bytes are right; `error` is what the compiler threw. */
export async function whyNotCompiled(name: string, error: Error): Promise<string> {
  const what = `Cannot compile the ${name}`;
  const isAllowed = await WebAssembly.compile(EMPTY).then(
    () => true,
    () => false,
  );
  if (!isAllowed) {
    return (
      `${what}: the Content-Security-Policy of this page forbids WebAssembly. ` +
      "Its script-src must have 'wasm-unsafe-eval'."
    );
  }
  const lacking = FEATURES.find(({ module }) => !WebAssembly.validate(Uint8Array.from(module)));
  if (lacking) {
    return (
      `${what}: the browser's WebAssembly must have ${lacking.name}, and it has not. ` +
      `${lacking.since} were the first with it: update the browser, or open the page in another.`
    );
  }
  return `${what}: ${error.message}. Close other tabs, should the browser have run out of memory.`;
}
