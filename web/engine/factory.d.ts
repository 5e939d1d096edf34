// What Emscripten's script and the plugin engine-factory give the worker.

/** Exists in workers only; the compiler's DOM library leaves it out. */
declare class FileReaderSync {
  readAsArrayBuffer(blob: Blob): ArrayBuffer;
}

declare module '*.js' {
  import type { NativeEngine } from './protocol';

  interface Overrides {
    instantiateWasm(
      imports: WebAssembly.Imports,
      receive: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
    ): object;
  }
  export default function createEigenscope(overrides: Overrides): Promise<NativeEngine>;
}
