/** Calls no more often than every `interval` milliseconds: calls that come too soon are left out. */
export function steady(interval: number, call: () => void): () => void {
  let last = -Infinity;
  return () => {
    const now = performance.now();
    if (now - last < interval) return;
    last = now;
    call();
  };
}
