import wasm from '../../build/wasm/eigenscope.wasm?url';
import { bytesOf } from './base64';

/** Compiles the engine once for all workers: from beside the page, or from inside the single file. */
export async function compileEngine(url = wasm): Promise<WebAssembly.Module> {
  if (url.startsWith('data:')) return WebAssembly.compile(bytesOf(url));
  const response = await fetch(url);
  if (!response.ok) throw new Error(`the engine did not load: ${response.status} ${url}`);
  // Compiled from bytes, not from the stream: a plain host may not know the WASM media type.
  return WebAssembly.compile(await response.arrayBuffer());
}
