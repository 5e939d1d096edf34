import type { Plugin } from 'vite';

/**
 * Emscripten writes a classic script that leaves its factory in a variable. The bundler wants a
 * module, and older Emscripten's own ES6 output does not load everywhere: so the export is added
 * here. The names by which the script would find out that it runs in node are nothing in a worker.
 */
export function engineFactory(): Plugin {
  return {
    name: 'eigenscope-engine-factory',
    enforce: 'pre',
    transform: {
      filter: { id: /build\/wasm\/\w+\.js$/ },
      handler: (code) => ({
        code: `let module, exports, require, define;\n${code}\nexport default createEigenscope;\n`,
        map: null,
      }),
    },
  };
}
