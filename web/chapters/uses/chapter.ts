import { Controls } from '../../controls/panel';
import type { FigureOf } from '../../ui/registry';
import { runFigures, type FramedFigure } from '../../ui/run-figures';
import type { OpenedCheckpoint } from '../shared/checkpoint';
import type { Chapter, Page } from '../shared/page';
import { AgentFigure } from './agents/figure';
import { drawCards } from './cards';
import { ContextFigure } from './contexts/figure';
import { EntryFigure } from './entries/figure';
import { ExplanationFigure } from './explanation/figure';
import type { LabFigure } from './lab-figure';
import { LabModel } from './lab-model';
import { LatentFigure } from './latent/figure';
import { showOneLab } from './one-lab';
import { PositionFigure } from './position/figure';
import { PriorFigure } from './prior/figure';
import { RetrievalFigure } from './retrieval/figure';
import { SinkFigure } from './sinks/figure';
import type { State, Store } from './state';
import { TokenPriorFigure } from './token-prior/figure';

type Lab = FramedFigure<State> & Pick<LabFigure<never>, 'id' | 'card'>;

type Made = new (id: FigureOf<'uses'>, store: Store, model: LabModel) => Lab;

const FIGURES: Record<FigureOf<'uses'>, Made> = {
  'position-meaning': PositionFigure,
  'latent-posterior': LatentFigure,
  'attention-prior': PriorFigure,
  'token-prior': TokenPriorFigure,
  'agent-attention': AgentFigure,
  'hard-retrieval': RetrievalFigure,
  'parallel-contexts': ContextFigure,
  'attention-sinks': SinkFigure,
  'attention-explanation': ExplanationFigure,
  'attention-entries': EntryFigure,
};
/** The labs on the checkpoint that is open. */
const ON_MODEL: readonly FigureOf<'uses'>[] = ['attention-sinks', 'attention-explanation'];

/** Labs: what localization does for learning and reading. `opened` is the checkpoint of Your model. */
export function startUses(
  { pool, heads }: Page,
  store: Store,
  opened: OpenedCheckpoint,
): Chapter & { controlsOf: (figure: string) => readonly string[] | undefined } {
  const [sample] = heads.shown('shown');
  const model = new LabModel(opened, sample.name);
  const controls = new Controls(store, pool);
  const labs = (Object.keys(FIGURES) as FigureOf<'uses'>[]).map((id) => new FIGURES[id](id, store, model));
  const byId = Object.fromEntries(labs.map((lab) => [lab.id, lab])) as Record<FigureOf<'uses'>, Lab>;
  const figures = runFigures<FigureOf<'uses'>, State>(byId, store, pool, (id) => ({
    failed: (error) => controls.failed(error),
    ...(ON_MODEL.includes(id) && { origin: () => ({ model: model.name }) }),
  }));
  model.changed.subscribe(() => {
    for (const id of ON_MODEL) figures.runners[id].request('full');
  });
  controls.showOnlyFor(figures.inSight);
  void drawCards(labs);
  showOneLab();
  const controlsOf = (figure: string) => {
    const lab = labs.find(({ id }) => id === figure);
    return lab && [...lab.inputs, ...lab.repaintOn];
  };
  return { ...figures, controlsOf };
}
