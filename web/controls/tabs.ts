import type { PageState } from '../state/page-state';
import { child } from '../ui/dom';

const STEPS: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1 };

/** Shows the view that the state names, and lets the tabs choose it by pointer and by keys. */
export function followViews(state: PageState): void {
  const viewNames = Object.keys(state.views);
  const tabs = new Map(viewNames.map((view) => [view, child<HTMLElement>(document, `#tab-${view}`)]));
  const panels = new Map(viewNames.map((view) => [view, child(document, `#${view}`)]));
  /** How far down each view was left. */
  const left = new Map<string, number>();
  let shown = state.view;

  // For rules of the whole page: one that asks `:has()` there is asked again at every change anywhere below.
  const mark = (view: string) => {
    const { classList, dataset } = document.documentElement;
    dataset.view = view;
    classList.toggle('with-bar', document.querySelector(`#${view} .controls.bar`) !== null);
  };
  mark(shown);
  const show = (view: string, place: string) => {
    if (view !== shown) left.set(shown, scrollY);
    const other = view !== shown;
    shown = view;
    mark(view);
    for (const [name, tab] of tabs) {
      tab.setAttribute('aria-selected', String(name === view));
      tab.tabIndex = name === view ? 0 : -1;
      panels.get(name)?.toggleAttribute('hidden', name !== view);
    }
    const named = place ? document.getElementById(place) : null;
    const folded = named?.closest('details');
    if (folded) folded.open = true;
    const target = folded ?? named; // its title is the line that unfolds it
    if (other) scrollTo({ top: target ? 0 : (left.get(view) ?? 0), behavior: 'instant' });
    if (target && !isInSight(target)) target.scrollIntoView({ behavior: 'instant' });
    if (target?.matches('input, textarea')) target.focus({ preventScroll: true });
  };
  state.moved.subscribe(({ view, place }) => show(view, place));

  for (const [view, tab] of tabs) {
    tab.addEventListener('click', (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return; // a tab of the browser
      event.preventDefault();
      state.show(view);
    });
    tab.addEventListener('keydown', (event) => {
      const last = viewNames.length - 1;
      const ends: Record<string, number> = { Home: 0, End: last };
      const step = STEPS[event.key];
      const at = ends[event.key] ?? (viewNames.indexOf(view) + (step ?? 0) + last + 1) % (last + 1);
      if (step === undefined && !(event.key in ends)) return;
      event.preventDefault();
      state.show(viewNames[at]);
      tabs.get(viewNames[at])?.focus();
    });
  }
}

/** Whether the top of an element is in the upper half of the screen, below the header. */
function isInSight(element: Element): boolean {
  const { top } = element.getBoundingClientRect();
  return top >= child<HTMLElement>(document, '.masthead').offsetHeight && top < innerHeight / 2;
}
