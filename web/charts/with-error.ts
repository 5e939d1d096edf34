import { short } from './format';

/** Error bars, and the number after ±, are this many standard errors. */
export const BARS = 2;

/** Decimals that a number can be rounded to. */
const MOST_DECIMALS = 100;

/** A number and the length of its error bar, for sentences that the build fills in; NaN for what does not exist. */
export interface Barred {
  value: number;
  bar: number;
}

/** A row that has a field `F` with its standard error. */
type Measured<F extends string> = Readonly<Record<F | `${F}_error`, number | null>>;

export function barred<F extends string>(row: Measured<F>, field: F): Barred {
  return { value: row[field] ?? NaN, bar: BARS * (row[`${field}_error`] ?? NaN) };
}

/** A number, with ± as far as its error bars reach, to two digits of these. */
export function withError(value: number | null, error: number | null): string {
  if (error === null || value === null || !Number.isFinite(error)) return short(value);
  const reach = Number((BARS * error).toPrecision(2));
  const decimals = Math.max(1 - Math.floor(Math.log10(reach)), 0);
  const rounded = decimals <= MOST_DECIMALS ? Number(value.toFixed(decimals)) : value;
  return `${short(rounded)} ± ${short(reach)}`;
}

/** The same of a field of a row. */
export function fieldWithError<F extends string>(row: Measured<F>, field: F): string {
  return withError(row[field], row[`${field}_error`]);
}
