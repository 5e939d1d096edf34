import type { Plugin } from 'vite';
import { withPolicy } from './policy.mts';

/** A script inside HTML ends at the first closing tag, also at one inside a string literal. */
function inlineable(code: string): string {
  return code.replace(/<\/(script)/gi, '<\\/$1');
}

/**
 * Puts the style sheet and the script inside the page and gives it another name and its policy. The
 * script is a module still: an inline module runs from file://, an external one does not.
 */
export function singleFile(name: string): Plugin {
  return {
    name: 'eigenscope-single-file',
    enforce: 'post',
    // No service shows links to a file on the disk: the picture of links would only make it larger.
    transformIndexHtml: { order: 'pre', handler: (html) => html.replace(/<meta property="og:image" [^>]*>/, '') },
    generateBundle: {
      order: 'post', // after Vite's own, which completes the script
      handler(_, bundle) {
        const page = bundle['index.html'];
        if (page?.type !== 'asset') throw new Error('the build made no index.html');
        let html = String(page.source);
        const scripts: string[] = [];
        for (const [file, item] of Object.entries(bundle)) {
          if (item.type === 'chunk') {
            const tag = new RegExp(`<script[^>]*src="\\./${file}"[^>]*></script>`);
            const script = inlineable(item.code);
            html = html.replace(tag, () => `<script type="module">${script}</script>`);
            scripts.push(script);
          } else if (file.endsWith('.css')) {
            const tag = new RegExp(`<link[^>]*href="\\./${file}"[^>]*>`);
            html = html.replace(tag, () => `<style>${String(item.source)}</style>`);
          } else continue;
          delete bundle[file];
        }
        page.source = withPolicy(html, { kind: 'file', scripts });
        page.fileName = name;
      },
    },
  };
}
