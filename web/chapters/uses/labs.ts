import { agentLab } from './agents/lab';
import { contextLab } from './contexts/lab';
import { entryLab } from './entries/lab';
import { explanationLab } from './explanation/lab';
import type { Lab } from './lab';
import { latentLab } from './latent/lab';
import { positionLab } from './position/lab';
import { priorLab } from './prior/lab';
import { retrievalLab } from './retrieval/lab';
import { sinkLab } from './sinks/lab';
import { tokenPriorLab } from './token-prior/lab';

/** In the order of the page. */
export const LABS: readonly Lab[] = [
  positionLab,
  latentLab,
  priorLab,
  tokenPriorLab,
  agentLab,
  retrievalLab,
  contextLab,
  sinkLab,
  explanationLab,
  entryLab,
];
