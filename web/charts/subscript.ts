/** The parts of a text in which a letter, or capitals, after an underscore are a subscript: plain, lower, plain... */
export function subscriptParts(text: string): string[] {
  return text.split(/_([A-Z]+|\w)/);
}

/** The same as nodes of a document. */
export function withSubscripts(text: string): (string | HTMLElement)[] {
  return subscriptParts(text).map((part, i) => {
    if (i % 2 === 0) return part;
    return Object.assign(document.createElement('sub'), { textContent: part });
  });
}
