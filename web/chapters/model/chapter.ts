import { Controls } from '../../controls/panel';
import type { Covariance } from '../../state/heads';
import type { Store as SharedStore } from '../../state/store';
import { child } from '../../ui/dom';
import type { FigureOf } from '../../ui/registry';
import { runFigures } from '../../ui/run-figures';
import type { OpenedCheckpoint } from '../shared/checkpoint';
import type { Chapter, Page } from '../shared/page';
import { TextSource, utf8Of } from '../shared/text-source';
import { sourceOf } from './files/files';
import { Checkpoints } from './opening/checkpoints';
import { ChosenPicture, listenForPictures } from './picture/picture';
import { measuredEntropy } from './table/columns';
import { CompareFigure } from './compare/figure';
import { CheckpointOpener } from './opening/opener';
import { HeadDistanceFigure } from './head-distance/figure';
import { HeadSpectraFigure } from './head-spectra/figure';
import { HeadStepsFigure } from './head-steps/figure';
import { HeadTable } from './table/table';
import { HeadTextFigure } from './head-text/figure';
import { PredictorsFigure } from './predictors/figure';
import { HeadMeasurements } from './reading/measurements';
import { CovarianceTraces } from './opening/traces';
import { Picks } from './sentence/picks';
import { PredictionNotes } from './prediction-notes/notes';
import { showWhatCanBeRead } from './reading/reading';
import { RotaryCircuitsFigure } from './rotary-circuits/figure';
import { loadRotarySample } from './reading/samples';
import { HeadPassages } from './passages/passages';
import { ScatterFigure } from './scatter/figure';
import { WallFigure } from './wall/figure';
import { HeadWorth } from './wall/worth';
import { SurgeryFigure } from './surgery/figure';
import { TokenMetricFigure } from './token-metric/figure';
import type { State, Store } from './state';

/** The control of a field that a scan refuses: its heads are not those of stacks or training runs. */
function controlOf(field: string): string {
  return /^(key_)?heads$/.test(field) ? `map_${field}` : field;
}

