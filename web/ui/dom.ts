/** The one element that a selector names; the page is wrong without it. */
export function child<E extends Element = HTMLElement>(parent: ParentNode, selector: string): E {
  const found = parent.querySelector<E>(selector);
  if (!found) throw new Error(`the page has no ${selector}`);
  return found;
}

/** A new element with properties of its own, and with children. */
export function html<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<HTMLElementTagNameMap[K]>,
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/** Gives `parent` these children, unless it has equal ones: a button that goes while it is pressed loses the click. */
export function refill(parent: Element, children: readonly Element[]): void {
  const own = [...parent.children];
  if (own.length === children.length && own.every((it, i) => it.isEqualNode(children[i]))) return;
  parent.replaceChildren(...children);
}

/** Milliseconds for which a button shows what it has done. */
const FLASH = 2500;

/** Shows on a button what it has done, then its own text again. */
export function flash(button: HTMLElement, text: string): void {
  button.dataset.label ??= button.textContent;
  button.textContent = text;
  setTimeout(() => {
    button.textContent = button.dataset.label ?? '';
  }, FLASH);
}

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
