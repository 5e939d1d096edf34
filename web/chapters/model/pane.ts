/**
 * Tells the style sheet by how much a pane that stays in sight beside what scrolls is higher than the screen: its
 * lower end then stays, and nothing of it is cut or scrolls by itself.
 */
export function keepInSight(pane: HTMLElement): void {
  const measure = () => {
    const room = innerHeight - parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop);
    pane.style.setProperty('--over', `${Math.max(0, pane.offsetHeight - room)}px`);
  };
  new ResizeObserver(measure).observe(pane);
  addEventListener('resize', measure);
}
