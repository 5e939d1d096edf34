import { Controls } from '../../controls/panel';
import type { FigureOf } from '../../ui/registry';
import { runFigures } from '../../ui/run-figures';
import type { Chapter, Page } from '../shared/page';
import { AgentFigure } from './agents/figure';
import { drawCards } from './cards';
import { ContextFigure } from './contexts/figure';
import { FIRST } from './first';
import { LatentFigure } from './latent/figure';
import { PositionFigure } from './position/figure';
import { PriorFigure } from './prior/figure';
import { RetrievalFigure } from './retrieval/figure';
import type { State, Store } from './state';

/** Labs: what localization does for learning and reading. */
export function startUses({ pool }: Page, store: Store): Chapter {
  const controls = new Controls(store, pool);
  const figures = runFigures<FigureOf<'uses'>, State>(
    {
      'position-meaning': new PositionFigure('position-meaning', FIRST.position),
      'latent-posterior': new LatentFigure('latent-posterior', FIRST.latent),
      'attention-prior': new PriorFigure('attention-prior', FIRST.prior),
      'agent-attention': new AgentFigure('agent-attention', FIRST.agents),
      'hard-retrieval': new RetrievalFigure('hard-retrieval', FIRST.retrieval),
      'parallel-contexts': new ContextFigure('parallel-contexts', FIRST.contexts),
    },
    store,
    pool,
    () => ({ failed: (error) => controls.failed(error) }),
  );
  controls.showOnlyFor(figures.inSight);
  drawCards();
  return figures;
}
