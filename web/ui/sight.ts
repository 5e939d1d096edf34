/** Resolves when the element first comes near the visible part of the page. */
export function inSight(element: Element): Promise<void> {
  return new Promise((resolve) => {
    const sight = new IntersectionObserver(
      (entries) => {
        if (!entries[entries.length - 1].isIntersecting) return;
        sight.disconnect();
        resolve();
      },
      { rootMargin: '200px' },
    );
    sight.observe(element);
  });
}
