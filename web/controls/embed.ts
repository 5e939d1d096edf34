import type { PageState } from '../state/page-state';
import { child, html } from '../ui/dom';
import { FIGURES } from '../ui/registry';

/** What every figure may need beside itself; controls that stand elsewhere name their figures in `data-controls-of`. */
const SHARED = '.controls, [data-link-notice], #announcer, script, summary';

/**
 * Shows one figure with its controls where the address ends with `?embed=FIGURE` (`parameter`), for an iframe of another
 * page; a name that no figure has is refused in words. Where the markup of its chapter is not there yet, the chapter is
 * shown. The state is in the fragment, as everywhere.
 */
export function showEmbedded(state: PageState, refuse: (message: string) => void, parameter: string): void {
  const id = new URLSearchParams(location.search).get(parameter);
  if (id === null) return;
  const entry = FIGURES.find((figure) => figure.id === id);
  if (!entry) {
    const names = FIGURES.map((figure) => figure.id).join(', ');
    return refuse(`${parameter} in the address must be one of ${names}: found “${id}”.`);
  }
  const root = document.documentElement;
  const figure = document.getElementById(`figure-${id}`);
  if (!figure) return state.show(entry.chapter); // its markup is on its way
  root.dataset.embed = id;
  const view = child(document, `#${entry.chapter}`);
  for (let part: Element = figure; part !== document.body && part.parentElement; part = part.parentElement) {
    for (const other of part.parentElement.children) {
      const isUsed = other === part || other.matches(`${SHARED}, [data-controls-of~="${id}"]`);
      if (!isUsed) other.classList.add('not-embedded');
    }
  }
  const folded = figure.closest('details');
  if (folded) folded.open = true;
  const whole = html('a', { className: 'whole-page', textContent: 'Open in Eigenscope', target: '_blank' });
  whole.rel = 'noopener';
  const follow = () => {
    const [view, settings = ''] = location.hash.split('?');
    const named = new URLSearchParams(settings);
    named.set('figure', id);
    whole.href = `${location.pathname}${view.slice(1) ? view : `#${entry.chapter}`}?${named}`;
  };
  state.addressed.subscribe(follow);
  follow();
  const none = 'This figure needs checkpoints that are not open here.';
  (folded ?? figure).after(html('p', { className: 'embed-empty', textContent: none }));
  view.append(whole);
  if (state.view !== entry.chapter) state.show(entry.chapter);
}

/**
 * Tells the page around an iframe the fragment of the address, which is the state: the parent may show it in its own
 * address bar. It is the message that Spaces of the Hugging Face Hub read.
 */
export function tellParent(state: PageState): void {
  if (parent === window) return;
  state.addressed.subscribe((hash) => parent.postMessage({ hash, queryString: location.search.slice(1) }, '*'));
}
