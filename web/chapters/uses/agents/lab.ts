import { labOf, Question } from '../lab';
import { agentMeasured, agentPresets } from './presets';

export const agentQuestion = new Question('agent-attention', [
  'demonstrations',
  'distractor_scale',
  'sparsity',
  'feature_width',
  'learning',
  'slots',
  'trainings',
  'seed',
]);

export const agentLab = labOf(agentQuestion, agentPresets, agentMeasured);
