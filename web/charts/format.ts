import { formatLocale } from 'd3-format';

const SUPERSCRIPT = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** A true minus sign, and commas between thousands. */
const { format } = formatLocale({ decimal: '.', thousands: ',', grouping: [3], currency: ['', ''], minus: '\u2212' });
const threeDigits = format(',.3~r');
const paddedDigits = format(',.3r');
const powerDigits = format('.2~e');

/** Three significant digits, a true minus sign, no superfluous zeros; ∞ for what is infinite. */
export function short(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return 'none';
  if (value === 0) return '0';
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '\u2212∞';
  const size = Math.abs(value);
  return size >= 1e5 || size < 1e-4 ? powerOf(value) : threeDigits(value);
}

/** The same with two significant digits. */
export const twoDigits = (value: number | null | undefined) => short(Number((value ?? NaN).toPrecision(2)));

/** Three significant digits with their zeros, 3.50: for finite numbers above 0 that are listed side by side. */
export function padded(value: number): string {
  return paddedDigits(value);
}

/** The same of any number, as of a run that may have failed. */
export const listed = (value: number) => (value > 0 && Number.isFinite(value) ? padded(value) : short(value));

/** So many decimals, with their zeros, and a true minus sign: for finite numbers. */
export function fixed(value: number, decimals: number): string {
  return format(`,.${decimals}f`)(value);
}

function powerOf(value: number): string {
  const [digits, exponent] = powerDigits(value).split('e');
  return `${digits}·10${raised(Number(exponent.replace('\u2212', '-')))}`;
}

function raised(exponent: number): string {
  const digits = [...String(Math.abs(exponent))].map((digit) => SUPERSCRIPT[Number(digit)]);
  return (exponent < 0 ? '⁻' : '') + digits.join('');
}

/** Ticks of a logarithmic axis: plain numbers near 1, powers of ten elsewhere; '' for what is none. */
export function decade(value: number): string {
  const exponent = Math.log10(value);
  if (!(Math.abs(exponent - Math.round(exponent)) <= 1e-9)) return '';
  return Math.abs(exponent) <= 2 ? String(value) : `10${raised(Math.round(exponent))}`;
}

/** Ticks of a linear axis. */
export const tick = format(',.12~r');

/** Numbers with a k for a thousand: 128k. */
export const thousands = format('~s');

/** Integers. */
export const count = format(',d');

/** Decades of an axis from the top down, no more than its labels have room for. */
export function decades([low, high]: [number, number]): number[] {
  const [from, to] = [Math.round(Math.log10(low)), Math.round(Math.log10(high))];
  const step = Math.ceil((to - from) / 8) || 1;
  const count = Math.floor((to - from) / step) + 1;
  return Array.from({ length: count }, (_, i) => Number(`1e${to - i * step}`));
}

/** A share as a whole number of hundredths: 40%. */
export const percent = (share: number) => `${Math.round(100 * share)}%`;

/** A text as a sentence begins. */
export const capitalized = (text: string) => text[0].toUpperCase() + text.slice(1);

/** The first of 1, 2 and 5 times powers of ten that is at least a number above 0. */
export function roundUp(value: number): number {
  const decade = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 5].find((it) => it * decade >= value * (1 - 1e-9)) ?? 10;
  return Number((step * decade).toPrecision(1));
}

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
