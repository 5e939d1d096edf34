import { handleUnder } from './handle';
import type { Position } from './plot';

/** A hidden box of text over a picture, for `placeTip`. */
export function makeTip(area: HTMLElement): HTMLElement {
  const tip = Object.assign(document.createElement('div'), { className: 'tip', hidden: true });
  area.append(tip);
  return tip;
}

/** Pixels of the controls at the foot of the page, which lie over it. */
export function footOfPage(): number {
  return parseFloat(getComputedStyle(document.documentElement).scrollPaddingBottom) || 0;
}

/**
 * Shows a tip `below` pixels under a point of its area, or so far above it where it would end under the controls at the
 * foot of the page, on the side of the point that has more room and within the area's width. All in the area's pixels.
 */
export function placeTip(tip: HTMLElement, area: HTMLElement, x: number, y: number, below: number) {
  tip.hidden = false;
  const { clientWidth } = area;
  const room = clientWidth - tip.offsetWidth;
  const left = x > clientWidth / 2 ? x - tip.offsetWidth : x;
  const down = below + tip.offsetHeight;
  const isLow = area.getBoundingClientRect().top + y + down > innerHeight - footOfPage();
  tip.style.transform = `translate(${Math.max(0, Math.min(left, room))}px, ${isLow ? y - down : y + below}px)`;
}

/** A mark or a point of a curve, in a chart's units, with what it says. */
export interface Mark {
  x: number;
  y: number;
  text: string;
  /** Pixels of a circle: within it the circle is meant, and not a line that goes through it. */
  radius?: number;
}

/** Marks of one chart, in whose pixels of the area they lie. */
type Part = readonly [marks: readonly Mark[], chart: Record<'x' | 'y', Pick<Position, 'apply'>>];

/** How near, in pixels, a pointer must come to a mark. */
const REACH = 12;
/** Pixels from a mark to its tip. */
const BELOW = 12;

/** Says the numbers of the mark that is nearest to the pointer. */
export class MarkTip {
  private tip: HTMLElement;
  private parts: () => readonly Part[] = () => [];
  /** The marks in pixels of the area; null until the pointer comes. */
  private places: Mark[] | null = null;

  /** `isTaken` says whether something else in the area is pointed at. */
  constructor(
    private area: HTMLElement,
    private isTaken: () => boolean = () => false,
  ) {
    this.tip = makeTip(area);
    for (const event of ['pointermove', 'pointerdown'] as const) {
      area.addEventListener(event, (it) => this.point(it));
    }
    area.addEventListener('pointerleave', () => (this.tip.hidden = true));
  }

  /** Takes what makes the marks of a new drawing, which is asked when a pointer comes. */
  place(parts: () => readonly Part[]): void {
    this.tip.hidden = true;
    this.parts = parts;
    this.places = null;
  }

  /** Those without a finite place are left out. */
  private placed(): Mark[] {
    const all = this.parts().flatMap(([marks, { x, y }]) =>
      marks.map((mark) => ({ ...mark, x: x.apply(mark.x), y: y.apply(mark.y) })),
    );
    return all.filter(({ x, y }) => Number.isFinite(x) && Number.isFinite(y));
  }

  private point(event: PointerEvent): void {
    const found = this.near(event);
    this.tip.hidden = !found;
    if (!found) return;
    this.tip.textContent = found.text;
    placeTip(this.tip, this.area, found.x, found.y, BELOW);
  }

  private near(event: PointerEvent): Mark | null {
    if (this.isTaken() || handleUnder(event)) return null;
    this.places ??= this.placed();
    const { left, top } = this.area.getBoundingClientRect();
    const distance = ({ x, y, radius = 0 }: Mark) =>
      Math.hypot(event.clientX - left - x, event.clientY - top - y) - radius;
    const nearest = this.places.reduce<Mark | null>((a, b) => (a && distance(a) <= distance(b) ? a : b), null);
    return nearest && distance(nearest) <= REACH ? nearest : null;
  }
}
