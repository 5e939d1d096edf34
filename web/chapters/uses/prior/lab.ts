import { labOf, Question } from '../lab';
import { priorMeasured, priorPresets } from './presets';

export const priorQuestion = new Question('attention-prior', [
  'prior_weight',
  'head_width',
  'start_scale',
  'trainings',
  'seed',
]);

export const priorLab = labOf(priorQuestion, priorPresets, priorMeasured);
