import katex from 'katex';
import type { Plugin } from 'vite';

const DISPLAY = /\$\$([^$]+)\$\$/g;
const INLINE = /\$([^$]+)\$/g;
const ENTITIES: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&amp;': '&' };

function render(tex: string, displayMode: boolean): string {
  const plain = tex.replace(/&(lt|gt|amp);/g, (entity) => ENTITIES[entity]);
  const html = katex.renderToString(plain.replace(/\s+/g, ' ').trim(), {
    output: 'mathml',
    displayMode,
  });
  // The wrapper and the TeX source inside are of no use without KaTeX's own style sheet.
  return html
    .replace(/^<span class="katex">|<\/span>$/g, '')
    .replace(/<annotation[^>]*>[\s\S]*?<\/annotation>/g, '')
    .replace(/<semantics>|<\/semantics>/g, '');
}

/** TeX between dollar signs in index.html becomes MathML: browsers draw it, no script or font. */
export function formulas(): Plugin {
  return {
    name: 'eigenscope-formulas',
    transformIndexHtml: {
      order: 'pre',
      handler: (html) =>
        html
          .replace(DISPLAY, (_, tex: string) => render(tex, true))
          .replace(INLINE, (_, tex: string) => render(tex, false)),
    },
  };
}
