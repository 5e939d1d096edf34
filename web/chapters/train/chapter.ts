import { Controls } from '../../controls/panel';
import { Background } from '../../engine/run-options';
import type { Training } from '../../engine/protocol';
import type { FigureOf } from '../../ui/registry';
import { runFigures } from '../../ui/run-figures';
import { child } from '../../ui/dom';
import type { Chapter, Page } from '../shared/page';
import { bookText, TextSource } from '../shared/text-source';
import { earlyWarningFigure } from './early-warning/figure';
import { equalDeviationFigure } from './equal-deviation/figure';
import { escapeFigure } from './escape/figure';
import { stateOfTraining, Trials } from './experiments/cells';
import { PanelsFigure } from './experiments/figure';
import { drawFindings } from './findings/strip';
import { plateausFigure } from './plateaus/figure';
import { publishedFigure } from './published/figure';
import { RunBreaker } from './race/breaker';
import { RunCards } from './race/cards';
import { RunControls, runText } from './race/controls';
import { ratesFigure } from './rates/figure';
import { RunAttentionFigure } from './run-attention/figure';
import { RunCurvesFigure } from './run-curves/figure';
import { RunLogitsFigure } from './run-logits/figure';
import { RunMapFigure } from './run-map/figure';
import { RunComparison, settingsOf } from './runs/comparison';
import type { TrainingRun } from './runs/run';
import { ShownRuns } from './runs/shown';
import { type State, type Store, TRAINING, controlOf, runsOf, trainView, trainingOf } from './state';
import { strengthFigure } from './strength/figure';
import { SurgeryChangesFigure } from './surgery/figure';
import { trainabilityFigure } from './trainability/figure';

/** Milliseconds between two drawings of training runs. */
const DRAWING = 300;

/** Training with regularizers. The runs go on whatever is looked at; their figures draw at times. */
export function startTrain({ pool }: Page, store: Store): Chapter {
  const controls = new Controls(store, pool, controlOf, TRAINING);
  const texts = new TextSource();
  const comparison = new RunComparison(
    (input, options) => pool.run('train', input, { ...options, background: new Background(true) }),
    async () => (await texts.load()).bytes,
  );
  const configure = () => comparison.configure(runsOf(store.state).map((kind) => trainingOf(store.state, kind)));
  configure();
  store.changed.subscribe(({ names }) => {
    if (['runs' as const, ...TRAINING].some((name) => names.has(name))) configure();
  });
  const shown = new ShownRuns(comparison);
  const map = new RunMapFigure(store, shown);
  const attention = new RunAttentionFigure(store, comparison);
  const failed = (error: Error) => controls.failed(error);
  new RunBreaker(comparison);
  const runControls = new RunControls(store, pool, comparison, shown, texts, failed);
  const cards: RunCards = new RunCards(store, pool, comparison, shown, () => {
    const drawRace = () => {
      cards.draw();
      runControls.draw();
    };
    shown.load().then(drawRace, () => {}); // the figures of the runs say what is missing
  });
  drawFindings(child(document, '.findings'));
  /** The settings that the page has set itself. */
  let own: Partial<State> = trainView.defaults;
  const differ = (other: Partial<State>) =>
    (['runs', ...TRAINING] as const).some((name) => store.state[name] !== other[name]);
  const allows = (training: Training, lost: readonly TrainingRun[]) => {
    const isTyped = differ(own) && differ(stateOfTraining(training));
    const replaced = [...lost.map(runText), ...(isTyped ? ['the settings of the controls'] : [])];
    return replaced.length === 0 || confirm(`Train this run in place of ${replaced.join(', ')}?`);
  };
  const trials = new Trials(comparison, allows, async (training) => {
    const book = await bookText();
    comparison.reset(); // what was under way is let go of
    runControls.learnFrom(book);
    own = stateOfTraining(training);
    store.set(own);
    void comparison.play();
    return book.bytes;
  });
  const experiments = {
    published: new PanelsFigure(publishedFigure, trials),
    rates: new PanelsFigure(ratesFigure, trials),
    escape: new PanelsFigure(escapeFigure, trials),
    strength: new PanelsFigure(strengthFigure, trials),
    'early-warning': new PanelsFigure(earlyWarningFigure, trials),
    'equal-deviation': new PanelsFigure(equalDeviationFigure, trials),
    'surgery-changes': new SurgeryChangesFigure(store),
    trainability: new PanelsFigure(trainabilityFigure, trials),
    plateaus: new PanelsFigure(plateausFigure, trials),
  };
  const figures = runFigures<FigureOf<'train'>, State>(
    {
      ...experiments,
      'run-curves': new RunCurvesFigure(store, shown),
      'run-logits': new RunLogitsFigure(shown),
      'run-map': map,
      'run-attention': attention,
    },
    store,
    pool,
    (id) => ({
      failed,
      ...(!(id in experiments) && {
        settings: () => (id === attention.id ? attention.settings() : settingsOf(shown.all[0].training)),
      }),
    }),
  );
  const { runners } = figures;
  trials.joined.subscribe(() => {
    for (const id of Object.keys(experiments) as (keyof typeof experiments)[]) runners[id].repaint();
  });
  const draw = throttleTrailing(DRAWING, () => {
    cards.draw();
    runners['run-curves'].repaint();
    runners['run-logits'].repaint();
    if (map.outgrown()) runners['run-map'].request('full');
    else runners['run-map'].repaint();
  });
  comparison.changed.subscribe(({ run, ended }) => {
    draw();
    if ((!run || ended) && !attention.asking) runners['run-attention'].request('full');
  });
  return {
    ...figures,
    repaint: () => {
      figures.repaint();
      cards.paint();
    },
  };
}

/** Calls once in every `interval` milliseconds in which it was asked to: the last asking is heard. */
function throttleTrailing(interval: number, call: () => void): () => void {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    setTimeout(() => {
      waiting = false;
      call();
    }, interval);
  };
}
