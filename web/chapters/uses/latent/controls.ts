import { choiceOf, integers, linear, log, number, type Values } from '../../../state/control';

const hasSeveral = ({ angles }: Readonly<Values>) => Number(angles) > 1;

/** The controls of the lab `latent-posterior`. */
export const latentControls = {
  anisotropy: number('anisotropy', 'Anisotropy', log(1, 100), {
    sign: '<i>r</i>',
    help: 'Largest over smallest variance of the noise of a token around its prototype',
  }),
  norms: choiceOf('latent-values', 'norms', 'Key norms', {
    help: 'Norms of the keys, and whether the logits correct for them',
  }),
  harmonics: number('harmonics', 'Harmonics', integers(0, 8), {
    sign: '<i>H</i>',
    help: 'Harmonics of the values in each angle: 0 for a constant, 1 for values linear in the key',
  }),
  angles: number('angles', 'Angles', integers(1, 8), { sign: '<i>D</i>', help: 'Number of angles <i>D</i> of a key' }),
  relevant: number('relevant', 'Relevant angles', integers(1, 8, { within: 'angles' }), {
    help: 'Number of angles on which the values depend; at most all',
    used: hasSeveral,
  }),
  spectrum_variance: number('spectrum_variance', 'Spectrum variance', linear(0, 7), {
    sign: '<i>v</i>',
    help: 'Variance of the eigenvalues of <i>W</i> at mean 1, put on the first angle; at most <i>D</i> − 1',
    used: hasSeveral,
  }),
  repeats: number('repeats', 'Draws', integers(2, 64), {
    sign: '<i>N</i>',
    help: 'Number of independent draws of prototypes and of keys behind each point',
  }),
};
