import { percent, short } from '../../../charts/format';
import { withError } from '../../../charts/with-error';
import type { LabPreset } from '../lab';
import type { Measured, PositionOutput } from './lab';

export const presets: readonly LabPreset<Measured>[] = [
  {
    id: 'transition',
    name: 'Transition',
    text:
      'With few samples the lowest loss is that of attention by position; above $n/d$ = {transition.crossing} ' +
      '(theory {transition.theory_crossing}) it is that of attention by meaning.',
    source: 'holds',
    claim: ({ transition: { crossing, crossing_error, theory_crossing, difference } }) =>
      crossing !== null &&
      theory_crossing !== null &&
      Math.abs(crossing - theory_crossing) < 3 * (crossing_error ?? NaN) &&
      difference > 0,
  },
  {
    id: 'weak',
    name: 'Small tokens',
    text:
      '<b>The claim of Cui et al. fails.</b> At token scale 0.3 both starts end in one minimum, by position, at ' +
      'every $n/d$ shown: the overlap with $q$ at $n/d$ = 2 is {weak.meaning}.',
    state: { token_std: 0.3 },
    source: 'fails',
    claim: ({ weak: { crossing, meaning } }) => crossing === null && meaning < 0.1,
  },
  {
    id: 'near',
    name: 'Small random start',
    text:
      'The lowest loss does not decide where training ends. Of 32 training sets ' +
      '{near.random_percent}% end by meaning at $n/d$ = 2 from random starts of norm 0.1 (95% interval ' +
      '{near.random_low} to {near.random_high}%).',
    state: { start_norm: 0.1, datasets: 32 },
    claim: ({ near, wide }) => near.random_high < wide.random_low,
  },
  {
    id: 'wide',
    name: 'Large random start',
    text:
      '<b>The norm of the start decides.</b> Of 32 training sets {wide.random_percent}% end by meaning from random starts ' +
      'of norm 1 ({wide.random_low} to {wide.random_high}%), {near.random_percent}% from starts of norm 0.1.',
    state: { start_norm: 1, datasets: 32 },
    claim: ({ near, wide }) => near.random_high < wide.random_low,
  },
];

/** What the minima found say of the transition, and of a start at random. */
export function claim({ rows, crossing, crossing_error, crossed, theory_crossing }: PositionOutput): string {
  const last = rows[rows.length - 1];
  const [first, most] = [rows[0].samples_over_width, last.samples_over_width].map(short);
  const range = `n/d = ${first} to ${most}`;
  const transition =
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
  return [transition, limit, random].filter(Boolean).join(' ');
}

/** Errors on fresh samples, against the best attention that ignores the tokens. */
export function testErrors({ rows, best_constant }: PositionOutput): string {
  const better = rows.find(({ meaning_test_error }) => (meaning_test_error ?? NaN) < best_constant);
  const constant = `the best attention that is equal for all samples (test error ${short(best_constant)})`;
  return better
    ? `On fresh samples the minimum by meaning beats ${constant} at n/d of at least ` +
        `${short(better.samples_over_width)}.`
    : `On fresh samples the minimum by meaning does not beat ${constant}.`;
}
