import { OPENING, type Store } from './state';

/** Milliseconds of the run. */
const DURATION = 2200;
const REDUCED = matchMedia('(prefers-reduced-motion: reduce)');

/**
 * Sets the variance at which the page opens without a link: the end of the run where no movement is wanted. What it
 * returns squeezes the eigenvalues together once, as a hand would by the handle, until a person does something; then the
 * handle shows that it can be dragged. Where a person has done something before, the variance stays.
 */
export function open(store: Store): (handle: HTMLElement) => void {
  const run = new AbortController();
  const { signal } = run;
  const end = () => {
    run.abort();
    document.documentElement.classList.remove('opening-run');
    store.settle();
  };
  document.documentElement.classList.add('opening-run');
  store.set({ variance: REDUCED.matches ? OPENING.to : OPENING.from });
  for (const event of ['pointerdown', 'keydown', 'hashchange', 'popstate']) {
    addEventListener(event, end, { capture: true, signal });
  }
  return (handle) => {
    const begin = performance.now();
    const step = (now: number) => {
      if (signal.aborted) return;
      const part = REDUCED.matches ? 1 : Math.min(1, Math.max(0, (now - begin) / DURATION));
      const eased = part * part * (3 - 2 * part);
      const variance = Number((OPENING.from * (OPENING.to / OPENING.from) ** eased).toPrecision(3));
      store.set({ variance }, part === 1);
      if (part < 1) return void requestAnimationFrame(step);
      end();
      handle.classList.add('hint');
      const hold = () => handle.classList.remove('hint');
      for (const event of ['pointerdown', 'focus']) handle.addEventListener(event, hold, { once: true });
    };
    requestAnimationFrame(step);
  };
}
