import { choice, linear, number, text, type StateOf } from './control';

/** Which of the three variances heads are plotted against. */
export type Spread = 'variance' | 'variance_modulus' | 'variance_frobenius';
/** Whether a value is predicted from the spectrum or measured on text. */
export type Origin = 'predicted' | 'measured';
/**
 * Covariance Sigma of the tokens in the traces of trained heads: none measured, that of the token embeddings,
 * that measured in a head's layer on text or on random tokens.
 */
export type Covariance = 'identity' | 'embeddings' | 'layer' | 'random';

const VARIANCES: Record<Spread, string> = {
  variance_frobenius: 'Frobenius',
  variance_modulus: 'modulus',
  variance: 'trace',
};

/** What all views have in common: the model that is open, and the heads that are picked out. */
export const headControls = {
  sample: choice('Sample model', { shown: 'shown', hidden: 'hidden' }),
  model: text('Model', { help: 'Name of the opened model' }),
  head: text('Chosen head', { help: 'Model and place of the head, as model:layer.head' }),
  brush: text('Highlighted heads', { help: 'Places of the heads, as layer.head, separated by commas' }),
};
export type HeadState = StateOf<typeof headControls>;

export const spreadControl = choice('Variance of heads', VARIANCES);

export const asymmetryControl = number('asymmetry', 'Asymmetry', linear(-1, 1), {
  sign: '<i>η<sub>S</sub></i>/<i>η<sub>F</sub></i>',
  help: 'Ratio <i>η<sub>S</sub></i>/<i>η<sub>F</sub></i> of the two traces; 1 for a symmetric <i>W</i>',
});
