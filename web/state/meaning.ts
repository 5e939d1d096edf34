// What the library says of its parameters, as the page writes it.

const GREEK: Readonly<Record<string, string>> = {
  alpha: 'α',
  gamma: 'γ',
  eta: 'η',
  lambda: 'λ',
  rho: 'ρ',
  xi: 'ξ',
  Sigma: 'Σ',
};
const LETTER = new RegExp(`\\b(${Object.keys(GREEK).join('|')})(?![a-z])`, 'g');

/** A meaning as the HTML of a help: a sentence without its stop, with Greek letters, sub- and superscripts. */
export function helpFrom(meaning: string): string {
  const html = meaning
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replace(LETTER, (name) => GREEK[name]!)
    .replace(/([A-Zα-ωΣ]|\b[a-z])_([A-Za-z]+)/g, '<i>$1</i><sub>$2</sub>')
    .replace(/\^(\d)/g, '<sup>$1</sup>')
    .replace(/\b1e(-?)(\d+)\b/g, (_, minus, power) => `10<sup>${minus && '−'}${power}</sup>`)
    .replaceAll('sqrt(', '√(')
    .replaceAll('_', ' '); // a field's name
  return html.replace(/^[a-z](?=[a-z]*[ ,;:])/, (letter) => letter.toUpperCase());
}
