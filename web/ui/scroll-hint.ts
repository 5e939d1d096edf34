/** Pixels that rounding may leave of a scroll. */
const ROUNDING = 2;

/** Keeps the classes more-right and more-below on an area while there is more to scroll to on those sides. */
export function hintScroll(area: HTMLElement): void {
  const mark = () => {
    const { scrollLeft, scrollTop, clientWidth, clientHeight, scrollWidth, scrollHeight } = area;
    area.classList.toggle('more-right', scrollLeft + clientWidth < scrollWidth - ROUNDING);
    area.classList.toggle('more-below', scrollTop + clientHeight < scrollHeight - ROUNDING);
  };
  area.addEventListener('scroll', mark, { passive: true });
  const sizes = new ResizeObserver(mark);
  for (const element of [area, ...area.children]) sizes.observe(element);
}
