import type { StateOf } from '../../state/control';
import { headControls } from '../../state/heads';
import { settingControls } from '../../state/setting';
import type { Store as StoreOf } from '../../state/store';
import { declareView } from '../../state/view';
import type * as Figures from '../../ui/figure';
import { agentControls } from './agents/controls';
import { contextControls } from './contexts/controls';
import { entryControls } from './entries/controls';
import { explanationControls } from './explanation/controls';
import { latentControls } from './latent/controls';
import { positionControls } from './position/controls';
import { priorControls } from './prior/controls';
import { retrievalControls } from './retrieval/controls';
import { sinkControls } from './sinks/controls';
import { textControls } from './text-controls';
import { tokenPriorControls } from './token-prior/controls';

const controls = {
  ...positionControls,
  ...latentControls,
  ...priorControls,
  ...tokenPriorControls,
  ...agentControls,
  ...retrievalControls,
  ...contextControls,
  ...textControls,
  ...sinkControls,
  ...explanationControls,
  ...entryControls,
  seed: settingControls.seed,
  ...headControls,
};

export const usesView = declareView('Uses', controls, ({ seed }) => `seed ${seed}`);

export type State = StateOf<typeof controls>;
export type Store = StoreOf<State>;
export type Figure = Figures.Figure<State>;
export type FigureContext = Figures.FigureContext<State>;
