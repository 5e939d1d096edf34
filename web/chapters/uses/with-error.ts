import { short } from '../../charts/format';

/** A number with its standard error. */
export const withError = (value: number | null, error: number | null): string =>
  error === null
    ? short(value)
    : `${short(Number((value ?? NaN).toPrecision(3)))} ± ${short(Number(error.toPrecision(2)))}`;
