import katex from 'katex';

const DISPLAY = /\$\$([^$]+)\$\$/g;
/** With the punctuation after it, before which browsers would break the line. */
const INLINE = /\$([^$]+)\$([,.;:)]*)/g;
const ENTITIES: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&amp;': '&' };

function render(tex: string, displayMode: boolean): string {
  const plain = tex.replace(/&(lt|gt|amp);/g, (entity) => ENTITIES[entity]);
  const html = katex.renderToString(plain.replace(/\s+/g, ' ').trim(), { output: 'mathml', displayMode });
  // The wrapper and the TeX source inside are of no use without KaTeX's own style sheet.
  return asLetters(html)
    .replace(/^<span class="katex">|<\/span>$/g, '')
    .replace(/<annotation[^>]*>[\s\S]*?<\/annotation>/g, '')
    .replace(/<semantics>|<\/semantics>/g, '');
}

/** Double-struck letters that Unicode has outside its block of mathematical letters. */
const DOUBLE_STRUCK: Record<string, string> = { C: 'ℂ', H: 'ℍ', N: 'ℕ', P: 'ℙ', Q: 'ℚ', R: 'ℝ', Z: 'ℤ' };
const DOUBLE_STRUCK_A = 0x1d538;

/** The letters themselves: browsers that follow MathML Core know no `mathvariant` but `normal`. */
function asLetters(mathml: string): string {
  const struck = (letter: string) =>
    DOUBLE_STRUCK[letter] ?? String.fromCodePoint(DOUBLE_STRUCK_A + letter.charCodeAt(0) - 'A'.charCodeAt(0));
  const plain = mathml.replace(
    /<mi mathvariant="double-struck">([A-Z]+)<\/mi>/g,
    (_, letters: string) => `<mi>${[...letters].map(struck).join('')}</mi>`,
  );
  const [other] = /mathvariant="(?!normal")[^"]*"/.exec(plain) ?? [];
  if (other) throw new Error(`a formula has ${other}, which browsers do not draw`);
  return plain;
}

/** TeX between dollar signs becomes MathML: browsers draw it, no script or font. */
export function withFormulas(html: string): string {
  return html
    .replace(DISPLAY, (_, tex: string) => render(tex, true))
    .replace(INLINE, (_, tex: string, after: string) => {
      const formula = render(tex, false);
      return after === '' ? formula : `<span class="unbroken">${formula}${after}</span>`;
    });
}
