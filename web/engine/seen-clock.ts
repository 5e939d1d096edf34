/** Milliseconds of a second that may pass until the next one, in a page that is busy. */
const MOST = 3000;
const SECOND = 1000;

/**
 * Calls back after each second in which the page was visible and its timers ran. Timers of hidden pages are
 * throttled, and none runs while a machine sleeps.
 */
export function everySeenSecond(listener: () => void): void {
  let last = performance.now();
  setInterval(() => {
    const now = performance.now();
    if (document.visibilityState === 'visible' && now - last < MOST) listener();
    last = now;
  }, SECOND);
}
