import { estimate } from '../../../charts/with-error';
import type { Output } from '../../../engine/protocol';
import { choiceOf, integers, linear, log, number } from '../../../state/control';
import { labOf } from '../lab';

export type PositionOutput = Output<'position-meaning'>;

export const lab = labOf(
  'position-meaning',
  ['teacher_position', 'token_std', 'token_width', 'start_norm', 'minimizer', 'datasets', 'seed'],
  {
    teacher_position: number('teacher_position', 'Positional part', linear(0, 1), {
      sign: '<i>ω</i>',
      help: 'Weight <i>ω</i> of the positional attention in the teacher; the rest attends by meaning',
    }),
    token_std: number('token_std', 'Token scale', log(0.1, 1), {
      sign: '<i>σ</i>',
      help: 'Standard deviation <i>σ</i> of the entries of a token',
    }),
    token_width: number('token_width', 'Token width', log(20, 400, { integer: true }), {
      sign: '<i>d</i>',
      help: 'Number of entries <i>d</i> of a token; the theory is the limit of large <i>d</i>',
    }),
    start_norm: number('start_norm', 'Norm of the start', log(0.1, 1.5), {
      sign: '<i>s</i>',
      help: 'Norm of the start of a minimization over the square root of the width',
    }),
    minimizer: choiceOf('position-meaning', 'minimizer', 'Minimizer', { help: 'How the training loss is minimized' }),
    datasets: number('datasets', 'Training sets', integers(2, 32), {
      sign: '<i>N</i>',
      help: 'Number of training sets, each with a teacher of its own, behind each point',
    }),
  },
);

const percent = (share: number | null) => Math.round(100 * (share ?? NaN));

/** The numbers of the sentences; differences, shares and overlaps are those with most samples. */
export function measured({ crossing, crossing_error, theory_crossing, rows }: PositionOutput) {
  const last = rows[rows.length - 1];
  return {
    crossing,
    crossing_error,
    theory_crossing,
    // Loss of the start by position minus that of the start by meaning.
    ...estimate('difference', last, 'difference'),
    // Training sets that end by meaning from a random start in percent, with the 95% interval.
    random_percent: percent(last.random_semantic_share),
    random_low: percent(last.random_semantic_low),
    random_high: percent(last.random_semantic_high),
    // Overlap with q of the start by meaning.
    ...estimate('meaning', last, 'meaning_meaning_overlap'),
  };
}
export type Measured = ReturnType<typeof measured>;
