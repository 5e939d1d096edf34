import { labOf, Question } from '../lab';
import { positionMeasured, positionPresets } from './presets';

export const positionQuestion = new Question('position-meaning', [
  'teacher_position',
  'token_std',
  'token_width',
  'start_norm',
  'minimizer',
  'datasets',
  'seed',
]);

export const positionLab = labOf(positionQuestion, positionPresets, positionMeasured);
