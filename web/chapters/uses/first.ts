import first from '../../generated/uses-first.json';
import type { AgentOutput } from './agents/marks';
import type { ContextOutput } from './contexts/marks';
import type { LatentOutput } from './latent/marks';
import type { PositionOutput } from './position/marks';
import type { PriorOutput } from './prior/marks';
import type { RetrievalOutput } from './retrieval/marks';

/** What each lab finds in the chapter's own state, from the build. */
export const FIRST = first as unknown as {
  position: PositionOutput;
  latent: LatentOutput;
  prior: PriorOutput;
  agents: AgentOutput;
  retrieval: RetrievalOutput;
  contexts: ContextOutput;
};
