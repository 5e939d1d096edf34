import './styles/base.css';
import './styles/layout.css';
import './styles/controls.css';
import './styles/figures.css';
import './styles/race.css';
import './styles/checkpoint.css';
import {
  followSections,
  followTheme,
  markPresets,
  wireButtons,
  wireSkipLink,
} from './controls/page';
import { Controls } from './controls/panel';
import { Pool } from './engine/pool';
import { AttentionFigure } from './figures/attention';
import { CollapseMapFigure } from './figures/collapse-map';
import { CompareFigure } from './figures/compare';
import { CosinesFigure } from './figures/cosines';
import { DepthFigure } from './figures/depth';
import { EntropyDepthFigure } from './figures/entropy-depth';
import { firstResult, SAMPLE_NAME, sampleHeads } from './figures/first-result';
import { child, type Frame } from './figures/frame';
import { HeadSpectraFigure } from './figures/head-spectra';
import { HeadTextFigure } from './figures/head-text';
import { LadderFigure } from './figures/ladder';
import { LeadFigure } from './figures/lead';
import type { Part } from './figures/part';
import { PhaseMapFigure } from './figures/phase-map';
import { ProfileFigure } from './figures/profile';
import { RaceAttentionFigure } from './figures/race-attention';
import { RaceCurvesFigure } from './figures/race-curves';
import { RaceMapFigure } from './figures/race-map';
import { Runner } from './figures/runner';
import { SpectrumFigure } from './figures/spectrum';
import { StackCurves } from './figures/stack-curves';
import { paced } from './figures/steady';
import { Dropped } from './model/drop';
import { Checkpoints } from './model/checkpoints';
import { Findings } from './model/findings';
import { HeadGrid } from './model/grid';
import { HeadTable } from './model/head-table';
import { Models } from './model/models';
import { Race } from './race/race';
import { RaceControls } from './race/race-controls';
import { Samples } from './race/samples';
import { TextSource } from './race/text';
import { Store } from './state/store';
import { runsOf, TRAINING, trainingOf } from './state/training';

/** Milliseconds between two drawings of a race. */
const DRAWING = 300;

const store = new Store();
const models = new Models();
const pool = new Pool();

let repaint = () => {};
followTheme(() => repaint());
models.add('sample', SAMPLE_NAME, sampleHeads());
const lead = new LeadFigure(store, models, firstResult(store.state, models));
lead.paint(); // at once: the first picture waits for nothing else

/** The rest of the page, after the first picture is on the screen. */
function start(): void {
  const announcer = child(document, '#announcer');
  const controls = new Controls(store, pool);
  const map = new PhaseMapFigure(store, models);
  const spectrum = new SpectrumFigure(store, models);
  const curves = new StackCurves();
  const figures = [
    lead,
    map,
    new ProfileFigure(),
    spectrum,
    new AttentionFigure(store),
    new DepthFigure(store, curves),
    new EntropyDepthFigure(store, curves),
    new CollapseMapFigure(store),
    new CosinesFigure(),
  ];
  const runners = new Map(
    figures.map((figure) => [
      figure as unknown,
      new Runner(figure, figure.frame, store, pool, (error) => controls.failed(error)),
    ]),
  );
  const grid = new HeadGrid(store, models);
  const repaintRace = startRace(controls);
  const checkpoints = new Checkpoints(models);
  const repaintCheckpoint = startCheckpoint(checkpoints);
  repaint = () => {
    grid.follow();
    runners.forEach((runner) => runner.repaint());
    repaintRace();
    repaintCheckpoint();
  };
  models.subscribe(() => [lead, map].forEach((figure) => runners.get(figure)?.repaint()));
  models.onHover(() => runners.get(spectrum)?.repaint());
  new Dropped(store, pool, checkpoints, {
    arrived: () => [lead, map].forEach((figure) => runners.get(figure)?.request('full')),
    failed: (error) => controls.failedScan(error),
  });
  wireButtons(store, (text) => {
    announcer.textContent = text;
  });
  followSections();
  wireSkipLink();
  markPresets(store);
}

/** The section on training. Its race goes on whatever is looked at; its figures draw at times. */
function startRace(controls: Controls): () => void {
  const texts = new TextSource();
  const race = new Race(
    (input, options) => pool.run('train', input, options),
    async () => (await texts.load()).bytes,
  );
  const configure = () =>
    race.configure(runsOf(store.state).map((kind) => trainingOf(store.state, kind)));
  configure();
  store.subscribe((_, { names }) => {
    if (['runs' as const, ...TRAINING].some((name) => names.has(name))) configure();
  });
  const curves = new RaceCurvesFigure(store, race);
  const map = new RaceMapFigure(store, race);
  const attention = new RaceAttentionFigure(store, race);
  const run = <P extends Part & { frame: Frame }>(part: P) =>
    new Runner(part, part.frame, store, pool, (error) => controls.failedTraining(error));
  const [onCurves, onMap, onAttention] = [run(curves), run(map), run(attention)];
  const draw = paced(DRAWING, () => {
    onCurves.repaint();
    if (map.outgrown()) onMap.request('full');
    else onMap.repaint();
  });
  race.subscribe(({ run, ended }) => {
    draw();
    if ((!run || ended) && !attention.asking) onAttention.request('full');
  });
  new RaceControls(store, pool, race, texts, (error) => controls.failedTraining(error));
  new Samples(store, pool, race);
  return () => [onCurves, onMap, onAttention].forEach((runner) => runner.repaint());
}

/** The section on the model that was opened, the sample until there is one. */
function startCheckpoint(checkpoints: Checkpoints): () => void {
  const texts = new TextSource();
  const findings = new Findings();
  const spectra = new HeadSpectraFigure(store, models, checkpoints);
  const ladder = new LadderFigure(store, models, checkpoints, findings, texts);
  const text = new HeadTextFigure(store, checkpoints, findings);
  const run = <P extends Part & { frame: Frame }>(part: P) =>
    new Runner(part, part.frame, store, pool, () => {}); // each says itself what failed
  const [onSpectra, onLadder, onText] = [run(spectra), run(ladder), run(text)];
  const onCompare = run(new CompareFigure(store, checkpoints));
  const all = [onSpectra, onLadder, onText, onCompare];
  wireStop(ladder, onLadder);
  const another = child<HTMLInputElement>(ladder.frame.root, '[data-ladder-text]');
  another.addEventListener('change', () => {
    const [file] = another.files ?? [];
    if (file) void texts.take(file).then(() => onLadder.request('full'));
    another.value = '';
  });
  checkpoints.subscribe((fresh) => {
    for (const runner of [onSpectra, onCompare]) runner.repaint();
    if (!fresh) return onLadder.repaint();
    findings.set({ ladder: null, text: null });
    for (const runner of [onLadder, onText]) runner.request('full');
  });
  new HeadTable(store, models, checkpoints, findings);
  return () => all.forEach((runner) => runner.repaint());
}

/** The button that stops the long computation of figure 14, and then starts it again. */
function wireStop(ladder: LadderFigure, runner: Runner): void {
  const button = child<HTMLButtonElement>(ladder.frame.root, '[data-action="stop-ladder"]');
  let stopped = false;
  const follow = (busy: boolean) => {
    button.hidden = !busy && !stopped;
    button.textContent = stopped ? 'Compute' : 'Cancel';
  };
  button.addEventListener('click', () => {
    stopped = !stopped;
    if (stopped) runner.cancel();
    else runner.request('full');
    follow(false);
  });
  ladder.onBusy = (busy) => {
    if (busy) stopped = false;
    follow(busy);
  };
}

requestAnimationFrame(() => setTimeout(start));
