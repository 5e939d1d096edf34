import { choice, choiceOf, integers, linear, log, number, type StateOf, type Values } from '../../state/control';
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

const isOverVariance = ({ plot }: Values) => plot === 'variance';

const controls = {
  ...settingControls,
  variance: { ...settingControls.variance, default: 1 }, // where less and more of it both show
  ...queryControls,
  plot: choice(
    'Compare with',
    { variance: 'variance', heads: 'trained heads' },
    'A measure of localization against the variance, or predicted against measured attention entropy of trained heads',
  ),
  dots: {
    ...choice(
      'Heads',
      ORIGINS,
      'Dots of trained heads: predicted by the theory from their spectrum (hollow), or measured on text (full)',
    ),
    used: isOverVariance,
  },
  level: number('level', 'Level', integers(0, 8), {
    default: 0,
    help:
      'Predictor level: statistics that the prediction uses, from the traces of <i>W</i> alone (0) to real ' +
      'tokens (8)',
    used: ({ plot }) => plot === 'heads',
  }),
  samples: number('samples', 'Sequences', log(100, 100000, { integer: true }), {
    sign: '<i>N</i>',
    help: 'Number <i>N</i> of simulated sequences behind each point',
  }),
  measure: choiceOf('lines', 'measure', 'Vertical axis', { used: isOverVariance }),
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

export const localizeView = declareView('Localize', controls, settingText);

export type State = StateOf<typeof controls>;
export type Store = StoreOf<State>;
export type Figure = Figures.Figure<State>;
export type FigureContext = Figures.FigureContext<State>;
