import { linear, log, number } from '../../../state/control';

/** The controls of the lab `hard-retrieval`. */
export const retrievalControls = {
  sequences: number('sequences', 'Sequences', log(16, 512, { integer: true }), {
    help: 'Number of validation sequences on which every model is evaluated',
  }),
  peak_weight: number('peak_weight', 'Peak weight', linear(0.3, 0.95), {
    sign: '<i>c</i>',
    help: 'Attention weight <i>c</i> above which a row counts as peaked',
  }),
};
