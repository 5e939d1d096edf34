import { setAll } from './picture';

/** Where a hand moves to, in pixels of the chart, or a step by keys: -1, 0 or 1, times 5 if big. */
interface HandleMoves {
  drag(x: number, y: number): void;
  step(dx: number, dy: number): void;
  /** The hand let go. */
  rest(): void;
  /** Home and End: the value goes to one end of the range that was given with the place. */
  end(value: number): void;
  /** Takes the present value; what it returns puts that back. */
  keep(): () => void;
}

const STEPS: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
};

/** What a screen reader says of a handle. */
interface HandleValue {
  now: number;
  from: number;
  to: number;
  text: string;
}

/** The handle that a pointer is on. */
export const handleUnder = ({ target }: Event): Element | null => (target as Element).closest('.handle');

/**
 * A thing on a chart that mouse, finger and arrow keys move; Escape puts back the value that it had when it was
 * grabbed or got the focus. It outlives redrawing, so focus stays.
 */
export class Handle {
  readonly element = document.createElement('div');
  private range = { from: 0, to: 1 };
  private restore = () => {};
  /** True while a pointer holds it: scales should not move under the hand. */
  held = false;

  constructor(
    parent: HTMLElement,
    label: string,
    private moves: HandleMoves,
  ) {
    const { element } = this;
    element.className = 'handle';
    element.hidden = true; // there is no chart to move it on yet
    element.tabIndex = 0;
    setAll(element, { role: 'slider', 'aria-label': label });
    this.tell({ now: 0, from: 0, to: 1, text: 'not drawn yet' });
    element.addEventListener('pointerdown', (event) => this.grab(event, parent));
    element.addEventListener('keydown', (event) => this.press(event));
    element.addEventListener('focus', () => (this.restore = moves.keep()));
    parent.append(element);
  }

  /** Moves it to pixels of the chart. */
  place(x: number, y: number, value: HandleValue): void {
    this.element.hidden = false;
    this.element.style.transform = `translate(${x}px, ${y}px)`;
    this.tell(value);
  }

  private tell({ now, from, to, text }: HandleValue): void {
    this.range = { from, to };
    const said = { 'aria-valuenow': now, 'aria-valuemin': from, 'aria-valuemax': to, 'aria-valuetext': text };
    setAll(this.element, said);
  }

  private grab(event: PointerEvent, parent: HTMLElement): void {
    const { element } = this;
    event.preventDefault();
    element.focus();
    element.setPointerCapture(event.pointerId);
    this.held = true;
    this.restore = this.moves.keep();
    const giveUp = ({ key }: KeyboardEvent) => key === 'Escape' && element.releasePointerCapture(event.pointerId);
    const move = (it: PointerEvent) => {
      const box = parent.getBoundingClientRect();
      this.moves.drag(it.clientX - box.left, it.clientY - box.top);
    };
    const release = () => {
      element.removeEventListener('pointermove', move);
      element.removeEventListener('keydown', giveUp);
      this.held = false;
      this.moves.rest();
    };
    element.addEventListener('pointermove', move);
    element.addEventListener('keydown', giveUp);
    element.addEventListener('lostpointercapture', release, { once: true });
  }

  private press(event: KeyboardEvent): void {
    const { from, to } = this.range;
    if (event.key === 'Escape') {
      event.preventDefault(); // the chosen head stays
      this.restore();
      this.moves.rest();
      return;
    }
    if (event.key === 'Home' || event.key === 'End') {
      event.preventDefault();
      this.moves.end(event.key === 'Home' ? from : to);
      return;
    }
    const step = STEPS[event.key];
    if (!step || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    const size = event.shiftKey ? 5 : 1;
    this.moves.step(step[0] * size, step[1] * size);
  }
}
