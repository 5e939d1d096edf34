/** Milliseconds until the second attempt, and at most between two. */
const FIRST = 2000;
const LONGEST = 60_000;

/**
 * Resolves when it is worth asking the host again after so many failed attempts (from 1): when the
 * connection returns, or after a delay that doubles. (A browser may take itself for offline and be wrong.)
 */
export function whenReachable(attempts: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, Math.min(LONGEST, FIRST * 2 ** (attempts - 1)));
    addEventListener('online', done);
    function done() {
      clearTimeout(timer);
      removeEventListener('online', done);
      resolve();
    }
  });
}

/** What whoever waits for that adds to the message of a NetworkError. */
export function retryText(): string {
  return navigator.onLine ? 'The page tries again.' : 'The page tries again when the connection returns.';
}
