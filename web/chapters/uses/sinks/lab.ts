import { labOf, Question } from '../lab';
import { sinkMeasured, sinkPresets } from './presets';

export const sinkQuestion = new Question('attention-sinks', ['passages', 'length', 'sink_threshold', 'seed']);

export const sinkLab = labOf(sinkQuestion, sinkPresets, sinkMeasured);
