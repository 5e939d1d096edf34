import { makeTip, placeTip } from '../../charts/tip';
import { html } from '../../ui/dom';

/** A mark of a picture, in its pixels, that stands for cells of an experiment. */
export interface CellPlace {
  x: number;
  y: number;
  /** What the tip says of it. */
  text: string;
  /** What a click chooses: labels of axes, or a seed. */
  choice: Record<string, string>;
}

/** How near, in pixels, a pointer must come. */
const REACH = 16;

/** Lets a pointer find marks: a ring and a tip while it is near, chosen by a click. */
export class CellPointer {
  private ring = html('div', { className: 'ring', hidden: true });
  private tip: HTMLElement;
  private places: readonly CellPlace[] = [];

  constructor(
    private area: HTMLElement,
    choose: (choice: Record<string, string>) => void,
  ) {
    area.append(this.ring);
    this.tip = makeTip(area);
    area.addEventListener('pointermove', (event) => this.show(this.near(event)));
    area.addEventListener('pointerleave', () => this.show(undefined));
    area.addEventListener('click', (event) => {
      const place = this.near(event);
      if (place) choose(place.choice);
    });
  }

  /** Takes the places of a new picture. */
  put(places: readonly CellPlace[]): void {
    this.places = places;
  }

  private near(event: MouseEvent): CellPlace | undefined {
    const box = this.area.getBoundingClientRect();
    const distance = ({ x, y }: CellPlace) => Math.hypot(event.clientX - box.left - x, event.clientY - box.top - y);
    let best: CellPlace | undefined;
    for (const place of this.places) if (!best || distance(place) < distance(best)) best = place;
    return best && distance(best) < REACH ? best : undefined;
  }

  private show(place: CellPlace | undefined): void {
    this.ring.hidden = this.tip.hidden = !place;
    if (!place) return;
    const { x, y, text } = place;
    this.ring.style.transform = `translate(${x}px, ${y}px)`;
    this.tip.textContent = text;
    placeTip(this.tip, this.area, x, y, 14);
  }
}
