import { estimate } from '../../../charts/with-error';
import type { LabPreset } from '../lab';
import type { PositionOutput } from './marks';

const percent = (share: number | null) => Math.round(100 * (share ?? NaN));

/** Of each preset's state, by `eigenscope position-meaning`. */
export function positionMeasured(output: PositionOutput) {
  const { crossing, crossing_error, theory_crossing, rows } = output;
  const last = rows[rows.length - 1];
  return {
    crossing,
    crossing_error,
    theory_crossing,
    // Loss of the positional and of the random start minus that of the semantic start, most samples.
    ...estimate('difference', last, 'difference'),
    ...estimate('random_difference', last, 'random_difference'),
    random_share: last.random_semantic_share ?? NaN,
    // In percent, with its 95% interval.
    random_percent: percent(last.random_semantic_share),
    random_low: percent(last.random_semantic_low),
    random_high: percent(last.random_semantic_high),
    // Overlap with q of the semantic start, most samples.
    ...estimate('meaning', last, 'meaning_meaning_overlap'),
  };
}
export type PositionMeasured = ReturnType<typeof positionMeasured>;

export const positionPresets: readonly LabPreset<PositionMeasured>[] = [
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
