/** A hidden box of text over a picture, for `placeTip`. */
export function makeTip(area: HTMLElement): HTMLElement {
  const tip = Object.assign(document.createElement('div'), { className: 'tip', hidden: true });
  area.append(tip);
  return tip;
}

/**
 * Shows a tip `below` pixels under a point of its area, on the side of the point that has more room and
 * within the area's width. All in the area's pixels.
 */
export function placeTip(tip: HTMLElement, area: HTMLElement, x: number, y: number, below: number) {
  tip.hidden = false;
  const { clientWidth } = area;
  const room = clientWidth - tip.offsetWidth;
  const left = x > clientWidth / 2 ? x - tip.offsetWidth : x;
  tip.style.transform = `translate(${Math.max(0, Math.min(left, room))}px, ${y + below}px)`;
}
