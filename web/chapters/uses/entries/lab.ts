import { labOf, Question } from '../lab';
import { entryMeasured, entryPresets } from './presets';

export const entryQuestion = new Question('attention-entries', ['objective', 'attention_skip', 'sequences', 'seed']);

export const entryLab = labOf(entryQuestion, entryPresets, entryMeasured);