/** The model that was opened, the sample until there is one. */
export function startModel(
  { state, pool, heads, say }: Page,
  store: Store,
  localize: SharedStore<{ sigma: Covariance }>,
): Chapter & { opened: OpenedCheckpoint } {
  const controls = new Controls(store, pool, controlOf);
  const texts = new TextSource();
  const measurements = new HeadMeasurements();
  const checkpoints = new Checkpoints(heads, measurements);
  const predictors = new PredictorsFigure(store, heads, checkpoints, measurements, texts);
  const picture = new ChosenPicture();
  const text = new HeadTextFigure(store, checkpoints, measurements, picture, () => repaint('head-text'));
  const distance = new HeadDistanceFigure(store, checkpoints, measurements);
  const metric = new TokenMetricFigure(store, heads, checkpoints, measurements);
  const surgery = new SurgeryFigure(store, pool, checkpoints, texts);
  const rotary = new RotaryCircuitsFigure(store, heads, checkpoints, () => {
    loadRotarySample().then(
      (sample) => void opener.open([sample]),
      (error: Error) => rotary.frame.complain(error.message),
    );
  });
  const worth = new HeadWorth(store, checkpoints, measurements, () => request('wall'));
  const wall = new WallFigure(store, heads, checkpoints, measurements, worth);
  const scatter = new ScatterFigure(store, heads, checkpoints, measurements, texts);
  const figures = runFigures<FigureOf<'model'>, State>(
    {
      wall,
      'head-text': text,
      scatter,
      'head-spectra': new HeadSpectraFigure(store, heads, checkpoints),
      predictors,
      'token-metric': metric,
      surgery,
      'head-distance': distance,
      'rotary-circuits': rotary,
      compare: new CompareFigure(store, checkpoints),
      'head-steps': new HeadStepsFigure(store, checkpoints),
    },
    store,
    pool,
    // Each figure shows itself what failed.
    (id) => ({ origin: () => ({ model: id === 'rotary-circuits' ? rotary.name : checkpoints.model.name }) }),
  );
  const { runners } = figures;
  const request = (...ids: FigureOf<'model'>[]) => ids.forEach((id) => runners[id].request('full'));
  const repaint = (...ids: FigureOf<'model'>[]) => ids.forEach((id) => runners[id].repaint());
  const traces = new CovarianceTraces({ localize, model: store }, pool, checkpoints, heads, texts);
  // One text for all figures that read a long one: predictions of its heads tell whether it can be read.
  for (const { frame } of [predictors, scatter]) {
    const choice = child<HTMLInputElement>(frame.root, '[data-text-choice]');
    choice.addEventListener('change', () => {
      const [file] = choice.files ?? [];
      if (!file) return;
      utf8Of(file).then(
        (read) => {
          // Predictions say so themselves; another figure's message would go with its own answer.
          predictors.offer(read, frame === scatter.frame ? say : undefined);
          request('predictors');
          runners.predictors.demand();
        },
        (error: Error) => frame.complain(`${file.name}: ${error.message}`),
      );
      choice.value = '';
    });
  }
  predictors.accepted.subscribe(() => {
    traces.forget();
    request('scatter');
  });
  checkpoints.changed.subscribe((fresh) => {
    repaint('head-spectra', 'compare', 'head-steps');
    request('compare');
    if (!fresh) return repaint('predictors');
    measurements.set({ predictions: null, text: null, corpus: null, unreadable: '', onlyPictures: false });
    request('head-text', 'wall', 'scatter', 'predictors', 'surgery', 'rotary-circuits');
    // Two are measured in sight or not, for the table and the picks.
    for (const id of ['head-text', 'predictors'] as const) runners[id].demand();
  });
  // Captions that name the sample, and those for any other model; of the sample no other text is read.
  checkpoints.changed.subscribe(() => {
    for (const part of document.querySelectorAll<HTMLElement>('#model [data-of]')) {
      part.hidden = part.dataset.of !== checkpoints.model.key;
    }
  });
  // Links name the model that is open, unless one was followed that names another.
  const nameModel = () => {
    const { files } = checkpoints;
    if (files && store.state.model === '') store.set({ model: sourceOf(files) });
  };
  checkpoints.changed.subscribe((fresh) => {
    if (fresh && checkpoints.files) store.set({ model: sourceOf(checkpoints.files) });
  });
  store.changed.subscribe(() => queueMicrotask(nameModel)); // once all views have the link's state
  // Table and picks show what is known of the sample, whichever figures are in sight.
  const showSample = () => {
    if (state.view !== 'model' || checkpoints.files) return;
    // A figure says what did not load, and asks again.
    for (const figure of [text, predictors]) figure.showSample().catch(() => {});
  };
  state.moved.subscribe(showSample);
  showSample();
  measurements.changed.subscribe(() => repaint('wall', 'scatter', 'token-metric', 'head-distance'));
  // Where no head is chosen, another may be the clearest.
  measurements.changed.subscribe(() => surgery.isStale && request('surgery'));
  measurements.changed.subscribe(() => heads.measure((head) => ({ entropy: measuredEntropy(head, { measurements }) })));
  // A link may lead to a figure far from the words of the head, to the dots of another chapter, or show one alone.
  const warn = (figure: string | null) => {
    const { view } = state;
    const target = document.documentElement.dataset.embed || figure || (view === 'localize' && view);
    const elsewhere = text.elsewhere();
    if (elsewhere && target && target !== text.id && (view === 'model' || view === 'localize')) say(elsewhere);
  };
  state.read.subscribe(({ figure }) => warn(figure));
  warn(new URLSearchParams(location.hash.split('?')[1]).get('figure'));
  const predicted = [wall, scatter, predictors, metric, distance].map(({ frame }) => frame);
  showWhatCanBeRead(measurements, text.frame, predicted);
  new HeadTable(store, heads, checkpoints, measurements);
  keepInSight(child(document, '.bench-head'));
  new Picks(store, checkpoints, measurements);
  new HeadPassages(store, checkpoints, measurements);
  new PredictionNotes(store, checkpoints, measurements);
  picture.changed.subscribe(() => request('head-text'));
  listenForPictures(picture, text.frame, () => state.view === 'model');
  const opener = new CheckpointOpener(store, pool, checkpoints, {
    choosing: () => void texts.load().catch(() => {}), // the figure hears of it when it asks
    failed: (error) => controls.failed(error),
    picture: (file) => picture.take(file),
    show: () => state.show('model'),
  });
  return { ...figures, opened: checkpoints };
}

/**
 * Tells the style sheet by how much a pane that stays in sight beside what scrolls is higher than the screen: its
 * lower end then stays, and nothing of it is cut or scrolls by itself.
 */
export function keepInSight(pane: HTMLElement): void {
  const measure = () => {
    const room = innerHeight - parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop);
    pane.style.setProperty('--over', `${Math.max(0, pane.offsetHeight - room)}px`);
  };
  new ResizeObserver(measure).observe(pane);
  addEventListener('resize', measure);
}
