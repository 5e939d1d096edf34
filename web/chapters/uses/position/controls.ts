import { choiceOf, integers, linear, log, number } from '../../../state/control';

/** The controls of the lab `position-meaning`. */
export const positionControls = {
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
};
