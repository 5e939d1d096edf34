import { fixed, short } from './format';

/** Error bars, and the number after ±, are this many standard errors. */
export const BARS = 2;

/** More decimals are a power of ten. */
const MOST_DECIMALS = 6;

/** A row that has a field `F` with its standard error. */
type Measured<F extends string> = Readonly<Record<F | `${F}_error`, number | null>>;

/** A field of a row and its standard error under a name, for sentences that the build fills in; NaN for none. */
export function estimate<N extends string, F extends string>(
  name: N,
  row: Measured<F> | undefined,
  field: F,
): Record<N | `${N}_error`, number> {
  const found = { [name]: row?.[field] ?? NaN, [`${name}_error`]: row?.[`${field}_error`] ?? NaN };
  return found as Record<N | `${N}_error`, number>;
}

/** A number, with ± as far as its error bars reach, to two digits of these; alone where they are none. */
export function withError(value: number | null, error: number | null): string {
  if (!error || value === null || !Number.isFinite(error)) return short(value);
  const reach = Number((BARS * error).toPrecision(2));
  const decimals = Math.max(1 - Math.floor(Math.log10(reach)), 0);
  const text = (it: number) => (decimals <= MOST_DECIMALS ? fixed(it, decimals) : short(it));
  return `${text(value)} ± ${text(reach)}`;
}

/** The same of a field of a row. */
export function fieldWithError<F extends string>(row: Measured<F>, field: F): string {
  return withError(row[field], row[`${field}_error`]);
}
