import { labOf, Question } from '../lab';
import { explanationMeasured, explanationPresets } from './presets';

export const explanationQuestion = new Question('attention-explanation', ['passages', 'length', 'seed']);

export const explanationLab = labOf(explanationQuestion, explanationPresets, explanationMeasured);
