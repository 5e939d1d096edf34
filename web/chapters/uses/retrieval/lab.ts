import { labOf, Question } from '../lab';
import { retrievalMeasured, retrievalPresets } from './presets';

export const retrievalQuestion = new Question('hard-retrieval', ['sequences', 'peak_weight', 'seed']);

export const retrievalLab = labOf(retrievalQuestion, retrievalPresets, retrievalMeasured);
