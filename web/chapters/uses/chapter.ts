import { Controls } from '../../controls/panel';
import { areEqual } from '../../state/equal';
import { pick } from '../../state/control';
import type { FigureOf } from '../../ui/registry';
import { runFigures } from '../../ui/run-figures';
import type { Chapter, Page } from '../shared/page';
import { AgentFigure } from './agents/figure';
import { AGENT_INPUTS } from './agents/questions';
import { drawCards } from './cards';
import { FIRST } from './first';
import { LatentFigure } from './latent/figure';
import { LATENT_INPUTS } from './latent/questions';
import { PositionFigure } from './position/figure';
import { POSITION_INPUTS } from './position/questions';
import { PriorFigure } from './prior/figure';
import { PRIOR_INPUTS } from './prior/questions';
import { type State, type Store, usesView } from './state';

/** Labs: what localization does for learning and reading. */
export function startUses({ pool }: Page, store: Store): Chapter {
  const controls = new Controls(store, pool);
  /** What the build computed, where the state is the chapter's own. */
  const known = <Output>(names: readonly (keyof State & string)[], output: Output): Output | null =>
    areEqual(pick(store.state, names), pick(usesView.defaults, names)) ? output : null;
  const figures = runFigures<FigureOf<'uses'>, State>(
    {
      'position-meaning': new PositionFigure('position-meaning', known(POSITION_INPUTS, FIRST.position)),
      'latent-posterior': new LatentFigure('latent-posterior', known(LATENT_INPUTS, FIRST.latent)),
      'attention-prior': new PriorFigure('attention-prior', known(PRIOR_INPUTS, FIRST.prior)),
      'agent-attention': new AgentFigure('agent-attention', known(AGENT_INPUTS, FIRST.agents)),
    },
    store,
    pool,
    () => ({ failed: (error) => controls.failed(error) }),
  );
  controls.showOnlyFor(figures.inSight);
  drawCards();
  return figures;
}
