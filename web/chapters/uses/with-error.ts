import { short } from '../../charts/format';

/** Error bars, and the number after ±, are this many standard errors. */
export const BARS = 2;

/** A number, with ± as far as its error bars reach, to two digits of these. */
export function withError(value: number | null, error: number | null): string {
  if (error === null) return short(value);
  const reach = Number((BARS * error).toPrecision(2));
  const decimals = Math.min(Math.max(1 - Math.floor(Math.log10(reach)), 0), 20);
  return `${short(Number((value ?? NaN).toFixed(decimals)))} ± ${short(reach)}`;
}
