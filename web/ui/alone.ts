import { child } from './dom';
import type { FigureId } from './registry';

/** What every figure may need beside itself; controls that stand elsewhere name their figures in `data-controls-of`. */
const SHARED = '.controls, [data-link-notice], #announcer, script, summary';

const HIDDEN = 'not-embedded';

/** Hides all of the page but a figure and its controls. Returns a function that shows the page again. */
export function isolate(id: FigureId): () => void {
  const figure = child(document, `#figure-${id}`);
  const hidden: Element[] = [];
  for (let part: Element = figure; part !== document.body && part.parentElement; part = part.parentElement) {
    for (const other of part.parentElement.children) {
      const isUsed = other === part || other.matches(`${SHARED}, .${HIDDEN}, [data-controls-of~="${id}"]`);
      if (!isUsed) hidden.push(other);
    }
  }
  for (const part of hidden) part.classList.add(HIDDEN);
  const folded = figure.closest('details');
  if (folded) folded.open = true;
  const { dataset } = document.documentElement;
  dataset.embed = id;
  return () => {
    delete dataset.embed;
    for (const part of hidden) part.classList.remove(HIDDEN);
  };
}

/** Shows a figure with its controls on the whole screen, as in a talk, until the full screen is left. */
export async function fillScreen(id: FigureId): Promise<void> {
  const root = document.documentElement;
  await root.requestFullscreen();
  if (root.dataset.embed) return; // it is alone already
  const show = isolate(id);
  const leave = () => {
    if (document.fullscreenElement) return;
    document.removeEventListener('fullscreenchange', leave);
    show();
    child(document, `#figure-${id}`).scrollIntoView();
  };
  document.addEventListener('fullscreenchange', leave);
}
