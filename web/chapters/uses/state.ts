import type { StateOf } from '../../state/control';
import { headControls } from '../../state/heads';
import { settingControls } from '../../state/setting';
import type { Store as StoreOf } from '../../state/store';
import { declareView } from '../../state/view';
import type * as Figures from '../../ui/figure';
import { ROOMS } from './rooms';

type Lab = (typeof ROOMS)[keyof typeof ROOMS];
type All<Union> = (Union extends unknown ? (part: Union) => void : never) extends (whole: infer Whole) => void
  ? Whole
  : never;

const ofLabs = Object.assign({}, ...Object.values(ROOMS).map(({ controls }) => controls)) as All<Lab['controls']>;
const controls = { ...ofLabs, seed: settingControls.seed, ...headControls };

export const usesView = declareView('Uses', controls, ({ seed }) => `seed ${seed}`);

export type State = StateOf<typeof controls>;
export type Store = StoreOf<State>;
export type Figure = Figures.Figure<State>;
export type FigureContext = Figures.FigureContext<State>;
