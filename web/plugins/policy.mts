import { createHash } from 'node:crypto';
import type { Plugin } from 'vite';

/** Where the page's own parts come from: beside it, or from inside itself with these scripts. */
type Origin = { kind: 'host' } | { kind: 'file'; scripts: string[] };

/**
 * The Content-Security-Policy of the page. Styles are inline because Observable Plot and MathML write
 * them so; no script is. Connections to any host are allowed because a person may give the address of a
 * checkpoint on one: the page opens none by itself (see docs/hosting.md).
 */
function policyOf(origin: Origin): string {
  const own = origin.kind === 'host' ? ["'self'"] : [];
  const scripts = origin.kind === 'host' ? own : origin.scripts.map(hashOf);
  return Object.entries({
    'default-src': ["'none'"],
    'script-src': [...scripts, "'wasm-unsafe-eval'"],
    'worker-src': [...own, 'blob:'],
    'style-src': [...own, "'unsafe-inline'"],
    'img-src': [...own, 'data:'],
    'connect-src': [...own, 'https:', 'http:'],
    'base-uri': ["'none'"],
    'form-action': ["'none'"],
  })
    .map(([directive, sources]) => [directive, ...sources].join(' '))
    .join('; ');
}

function hashOf(script: string): string {
  return `'sha256-${createHash('sha256').update(script).digest('base64')}'`;
}

/** The page with its policy, which holds for all that comes after it. */
export function withPolicy(html: string, origin: Origin): string {
  const charset = /<meta charset="utf-8"[^>]*>/;
  if (!charset.test(html)) throw new Error('index.html has no <meta charset="utf-8">');
  const meta = `<meta http-equiv="Content-Security-Policy" content="${policyOf(origin)}">`;
  return html.replace(charset, (tag) => `${tag}\n    ${meta}`);
}

/** Gives the page of a host its policy. */
export function policy(): Plugin {
  return {
    name: 'eigenscope-policy',
    apply: 'build',
    transformIndexHtml: { order: 'post', handler: (html) => withPolicy(html, { kind: 'host' }) },
  };
}
