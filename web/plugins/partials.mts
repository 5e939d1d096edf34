import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runnerImport, type Plugin } from 'vite';
import type * as Correlations from '../chapters/localize/correlations/words';
import type * as Presets from '../chapters/presets';
import type * as Views from '../chapters/views';
import type * as Registry from '../ui/registry';
import { withFormulas } from './formulas.mts';
import { elementsIn, replaced, required, type Found, type Replacements } from './markup.mts';

const web = fileURLToPath(new URL('..', import.meta.url));
const VALUE = /\{\{value\s+([\w.-]+)\s*\}\}/g;
const REFERENCE = /\{\{(figure|number)\s+([\w-]+)\}\}/g;

type Tables = typeof Correlations & typeof Presets & typeof Registry & typeof Views;

async function load<T>(path: string): Promise<T> {
  return (await runnerImport<T>(`${web}${path}`)).module;
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** The markup of a chapter, with that of its rooms in the place of `<x-room name="ROOM"></x-room>`. */
export function chapterHtml(chapter: string): string {
  const room = (element: Found): string => {
    const name = required(element, 'name', 'x-room');
    const file = `chapters/${chapter}/${name}/view.html`;
    if (!existsSync(web + file))
      throw new Error(`<x-room name="${name}"> must name a folder with view.html: no ${file}`);
    return withRooms(readFileSync(web + file, 'utf8'));
  };
  const withRooms = (html: string) => replaced(html, { 'x-room': room });
  return withRooms(readFileSync(`${web}chapters/${chapter}/view.html`, 'utf8'));
}

/** The rows of the registry for the figures of a chapter. */
export function figuresIn(chapter: string): object[] {
  return elementsIn(chapterHtml(chapter), 'x-figure').map((figure) => ({
    id: required(figure, 'name', 'x-figure'),
    chapter,
    title: required(figure, 'title', 'x-figure'),
    brief: required(figure, 'brief', 'x-figure'),
  }));
}

/** Places of controls by their names, one after the other; with a title a group of the panel. */
function placesOf({ attributes: { title }, inner }: Found): string {
  const names = inner.trim().split(/\s+/);
  const places = names.map((name) => `<div data-control="${name}"></div>`).join('');
  return title ? `<div class="group compact"><h3>${escaped(title)}</h3>${places}</div>` : places;
}

/** The markup of a chapter with the places of its controls. */
export function controlsHtml(chapter: string): string {
  return replaced(chapterHtml(chapter), { 'x-controls': placesOf });
}

function tabsOf({ VIEWS, viewNames }: Tables): string {
  const tabs = viewNames.map((view, i) => {
    const chosen = `aria-selected="${i === 0}" tabindex="${i === 0 ? 0 : -1}"`;
    return `<a id="tab-${view}" role="tab" href="#${view}" aria-controls="${view}" ${chosen}>${VIEWS[view].title}</a>`;
  });
  return `<div class="tabs" role="tablist" aria-label="Chapters">${tabs.join('')}</div>`;
}

/** Links to the figures of a view. */
function contentsOf({ figuresOf, numberOf }: Tables, view: string): string {
  const items = figuresOf(view).map(({ id, brief }) => `<li><a href="#figure-${id}">${numberOf(id)} ${brief}</a></li>`);
  return `<nav class="contents" aria-label="Figures"><ul>${items.join('')}</ul></nav>`;
}

/** The controls of a view: a panel beside its figures, or a bar below them. */
function panelOf(view: string, look: string, controls: string): string {
  return `<section class="controls${look}" aria-label="Controls">
    <button type="button" class="sheet" data-action="sheet" aria-expanded="false" aria-controls="panel-${view}">
      <span>Controls</span> <span data-summary></span>
    </button>
    <div id="panel-${view}" class="panel">
      <h2 class="hidden">Controls</h2>
      ${controls}
      <div class="panel-actions">
        <button type="button" data-action="reset">Reset</button>
        <button type="button" data-action="copy">Copy link</button>
      </div>
    </div>
    <p class="panel-help" data-help aria-hidden="true" hidden></p>
  </section>`;
}

/** Links to the figures of a chapter: the picture and the question that each room declares as `x-card`. */
function cardsOf({ stampHtml }: Tables, view: string): string {
  const cards = elementsIn(chapterHtml(view), 'x-card').map((card) => {
    const [figure, question, source] = ['figure', 'question', 'source'].map((name) => required(card, name, 'x-card'));
    const text = `<b>${escaped(question)}</b><small>${escaped(source)}</small>`;
    return `<li><a href="#figure-${figure}">${card.inner.trim()}${text} ${stampHtml(figure as Registry.FigureId)}</a></li>`;
  });
  return cards.join('');
}

/** What stands above the charts of a lab: its task, the place of its claim and, `on-model`, the offer of weights. */
function taskOf({ attributes, inner }: Found): string {
  const offer = '<button type="button" class="small" data-action="load-weights" hidden></button>';
  const tools = `<p class="task">Task: ${inner.trim()}</p><p class="claim" data-claim></p>`;
  return 'on-model' in attributes ? tools + offer : tools;
}

/**
 * A figure with its heading, presets, place for the picture and caption. What its caption has in `x-details`,
 * and the numbers of the picture with it, is folded below; a figure that is `folded` is so as a whole. `heights` are
 * about those of its picture, which are kept free until it is drawn: on a phone and, if another, on a wide screen.
 */
function figureOf(tables: Tables, element: Found, all: Replacements): string {
  const id = required(element, 'name', 'x-figure') as Registry.FigureId;
  const title = escaped(required(element, 'title', 'x-figure'));
  const parts: { tools?: string; details?: string } = {};
  const part = (name: keyof typeof parts) => (found: Found) => {
    parts[name] = replaced(found.inner, all);
    return '';
  };
  const task = (found: Found) => {
    parts.tools = taskOf(found);
    return '';
  };
  const own = { 'x-tools': part('tools'), 'x-task': task, 'x-details': part('details') };
  const caption = replaced(element.inner, { ...all, ...own }).trim();
  const { tools, details } = parts;
  const number = `<span>Figure ${tables.numberOf(id)}.</span>`;
  const live = '<span data-live></span>';
  const below = details && `<details class="more"><summary>Details</summary>${details}<p>${live}</p></details>`;
  const [narrow, wide = narrow] = element.attributes.heights?.split(' ') ?? [];
  const style = narrow ? ` style="--narrow: ${narrow}px; --wide: ${wide}px"` : '';
  const figure = `<figure id="figure-${id}" class="figure"${style} aria-labelledby="title-${id}">
    <div class="figure-head">
      <h2 id="title-${id}">${number} ${title}</h2>
      ${tables.stampHtml(id, true)}
      ${tools === undefined ? '' : `<div class="tools">${tools}</div>`}
    </div>
    ${tables.presetsHtml(id)}
    <div class="chart"></div>
    <div class="progress"></div>
    <p class="message"></p>
    <figcaption>${caption} ${below ?? live}</figcaption>
  </figure>`;
  if (!('folded' in element.attributes)) return figure;
  return `<details class="folded"><summary>${number} ${title}</summary>${figure}</details>`;
}

/** What stands for each element of the page's own. */
function replacementsOf(tables: Tables): Replacements {
  const all: Replacements = {
    'x-tabs': () => tabsOf(tables),
    'x-contents': (element) => contentsOf(tables, required(element, 'view', 'x-contents')),
    'x-panel': (element) => {
      const look = 'bar' in element.attributes ? ' bar' : '';
      const view = required(element, 'view', 'x-panel');
      const ofRooms = elementsIn(chapterHtml(view), 'x-settings').map(placesOf).join('');
      return panelOf(view, look, ofRooms + replaced(element.inner, all));
    },
    'x-settings': () => '',
    'x-controls': placesOf,
    'x-cards': (element) => cardsOf(tables, required(element, 'view', 'x-cards')),
    'x-card': () => '',
    'x-figure': (element) => figureOf(tables, element, all),
    'x-correlations': () => tables.correlationsHtml(),
  };
  return all;
}

/** What the script of the chapters after the first imports for their markup, and what Vite calls that module. */
const MARKUP = 'virtual:chapters';
const RESOLVED = `\0${MARKUP}`;

/** The section of a chapter whose markup comes later, with the ids by which links may name a place in it. */
function emptyPanel({ attributes }: Found, places: readonly string[]): string {
  const all = Object.entries({ ...attributes, 'data-places': places.join(' ') });
  return `<section ${all.map(([name, value]) => `${name}="${value}"`).join(' ')}></section>`;
}

/** The ids by which links may name a place. */
const placesIn = (html: string) => [...html.matchAll(/ id="(?!title-|preset|panel-)([\w-]+)"/g)].map(([, id]) => id);

/** What the tables of views, figures and presets say, put into the markup of chapters and rooms. */
async function assembled(): Promise<{ page: (html: string) => string; later: Record<string, string> }> {
  const tables: Tables = {
    ...(await load<typeof Presets>('chapters/presets.ts')),
    ...(await load<typeof Correlations>('chapters/localize/correlations/words.ts')),
    ...(await load<typeof Registry>('ui/registry.ts')),
    ...(await load<typeof Views>('chapters/views.ts')),
  };
  const elements = replacementsOf(tables);
  const whole = (html: string, all: Replacements) => {
    const page = replaced(html, all);
    const [unknown] = /<x-[\w-]+/.exec(page) ?? [];
    if (unknown) throw new Error(`an element x-... must be one that partials.mts replaces: found ${unknown}>`);
    return withFormulas(
      page
        .replace(/\n\s+/g, '\n') // a browser needs no indentation, and no element here keeps it
        .replace(VALUE, (_, path: string) => tables.valueText(path))
        .replace(REFERENCE, (_, kind: string, id) =>
          kind === 'figure' ? tables.referTo(id) : String(tables.numberOf(id)),
        ),
    );
  };
  const [first, ...others] = tables.viewNames;
  const sections = others.map((view) => elementsIn(chapterHtml(view), 'section')[0]);
  const inner = sections.map((section) => whole(section.inner, elements));
  const later = Object.fromEntries(others.map((view, i) => [view, inner[i]]));
  const panels = sections.map((section, i) => emptyPanel(section, placesIn(inner[i])));
  const chapters = () => [replaced(chapterHtml(first), elements), ...panels].join('\n');
  return { page: (html) => whole(html, { ...elements, 'x-chapters': chapters }), later };
}

/**
 * Puts the page together: the markup of chapters and rooms, and what the tables of views, figures and presets say, so
 * that a figure's number, heading and place are written once. `index.html` has the first chapter, the module
 * `virtual:chapters` the markup of the others by their names.
 */
export function partials(): Plugin {
  return {
    name: 'eigenscope-partials',
    resolveId: (source) => (source === MARKUP ? RESOLVED : null),
    load: async (id) => (id === RESOLVED ? `export default ${JSON.stringify((await assembled()).later)};` : null),
    transformIndexHtml: { order: 'pre', handler: async (html) => (await assembled()).page(html) },
  };
}
