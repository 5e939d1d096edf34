import { Question, type Lab } from '../lab';
import type { LatentOutput } from './marks';
import { latentMeasured, latentPresets, type LatentMeasured } from './presets';

export const classQuestion = new Question('latent-classes', ['anisotropy', 'norms', 'repeats', 'seed']);
export const valueQuestion = new Question('latent-values', [
  'norms',
  'harmonics',
  'angles',
  'relevant',
  'spectrum_variance',
  'repeats',
  'seed',
]);

export const latentLab: Lab<LatentOutput, LatentMeasured> = {
  figure: 'latent-posterior',
  presets: latentPresets,
  find: async (state, ask) => ({
    classes: await ask('latent-classes', classQuestion.in(state)),
    values: await ask('latent-values', valueQuestion.in(state)),
  }),
  measured: latentMeasured,
};
