import { integers, log, number } from '../../../state/control';

/** The controls of the lab `attention-prior`. */
export const priorControls = {
  prior_weight: number('prior_weight', 'Prior weight', log(0.01, 100), {
    sign: '<i>c</i>',
    help: 'Weight <i>c</i> of KL(prior ‖ attention) in the training loss',
  }),
  head_width: number('head_width', 'Head width', integers(2, 64), {
    sign: '<i>d<sub>h</sub></i>',
    help: 'Head width <i>d<sub>h</sub></i>, the rank of <i>W</i><sub>QK</sub> over the 24 features',
    operation: 'attention-prior',
  }),
  start_scale: number('start_scale', 'Initial scale', log(0.05, 2), {
    sign: '<i>s</i>',
    help: 'Standard deviation of the initial query, key and value weights',
  }),
  trainings: number('trainings', 'Training runs', integers(2, 16), {
    sign: '<i>N</i>',
    help: 'Number of training runs behind each point, each with examples of its own',
  }),
};
