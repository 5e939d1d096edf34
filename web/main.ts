import './styles/base.css';
import './styles/layout.css';
import './styles/controls.css';
import './styles/figures.css';
import './styles/train.css';
import './styles/checkpoint.css';
import './styles/uses.css';
import './styles/print.css';
import { startCollapse } from './chapters/collapse/chapter';
import { mapsFile } from './chapters/collapse/cells/first';
import { startLocalize } from './chapters/localize/chapter';
import { firstResult, SAMPLE_NAME, sampleHeads } from './chapters/localize/first';
import { open, play } from './chapters/localize/opening';
import { LocalizationFigure } from './chapters/localize/lead/figure';
import { startModel } from './chapters/model/chapter';
import { sampleFiles } from './chapters/model/reading/samples';
import { startTrain } from './chapters/train/chapter';
import { resultsFiles } from './chapters/train/experiments/files';
import { startUses } from './chapters/uses/chapter';
import { labsFiles } from './chapters/uses/files';
import { VIEWS } from './chapters/views';
import { showEmbedded, tellParent } from './controls/embed';
import { wireLinkNotice } from './controls/link-notice';
import { followTheme, wireButtons, wireEscape, wirePresets, wireSkipLink } from './controls/page';
import { wirePrint } from './controls/print';
import { followViews } from './controls/tabs';
import { engineFile } from './engine/modules';
import { Pool } from './engine/pool';
import { prefetch } from './engine/shipped';
import { VERSION } from './generated/version';
import { HeadRegistry } from './heads/registry';
import { PageState } from './state/page-state';
import { child } from './ui/dom';

/** Milliseconds until files are loaded that no figure has asked for: by then the first ones are here. */
const PREFETCH = 4000;

const state = new PageState(VIEWS, (id) => document.getElementById(id)?.closest('.view')?.id);
const { localize, collapse, train, model, uses } = state.stores;
const heads = new HeadRegistry();
const page = { state, heads, pool: new Pool() };

let repaint = () => {};
followTheme(() => repaint());
followViews(state);
const say = wireLinkNotice(state);
// Neither a link nor the address of an embedded figure says what to show.
const isBare = location.search === '' && ['', `#${state.view}`].includes(location.hash);
state.readAddress();
if (isBare) open(localize);
showEmbedded(state, say);
tellParent(state);
heads.add('sample', SAMPLE_NAME, sampleHeads());
const lead = new LocalizationFigure(localize, heads, firstResult(localize.state, heads));
if (state.view === 'localize') lead.paint(); // at once: the first picture waits for nothing else
if (isBare) lead.answered.once(() => play(localize, lead.handle));

/** The rest of the page, after the first picture is on the screen. */
function start(): void {
  const before = [startLocalize(page, localize, lead), startCollapse(page, collapse), startTrain(page, train)];
  const ownModel = startModel(page, model, localize);
  const labs = startUses(page, uses, ownModel.opened);
  const chapters = [...before, ownModel, labs];
  repaint = () => chapters.forEach((chapter) => chapter.repaint());
  for (const view of Object.keys(VIEWS)) wireButtons(state, view);
  wireSkipLink();
  wireEscape(state);
  wirePresets(state, labs.controlsOf);
  wirePrint(chapters.flatMap(({ runners }) => Object.values(runners)));
  child(document, '[data-version]').textContent = VERSION;
  child(document, '[data-not-started]').remove();
  setTimeout(() => void prefetch([engineFile, mapsFile, ...labsFiles, ...sampleFiles, ...resultsFiles]), PREFETCH);
}

requestAnimationFrame(() => setTimeout(start));
