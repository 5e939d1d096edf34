import { estimate } from '../../../charts/with-error';
import type { LabPreset } from '../lab';
import type { PositionOutput } from './marks';

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
    claim: ({ transition: { crossing, crossing_error, theory_crossing, difference, random_share } }) =>
      crossing !== null &&
      theory_crossing !== null &&
      Math.abs(crossing - theory_crossing) < 3 * (crossing_error ?? NaN) &&
      difference > 0 &&
      random_share < 0.5,
  },
  {
    id: 'weak',
    name: 'Small tokens',
    text:
      '<b>The claim of Cui et al. fails.</b> At token scale 0.3 both starts end in one minimum, by position, at ' +
      'every $n/d$ shown: the overlap with $q$ at $n/d$ = 2 is {weak.meaning}.',
    state: { token_std: 0.3 },
    claim: ({ weak: { crossing, meaning } }) => crossing === null && meaning < 0.1,
  },
  {
    id: 'random',
    name: 'Random start',
    text:
      '<b>The lowest minimum has the transition, training does not.</b> With a teacher that attends by position a ' +
      'little more ($\\omega$ = 0.4), a random start at $n/d$ = 2 ends about where the start by position does: ' +
      '{random.random_difference} above the loss of the start by meaning, that by position {random.difference}.',
    state: { teacher_position: 0.4 },
    claim: ({ random: { difference, random_difference, random_share } }) =>
      difference > 0 && random_difference > 0.5 * difference && random_share < 0.5,
  },
];
