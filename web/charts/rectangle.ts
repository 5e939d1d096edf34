/** A rectangle in pixels of the chart. */
export interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** A hand that moved less than this only clicked. */
const LEAST = 5;

/**
 * Lets a mouse or pen draw a rectangle over a chart. Fingers scroll the page instead. The click that
 * ends a rectangle is kept from everything else on the chart.
 */
export class RectangleBrush {
  private outline = document.createElement('div');
  private from: { x: number; y: number } | null = null;
  private drawn = false;

  constructor(
    private area: HTMLElement,
    private done: (box: Box) => void,
  ) {
    this.outline.className = 'brush';
    this.outline.hidden = true;
    area.append(this.outline);
    area.addEventListener('pointerdown', (event) => this.begin(event));
    area.addEventListener('pointermove', (event) => this.move(event));
    area.addEventListener('pointerup', (event) => this.end(event));
    area.addEventListener('click', (event) => this.swallow(event), { capture: true });
  }

  private at(event: PointerEvent): { x: number; y: number } {
    const box = this.area.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  private boxTo(event: PointerEvent): Box | null {
    if (!this.from) return null;
    const { x, y } = this.at(event);
    return {
      left: Math.min(x, this.from.x),
      right: Math.max(x, this.from.x),
      top: Math.min(y, this.from.y),
      bottom: Math.max(y, this.from.y),
    };
  }

  private begin(event: PointerEvent): void {
    this.drawn = false;
    if (event.pointerType === 'touch' || event.button !== 0) return;
    event.preventDefault(); // no text is selected on the way
    this.from = this.at(event);
  }

  private move(event: PointerEvent): void {
    const box = this.boxTo(event);
    if (!box) return;
    if (!this.drawn && Math.max(box.right - box.left, box.bottom - box.top) < LEAST) return;
    if (!this.drawn) this.area.setPointerCapture(event.pointerId);
    this.drawn = true;
    this.outline.hidden = false;
    const { left, top, right, bottom } = box;
    const style = { left, top, width: right - left, height: bottom - top };
    for (const [name, value] of Object.entries(style)) {
      this.outline.style.setProperty(name, `${value}px`);
    }
  }

  private end(event: PointerEvent): void {
    const box = this.boxTo(event);
    this.from = null;
    this.outline.hidden = true;
    if (box && this.drawn) this.done(box);
  }

  private swallow(event: MouseEvent): void {
    if (this.drawn) event.stopImmediatePropagation();
    this.drawn = false;
  }
}
