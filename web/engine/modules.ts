import checkpoint from '../../build/wasm/checkpoint.wasm?shipped';
import collapse from '../../build/wasm/collapse.wasm?shipped';
import layers from '../../build/wasm/layers.wasm?shipped';
import localize from '../../build/wasm/localize.wasm?shipped';
import predict from '../../build/wasm/predict.wasm?shipped';
import reading from '../../build/wasm/reading.wasm?shipped';
import train from '../../build/wasm/train.wasm?shipped';
import trained from '../../build/wasm/trained.wasm?shipped';
import { MODULES, type ModuleName } from './module-names';
import { load, type ShippedFile } from './shipped';
import { hasWebAssembly, NO_WEBASSEMBLY, whyNotCompiled } from './support';

const assets = { localize, collapse, train, trained, checkpoint, reading, layers, predict };

const fileOf = (name: ModuleName): ShippedFile => ({
  ...assets[name],
  name: `engine (${name}.wasm)`,
});

/** The engine, in the order in which its modules are loaded ahead. */
export const moduleFiles: readonly ShippedFile[] = MODULES.map(fileOf);

/**
 * The one place in which a module is loaded, compared with what the build wrote and compiled, once for all
 * workers. Throws LoadError where its bytes do not arrive, Error where the browser does not compile them.
 */
export async function compileModule(name: ModuleName): Promise<WebAssembly.Module> {
  if (!hasWebAssembly()) throw new Error(NO_WEBASSEMBLY);
  const file = fileOf(name);
  const code = await load(file);
  try {
    // Compiled from bytes, not from the stream: a plain host may not know the WASM media type.
    return await WebAssembly.compile(code);
  } catch (error) {
    throw new Error(await whyNotCompiled(file.name, error as Error), { cause: error });
  }
}
