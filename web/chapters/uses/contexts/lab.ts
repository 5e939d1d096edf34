import { labOf, Question } from '../lab';
import { contextMeasured, contextPresets } from './presets';

export const contextQuestion = new Question('parallel-contexts', ['sequences', 'kept_blocks', 'shared_prefix', 'seed']);

export const contextLab = labOf(contextQuestion, contextPresets, contextMeasured);
