import { Controls } from '../../controls/panel';
import type { FigureOf } from '../../ui/registry';
import { runFigures, type FramedFigure } from '../../ui/run-figures';
import type { Chapter, Page } from '../shared/page';
import { AgentFigure } from './agents/figure';
import { drawCards } from './cards';
import { ContextFigure } from './contexts/figure';
import { FIRST } from './first';
import type { LabFigure } from './lab-figure';
import { LatentFigure } from './latent/figure';
import { showOneLab } from './one-lab';
import { PositionFigure } from './position/figure';
import { PriorFigure } from './prior/figure';
import { RetrievalFigure } from './retrieval/figure';
import type { State, Store } from './state';

type Lab = FramedFigure<State> & Pick<LabFigure<unknown>, 'id' | 'card'>;

const FIGURES: Record<FigureOf<'uses'>, new (id: FigureOf<'uses'>, first: never) => Lab> = {
  'position-meaning': PositionFigure,
  'latent-posterior': LatentFigure,
  'attention-prior': PriorFigure,
  'agent-attention': AgentFigure,
  'hard-retrieval': RetrievalFigure,
  'parallel-contexts': ContextFigure,
};

/** Labs: what localization does for learning and reading. */
export function startUses({ pool }: Page, store: Store): Chapter {
  const controls = new Controls(store, pool);
  const labs = (Object.keys(FIGURES) as FigureOf<'uses'>[]).map((id) => new FIGURES[id](id, FIRST[id]));
  const byId = Object.fromEntries(labs.map((lab) => [lab.id, lab])) as Record<FigureOf<'uses'>, Lab>;
  const figures = runFigures<FigureOf<'uses'>, State>(byId, store, pool, () => ({
    failed: (error) => controls.failed(error),
  }));
  controls.showOnlyFor(figures.inSight);
  drawCards(labs);
  showOneLab();
  return figures;
}
