import './styles/base.css';
import './styles/layout.css';
import './styles/controls.css';
import './styles/figures.css';
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
import { CosinesFigure } from './figures/cosines';
import { DepthFigure } from './figures/depth';
import { EntropyDepthFigure } from './figures/entropy-depth';
import { firstResult, SAMPLE_NAME, sampleHeads } from './figures/first-result';
import { child } from './figures/frame';
import { LeadFigure } from './figures/lead';
import { PhaseMapFigure } from './figures/phase-map';
import { ProfileFigure } from './figures/profile';
import { Runner } from './figures/runner';
import { SpectrumFigure } from './figures/spectrum';
import { StackCurves } from './figures/stack-curves';
import { Dropped } from './model/drop';
import { HeadGrid } from './model/grid';
import { Models } from './model/models';
import { Store } from './state/store';

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
  repaint = () => {
    grid.follow();
    runners.forEach((runner) => runner.repaint());
  };
  models.subscribe(() => [lead, map].forEach((figure) => runners.get(figure)?.repaint()));
  models.onHover(() => runners.get(spectrum)?.repaint());
  new Dropped(store, pool, models, () => {
    for (const figure of [lead, map]) runners.get(figure)?.request('full');
  });
  wireButtons(store, (text) => {
    announcer.textContent = text;
  });
  followSections();
  wireSkipLink();
  markPresets(store);
}

requestAnimationFrame(() => setTimeout(start));
