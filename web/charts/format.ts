const SUPERSCRIPT = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** Three significant digits, a true minus sign, no superfluous zeros. */
export function short(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return 'none';
  if (value === 0) return '0';
  const size = Math.abs(value);
  const text = size >= 1e5 || size < 1e-4 ? powerOf(value) : String(Number(value.toPrecision(3)));
  return text.replace(/^-/, '−');
}

function powerOf(value: number): string {
  const [digits, exponent] = value.toExponential(2).split('e');
  return `${Number(digits)}·10${raised(Number(exponent))}`;
}

function raised(exponent: number): string {
  const digits = [...String(Math.abs(exponent))].map((digit) => SUPERSCRIPT[Number(digit)]);
  return (exponent < 0 ? '⁻' : '') + digits.join('');
}

/** Ticks of a logarithmic axis: plain numbers near 1, powers of ten elsewhere. */
export function decade(value: number): string {
  const exponent = Math.log10(value);
  if (Math.abs(exponent - Math.round(exponent)) > 1e-9) return '';
  return Math.abs(exponent) <= 2 ? String(value) : `10${raised(Math.round(exponent))}`;
}

/** Ticks of a linear axis, with a true minus sign. */
export function tick(value: number): string {
  return String(Number(value.toPrecision(12))).replace(/^-/, '−');
}

/** Whole numbers with a thin space between thousands. */
export function count(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, '\u202f');
}
