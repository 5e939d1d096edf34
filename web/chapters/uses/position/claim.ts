import { short } from '../../../charts/format';
import { withError } from '../../../charts/with-error';
import type { PositionOutput } from './marks';

const percent = (share: number) => `${Math.round(100 * share)}%`;

/** What the minima found say of the transition, and of a start at random. */
export function claimText({ rows, crossing, crossing_error, crossed, theory_crossing }: PositionOutput): string {
  const last = rows[rows.length - 1];
  if (last.datasets === 0) return '';
  const [first, most] = [rows[0].samples_over_width, last.samples_over_width].map(short);
  const range = `n/d = ${first} to ${most}`;
  const own =
    crossed > 0
      ? `The minimum by meaning has the lower loss above n/d = ${withError(crossing, crossing_error)} ` +
        `(${crossed} of ${last.datasets} training sets cross).`
      : `No training set has a transition in ${range}.`;
  const limit =
    theory_crossing === null
      ? `The theory for large d has none in ${range}.`
      : `The theory for large d gives ${short(theory_crossing)}.`;
  const { random_semantic_share: share, random_semantic_low: low, random_semantic_high: high } = last;
  const random =
    share === null || low === null || high === null
      ? ''
      : `From a random start ${percent(share)} of the sets (95% interval ${percent(low)} to ${percent(high)}) end by ` +
        `meaning at n/d = ${most}.`;
  return [own, limit, random].filter(Boolean).join(' ');
}

/** Errors on fresh samples, against the best attention that ignores the tokens. */
export function testText({ rows, best_constant }: PositionOutput): string {
  const better = rows.find(({ meaning_test_error }) => (meaning_test_error ?? NaN) < best_constant);
  const constant = `the best attention that is equal for all samples (test error ${short(best_constant)})`;
  return better
    ? `On fresh samples the minimum by meaning beats ${constant} at n/d of at least ` +
        `${short(better.samples_over_width)}.`
    : `On fresh samples the minimum by meaning does not beat ${constant}.`;
}
