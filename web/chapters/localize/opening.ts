import { OPENING, type Store } from './state';

/** Milliseconds of the run. */
const DURATION = 2200;
const REDUCED = matchMedia('(prefers-reduced-motion: reduce)');

/** Sets the variance at which the page opens without a link: the end of the run where no movement is wanted. */
export function open(store: Store): void {
  document.documentElement.classList.add('opening-run');
  store.set({ variance: REDUCED.matches ? OPENING.to : OPENING.from });
}

/**
 * Squeezes the eigenvalues together once, as a hand would by the handle, until a person does something; then the handle
 * shows that it can be dragged.
 */
export function play(store: Store, handle: HTMLElement): void {
  const begin = performance.now();
  let isOver = false;
  const subscriptions = new AbortController();
  const { signal } = subscriptions;
  const end = () => {
    isOver = true;
    subscriptions.abort();
    document.documentElement.classList.remove('opening-run');
    store.settle();
  };
  for (const event of ['pointerdown', 'keydown', 'hashchange', 'popstate']) {
    addEventListener(event, end, { capture: true, signal });
  }
  const step = (now: number) => {
    if (isOver) return;
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
}
