import { capitalized } from '../charts/format';
import { citationOf, type Provenance } from '../charts/provenance';
import type { Bitmap } from '../charts/picture';
import { saveNumbers } from '../charts/save-numbers';
import type { Table } from '../charts/table';
import { fillScreen } from './alone';
import { flash, html } from './dom';
import { referTo, type FigureId } from './registry';

/** The formats of a figure's picture and numbers. */
const FORMATS = ['svg', 'png', 'csv', 'json'] as const;
type Format = (typeof FORMATS)[number];

/** What the menu passes on. */
export interface Shared {
  id: FigureId;
  /** The picture as it is drawn now; null while there is none. */
  picture: () => { svg: SVGSVGElement; bitmaps: Bitmap[] } | null;
  /** The numbers of the picture; null while there are none. */
  table: () => Table | null;
  provenance: () => Provenance;
}

/** The menu with which a figure is sent on: its link, the whole screen, files of picture and numbers, a citation. */
export function figureMenu(shared: Shared): HTMLElement {
  const { id } = shared;
  const name = referTo(id);
  const summary = html('summary', { textContent: 'Share', ariaLabel: `Share ${name}` });
  const row = html('div', {});
  const menu = html('details', { className: 'exports' }, summary, row);
  menu.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !menu.open) return;
    event.preventDefault(); // the chosen head stays
    menu.open = false;
    summary.focus();
  });
  const add = (textContent: string, ariaLabel: string, act: (button: HTMLElement) => void) => {
    const button = html('button', { type: 'button', textContent, ariaLabel });
    button.addEventListener('click', () => act(button));
    row.append(button);
    return button;
  };
  const copy = (text: string) => (button: HTMLElement) => {
    navigator.clipboard.writeText(text).then(
      () => flash(button, 'Copied'),
      () => flash(button, 'Not allowed by the browser'),
    );
  };
  add('Link', `Copy the link to ${name}`, (button) => copy(shared.provenance().link)(button));
  if (document.fullscreenEnabled) {
    add('Full screen', `${name} on the whole screen`, (button) => {
      fillScreen(id).then(
        () => (menu.open = false),
        () => flash(button, 'Not allowed by the browser'),
      );
    });
  }
  const figure = capitalized(name);
  for (const format of FORMATS) {
    const thing = format === 'csv' || format === 'json' ? `Numbers of ${name}` : figure;
    const label = format.toUpperCase();
    const act = (button: HTMLElement) =>
      void saveAs(format, shared).then(
        (isSaved) => isSaved || flash(button, 'Nothing is drawn yet'),
        () => flash(button, 'Failed, try again'),
      );
    add(label, `${thing} as ${label}`, act).dataset.export = format;
  }
  add('Cite', `Copy a BibTeX entry for ${name}`, (button) => copy(citationOf(shared.provenance()))(button));
  return menu;
}

/** False where the figure has nothing to save yet. */
async function saveAs(format: Format, { id, picture, table, provenance }: Shared): Promise<boolean> {
  if (format === 'csv' || format === 'json') {
    const numbers = table();
    if (numbers) await saveNumbers(format, numbers, provenance(), id);
    return numbers !== null;
  }
  const drawn = picture();
  if (!drawn) return false;
  const { png, save, standalone } = await import('../charts/files');
  const text = standalone(drawn.svg, drawn.bitmaps, provenance());
  save(format === 'png' ? await png(text) : new Blob([text], { type: 'image/svg+xml' }), `eigenscope-${id}.${format}`);
  return true;
}
