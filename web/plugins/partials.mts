import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runnerImport, type Plugin } from 'vite';
import type * as Correlations from '../chapters/localize/correlations';
import type * as Presets from '../chapters/presets';
import type * as Views from '../chapters/views';
import type * as Registry from '../ui/registry';

const web = fileURLToPath(new URL('..', import.meta.url));
const INCLUDE = /<x-include src="([^"]+)"\s*>\s*<\/x-include\s*>/g;
const FIGURE =
  /<x-figure\s+name="([\w-]+)"\s+title="([^"]+)"\s+brief="([^"]+)"(?:\s+(folded))?\s*>([\s\S]*?)<\/x-figure\s*>/g;
const DETAILS = /<x-details\s*>([\s\S]*?)<\/x-details\s*>/;
const TOOLS = /<x-tools\s*>([\s\S]*?)<\/x-tools\s*>/;
const PANEL = /<x-panel view="(\w+)"( bar)?\s*>([\s\S]*?)<\/x-panel\s*>/g;
const CONTROLS = /<x-controls(?:\s+title="([^"]+)")?\s*>([^<]*)<\/x-controls\s*>/g;
const CARD = /<x-card\s+figure="([\w-]+)"\s*>([\s\S]*?)<\/x-card\s*>/g;
const CONTENTS = /<x-contents view="(\w+)"\s*>\s*<\/x-contents\s*>/g;
const CHAPTERS = /<x-chapters\s*>\s*<\/x-chapters\s*>/;
const TABS = /<x-tabs\s*>\s*<\/x-tabs\s*>/g;
const CORRELATIONS = /<x-correlations\s*>\s*<\/x-correlations\s*>/g;
/** A number that `npm run experiments` writes, behind the comment that names it. */
const WRITTEN = /<!--=.*?-->([-\d. to]*)/g;
const VALUE = /\{\{value\s+([\w.-]+)\s*\}\}/g;
const REFERENCE = /\{\{(figure|number)\s+([\w-]+)\}\}/g;

type Tables = typeof Correlations & typeof Presets & typeof Registry & typeof Views;

async function load<T>(path: string): Promise<T> {
  return (await runnerImport<T>(`${web}${path}`)).module;
}

/** Includes partials: each may include others, by paths from this folder's parent. */
function included(html: string): string {
  return html.replace(INCLUDE, (_, path: string) => included(readFileSync(`${web}${path}`, 'utf8')));
}

/** The rows of the registry for the figures of a chapter. */
export function figuresIn(chapter: string): object[] {
  const html = readFileSync(`${web}chapters/${chapter}/view.html`, 'utf8');
  return [...html.matchAll(FIGURE)].map(([, id, title, brief]) => ({ id, chapter, title, brief }));
}

function tabsOf({ VIEWS, viewNames }: Tables): string {
  const tabs = viewNames.map((view, i) => {
    const chosen = `aria-selected="${i === 0}" tabindex="${i === 0 ? 0 : -1}"`;
    return `<a id="tab-${view}" role="tab" href="#${view}" aria-controls="${view}" ${chosen}>${VIEWS[view].title}</a>`;
  });
  return `<div class="tabs" role="tablist" aria-label="Views">${tabs.join('')}</div>`;
}

/** Links to the figures of a view. */
function contentsOf({ figuresOf, numberOf }: Tables, view: Registry.FigureEntry['chapter']): string {
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

/** Places of controls by their names, one after the other; with a title a group of the panel. */
export function withControls(html: string): string {
  return html.replace(CONTROLS, (_, title: string | undefined, names: string) => {
    const places = names
      .trim()
      .split(/\s+/)
      .map((name) => `<div data-control="${name}"></div>`)
      .join('');
    return title ? `<div class="group compact"><h3>${title}</h3>${places}</div>` : places;
  });
}

/** The link to a figure from the cards of its chapter, with a small picture of it. */
function cardOf({ entryOf, stampHtml }: Tables, id: Registry.FigureId, text: string): string {
  return `<li><a href="#figure-${id}">
    <span class="lab-picture" data-card="${id}" aria-hidden="true"></span>
    <b>${entryOf(id).title}</b>
    ${stampHtml(id)}
    <span>${text.trim()}</span>
  </a></li>`;
}

/**
 * A figure with its heading, presets, place for the picture and caption. What its caption has in `x-details`,
 * and the numbers of the picture with it, is folded below; a figure that is `folded` is so as a whole.
 */
function figureOf(tables: Tables, id: Registry.FigureId, title: string, look: string, inner: string): string {
  const [, tools] = TOOLS.exec(inner) ?? [];
  const [, details] = DETAILS.exec(inner) ?? [];
  const number = `<span>Figure ${tables.numberOf(id)}.</span>`;
  const live = '<span data-live></span>';
  const below = details && `<details class="more"><summary>Details</summary>${details}<p>${live}</p></details>`;
  const caption = inner.replace(TOOLS, '').replace(DETAILS, '').trim();
  const figure = `<figure id="figure-${id}" class="figure" aria-labelledby="title-${id}">
    <div class="figure-head">
      <h2 id="title-${id}">${number} ${title}</h2>
      ${tables.stampHtml(id)}
      ${tools === undefined ? '' : `<div class="tools">${tools}</div>`}
    </div>
    ${tables.presetsHtml(id)}
    <div class="chart"></div>
    <div class="progress"></div>
    <p class="message"></p>
    <figcaption>${caption} ${below ?? live}</figcaption>
  </figure>`;
  if (look !== 'folded') return figure;
  return `<details class="folded"><summary>${number} ${title}</summary>${figure}</details>`;
}

/**
 * Puts the page together: partials of HTML, and what the tables of views, figures and presets say, so
 * that a figure's number, heading and place are written once.
 */
export function partials(): Plugin {
  return {
    name: 'eigenscope-partials',
    transformIndexHtml: {
      order: 'pre',
      async handler(html) {
        const tables: Tables = {
          ...(await load<typeof Presets>('chapters/presets.ts')),
          ...(await load<typeof Correlations>('chapters/localize/correlations.ts')),
          ...(await load<typeof Registry>('ui/registry.ts')),
          ...(await load<typeof Views>('chapters/views.ts')),
        };
        const chapters = tables.viewNames.map((view) => `<x-include src="chapters/${view}/view.html"></x-include>`);
        return withControls(included(html.replace(CHAPTERS, chapters.join('\n'))))
          .replace(CARD, (_, id, text: string) => cardOf(tables, id, text))
          .replace(TABS, () => tabsOf(tables))
          .replace(CONTENTS, (_, view) => contentsOf(tables, view))
          .replace(PANEL, (_, view: string, look = '', inner: string) => panelOf(view, look, inner))
          .replace(FIGURE, (_, id, title, _brief, look, inner) => figureOf(tables, id, title, look ?? '', inner))
          .replace(CORRELATIONS, () => tables.correlationsHtml())
          .replace(WRITTEN, (_, text: string) => text.replaceAll('-', '−'))
          .replace(VALUE, (_, path: string) => tables.valueText(path))
          .replace(REFERENCE, (_, kind: string, id) =>
            kind === 'figure' ? tables.referTo(id) : String(tables.numberOf(id)),
          );
      },
    },
  };
}
