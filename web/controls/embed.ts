import type { PageState } from '../state/page-state';
import { isolate } from '../ui/alone';
import { child, html } from '../ui/dom';
import { FIGURES } from '../ui/registry';

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
  const figure = document.getElementById(`figure-${id}`);
  if (!figure) return state.show(entry.chapter); // its markup is on its way
  isolate(entry.id);
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
  (figure.closest('details') ?? figure).after(html('p', { className: 'embed-empty', textContent: none }));
  child(document, `#${entry.chapter}`).append(whole);
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
