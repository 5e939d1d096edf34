// Content-Security-Policies that a host may send.
import { documentedHeaders } from '../headers';
import { serve, type Host } from './host';

const STRICT = "script-src 'self' 'wasm-unsafe-eval'; worker-src 'self' blob:";

/** A host that asks for what docs/hosting.md and a strict host ask together. */
export async function serveStrictly(): Promise<Host> {
  const { 'content-security-policy': own, ...others } = documentedHeaders();
  return serve({ ...others, 'content-security-policy': `${own}, ${STRICT}` });
}
