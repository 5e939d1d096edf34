import './styles/base.css';
import './styles/layout.css';
import './styles/controls.css';
import './styles/figures.css';
import './styles/print.css';
import { startLocalize, type LocalizeFigures } from './chapters/localize/chapter';
import { addSample, firstResult } from './chapters/localize/first';
import { open } from './chapters/localize/opening';
import { LocalizationFigure } from './chapters/localize/lead/figure';
import type { Chapter } from './chapters/shared/page';
import { VIEWS } from './chapters/views';
import { wireLinkNotice } from './controls/link-notice';
import { followTheme, wireButtons, wireEscape, wirePresets, wireSkipLink } from './controls/page';
import { wirePrint } from './controls/print';
import { followViews } from './controls/tabs';
import { engineFile } from './engine/modules';
import { retryText, whenReachable } from './engine/network';
import { Pool } from './engine/pool';
import { prefetch, type ShippedFile, once } from './engine/shipped';
import { VERSION } from './generated/version';
import { HeadRegistry } from './heads/registry';
import { PageState } from './state/page-state';
import { child } from './ui/dom';

/** Milliseconds until files are loaded that no figure has asked for: by then the first ones are here. */
const PREFETCH = 4000;

/** The parameter of the address that asks for one figure alone. */
const EMBED = 'embed';

/** Places of the chapters whose markup is not there yet are listed at their sections. */
const viewOf = (id: string) =>
  (document.getElementById(id)?.closest('.view') ?? document.querySelector(`[data-places~="${CSS.escape(id)}"]`))?.id;
const state = new PageState(VIEWS, viewOf);
const { localize } = state.stores;
const heads = new HeadRegistry();
const page = { state, heads, pool: new Pool(), say: wireLinkNotice(state) };

/** Those that have started. */
const chapters: Chapter[] = [];
followTheme(() => chapters.forEach((chapter) => chapter.repaint()));
followViews(state);
const { say } = page;
// Neither a link nor the address of an embedded figure says what to show.
const isBare = location.search === '' && ['', `#${state.view}`].includes(location.hash);
state.readAddress();
const play = isBare && open(localize);
/** The script of a page inside another one, which few need. */
const embed = location.search.includes(`${EMBED}=`) || parent !== window ? import('./controls/embed') : null;
void embed?.then(({ showEmbedded, tellParent }) => {
  showEmbedded(state, say, EMBED);
  tellParent(state);
});
const lead = new LocalizationFigure(localize, heads, firstResult(localize.state));
if (state.view === 'localize') lead.paint(); // at once: the first picture waits for nothing else
if (play) lead.answered.once(() => play(lead.handle));

/** The heads of the sample, which no figure of the first screen waits for. */
const sample = once(() => addSample(heads, localize));
sample().catch((error: Error) => say(error.message));
/** The script of what is not on the first screen, which is asked for at once where a link leads to it. */
const others = once(othersScript);
if (state.view !== 'localize') void others();

/** Starts what is not on the first screen, whose script is loaded now at the latest. Returns the files that it reads. */
async function startRest(figures: LocalizeFigures) {
  const script = await others();
  void import('./charts/files').catch(() => {}); // so that exports need no network; asked for again otherwise
  script.insertMarkup();
  if (!document.documentElement.dataset.embed) (await embed)?.showEmbedded(state, say, EMBED);
  for (const view of Object.keys(VIEWS)) if (view !== 'localize') wireButtons(state, view);
  const { chapters: started, controlsOf } = script.startOthers(page, state.stores, figures, lead);
  chapters.push(...started);
  if (state.view !== 'localize') state.goAgain();
  for (const view of Object.keys(VIEWS)) if (view !== 'localize') wirePresets(state, view, controlsOf);
  return script.FILES;
}

/** Their script, once the heads of the sample are there too. What does not arrive is asked for again. */
async function othersScript() {
  for (let attempts = 1; ; attempts++) {
    try {
      const [script] = await Promise.all([import('./chapters/others'), sample()]);
      if (attempts > 1) say('');
      return script;
    } catch (error) {
      const reason = (error as Error).message.replace(/\.$/, '');
      say(`This chapter cannot start yet (${reason}). ${retryText()}`);
      await whenReachable(attempts);
    }
  }
}

/** The rest of the page, after the first picture is on the screen. */
async function start(): Promise<void> {
  const first = startLocalize(page, localize, lead);
  chapters.push(first);
  const startOthers = once(() => startRest(first.figures));
  wireButtons(state, 'localize');
  wireSkipLink();
  wireEscape(state);
  wirePresets(state, 'localize');
  wirePrint(startOthers, () => chapters.flatMap(({ runners }) => Object.values(runners)));
  child(document, '[data-version]').textContent = VERSION;
  state.moved.subscribe(({ view }) => {
    if (view !== 'localize') void startOthers();
  });
  const below = new IntersectionObserver((places) => {
    if (places.some(({ isIntersecting }) => isIntersecting)) void startOthers();
  });
  for (const place of document.querySelectorAll('#localize :is(.figure:not(#figure-lead), [data-heads])'))
    below.observe(place);
  addEventListener('dragenter', () => void startOthers(), { once: true }); // files may be dropped in every view
  if (state.view !== 'localize') await startOthers();
  child(document, '[data-not-started]').remove();
  const prefetchAll = (files: readonly ShippedFile[]) => prefetch([engineFile, ...files]);
  const loadAhead = () => setTimeout(() => void startOthers().then(prefetchAll, () => {}), PREFETCH);
  if (state.view !== 'localize') loadAhead();
  else
    lead.answered.once(() => {
      if (!isBare) void startOthers(); // or else it would disturb the run
      loadAhead();
    });
}

requestAnimationFrame(() => setTimeout(() => void start()));
