import { labOf, Question } from '../lab';
import { tokenPriorMeasured, tokenPriorPresets } from './presets';

export const tokenPriorQuestion = new Question('token-prior', [
  'positions',
  'steps',
  'prior_weight',
  'trainings',
  'seed',
]);

export const tokenPriorLab = labOf(tokenPriorQuestion, tokenPriorPresets, tokenPriorMeasured);
