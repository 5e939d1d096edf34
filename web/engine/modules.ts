import checkpoint from '../../build/wasm/checkpoint.wasm?url';
import collapse from '../../build/wasm/collapse.wasm?url';
import ladder from '../../build/wasm/ladder.wasm?url';
import localize from '../../build/wasm/localize.wasm?url';
import reading from '../../build/wasm/reading.wasm?url';
import train from '../../build/wasm/train.wasm?url';
import { bytesOf } from './base64';
import type { ModuleName } from './sections';

const addresses: Record<ModuleName, string> = {
  localize,
  collapse,
  train,
  checkpoint,
  reading,
  ladder,
};

/** Compiles a module, once for all workers: from beside the page, or from inside the single file. */
export async function compileModule(name: ModuleName): Promise<WebAssembly.Module> {
  const url = addresses[name];
  if (url.startsWith('data:')) return WebAssembly.compile(bytesOf(url));
  const response = await fetch(url);
  if (!response.ok) throw new Error(`the engine did not load: ${response.status} ${url}`);
  // Compiled from bytes, not from the stream: a plain host may not know the WASM media type.
  return WebAssembly.compile(await response.arrayBuffer());
}
