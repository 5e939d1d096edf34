import engine from '../../build/wasm/engine.wasm?shipped';
import { load, type ShippedFile } from './shipped';
import { hasWebAssembly, NO_WEBASSEMBLY, whyNotCompiled } from './support';

export const engineFile: ShippedFile = { ...engine, name: 'engine (engine.wasm)' };

/**
 * The one place in which the engine is loaded, compared with what the build wrote and compiled, once for all
 * workers. Throws LoadError where its bytes do not arrive, Error where the browser does not compile them.
 */
export async function compileEngine(): Promise<WebAssembly.Module> {
  if (!hasWebAssembly()) throw new Error(NO_WEBASSEMBLY);
  const code = await load(engineFile);
  try {
    // Compiled from bytes, not from the stream: a plain host may not know the WASM media type.
    return await WebAssembly.compile(code);
  } catch (error) {
    throw new Error(await whyNotCompiled(engineFile.name, error as Error), { cause: error });
  }
}
