import { choice, choiceOf, linear, log, number, type StateOf, type Values } from '../../state/control';
import { asymmetryControl, headControls, spreadControl, type Covariance, type Origin } from '../../state/heads';
import { maskingControls, queryControls, settingControls } from '../../state/setting';
import type { Store as StoreOf } from '../../state/store';
import { declareView } from '../../state/view';
import type * as Figures from '../../ui/figure';
import { settingText } from '../shared/setting-text';

const COVARIANCES: Record<Covariance, string> = {
  identity: 'weights only',
  embeddings: 'token embeddings',
  layer: 'layer, on text',
  random: 'layer, random',
};

const ORIGINS: Record<Origin, string> = { predicted: 'predicted', measured: 'measured' };

const controls = {
  ...settingControls,
  variance: { ...settingControls.variance, default: 1 }, // where less and more of it both show
  ...queryControls,
  detail: choice(
    'Show',
    { signal: 'one curve', heads: 'trained heads', all: 'all' },
    'What the first figure shows beside theory and one matrix: dots of trained heads, or these with simulations, other ' +
      'means and token processes, and attention entropies',
  ),
  dots: {
    ...choice(
      'Heads',
      ORIGINS,
      'Dots of trained heads: predicted by the theory from their spectrum (hollow), or measured on text (full)',
    ),
    used: ({ detail, head }: Values) => detail !== 'signal' || head !== '',
  },
  samples: number('samples', 'Sequences', log(100, 100000, { integer: true }), {
    sign: '<i>N</i>',
    help: 'Number <i>N</i> of simulated sequences behind each point',
  }),
  measure: choiceOf('lines', 'measure', 'Vertical axis'),
  spread: spreadControl,
  sigma: choice(
    'Spectrum of heads',
    COVARIANCES,
    'Spectrum by which trained heads are placed: of <i>W</i> alone (<i>Σ</i> = <i>I</i>), or in the metric of ' +
      'the tokens, <i>Σ</i><sup>½</sup><i>WΣ</i><sup>½</sup>, with the covariance <i>Σ</i> of the token embeddings ' +
      'or of the tokens in the head’s layer, measured on text or on random tokens (Zipf’s law)',
  ),
  asymmetry: asymmetryControl,
  logit: number('logit', 'Moved logit', linear(-6, 18), {
    sign: '<i>ω</i>',
    help: 'Logit of the moved key over the temperature',
  }),
  ...maskingControls,
  ...headControls,
};

/** Links of earlier pages: the panel of predictor levels showed predicted against measured heads. */
const earlier = {
  plot: (text: string): Values => (text === 'heads' ? { detail: 'heads', dots: 'measured' } : {}),
  level: () => ({}),
};

export const localizeView = {
  ...declareView('Localize', controls, settingText, {}, earlier),
  running: 'variance' as const,
};

export type State = StateOf<typeof controls>;
export type Store = StoreOf<State>;
export type Figure = Figures.Figure<State>;
export type FigureContext = Figures.FigureContext<State>;

/** Whether dots of heads are shown; a chosen head asks for them. */
export const showsHeads = ({ detail, head }: Readonly<State>) => detail !== 'signal' || head !== '';
/** Whether simulations, other curves and attention entropies are shown. */
export const showsAll = ({ detail }: Readonly<State>) => detail === 'all';

/** On load the variance runs from a large one, at which all positions pass alike, to a small one, at which few do. */
export const OPENING = { from: 30, to: 0.001 };
