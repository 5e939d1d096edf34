/** An underscore after a symbol of one letter, or after the bars or the bracket of a norm; not one in the name of a file. */
const SUBSCRIPT = /(?<=(?<![\p{L}_.-])\p{L}|[‖|)])_([A-Z]+|\w)(?![\w-]|\.\w)/u;

/** The parts of a text in which a letter, or capitals, after an underscore are a subscript: plain, lower, plain... */
export function subscriptParts(text: string): string[] {
  return text.split(SUBSCRIPT);
}

/** The same as nodes of a document. */
export function withSubscripts(text: string): (string | HTMLElement)[] {
  return subscriptParts(text).map((part, i) => {
    if (i % 2 === 0) return part;
    return Object.assign(document.createElement('sub'), { textContent: part });
  });
}
