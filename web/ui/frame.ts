import type { Provenance } from '../charts/provenance';
import type { Bitmap } from '../charts/picture';
import { withSubscripts } from '../charts/format';
import { footOfPage } from '../charts/mark-tip';
import type { Table } from '../charts/table';
import { child } from './dom';
import { figureMenu } from './figure-menu';
import type { FigureId } from './registry';

/** Height of a picture: a share of its width, in [`least`, `most`] pixels. */
export interface Shape {
  share: number;
  least: number;
  most: number;
}

/** Pixels by which the name of a picture's lower axis may stand out below it. */
const DESCENT = 2;

/** The place of a figure on the page: its picture, what lies over it, its caption's live part. */
export class Frame {
  readonly root: HTMLElement;
  /** Holds the picture; whatever is laid over it is placed in its pixels. */
  readonly chart: HTMLElement;
  /** Pixels there are for the picture. */
  width: number;
  /** Pixels from the top of the page to the picture. */
  top: number;
  /** Pixels at the foot of the screen that controls cover. */
  private foot: number;
  /** The height of its picture depends on its place. */
  private isInSight = false;
  /** Its number and name: "Figure 1. Localization". */
  get title(): string {
    return child(this.root, '.figure-head h2').textContent.replace(/\s+/g, ' ').trim();
  }
  /** Where the picture comes from, for those who export it. */
  provenance: () => Omit<Provenance, 'title'> = () => ({ caption: '', link: '', settings: '', parameters: {} });
  private readonly live: HTMLElement;
  /** Holds what went wrong. */
  readonly message: HTMLElement;
  private readonly progress: HTMLElement;
  private svg: SVGSVGElement | null = null;
  private bitmaps: Bitmap[] = [];
  private next: { svg: SVGSVGElement; bitmaps: Bitmap[] } | null = null;
  /** What the caption says of the numbers. */
  said = '';
  private resting = false;

  constructor(
    readonly id: FigureId,
    table: () => Table | null,
  ) {
    this.root = child(document.body, `#figure-${id}`);
    this.chart = child(this.root, '.chart');
    [this.width, this.top, this.foot] = this.measured();
    this.live = child(this.root, '[data-live]');
    this.message = child(this.root, '.message');
    this.progress = child(this.root, '.progress');
    const picture = () => this.svg && { svg: this.svg, bitmaps: this.bitmaps };
    const provenance = () => ({ title: this.title, ...this.provenance() });
    this.root.append(figureMenu({ id, picture, table, provenance }));
  }

  /** Calls back when the place has another width than before, or another height is left for a picture in sight. */
  onResize(listener: () => void): void {
    const sizes = new ResizeObserver(() => {
      // Kept, not asked for at every drawing: asking makes the browser lay out the whole page.
      const { width, top, foot } = this;
      this.measure();
      if (this.width !== width || (this.isInSight && (this.top !== top || this.foot !== foot))) listener();
    });
    sizes.observe(this.chart);
    sizes.observe(document.body); // what is above the place has another height
  }

  /** Replaces the picture, at the next frame where there is one already. */
  put(svg: SVGSVGElement, bitmaps: Bitmap[] = []): void {
    const waits = this.next !== null;
    this.next = { svg, bitmaps };
    if (!this.svg) this.attach();
    else if (!waits) requestAnimationFrame(() => this.attach());
  }

  /** Takes the present width of the place. */
  measure(): void {
    [this.width, this.top, this.foot] = this.measured();
  }

  /** Height of a picture without its legend, in pixels. */
  height({ share, least, most }: Shape): number {
    return Math.round(Math.max(least, Math.min(most, this.width * share)));
  }

  /**
   * The same, but so low that the picture ends on the first screen, where that leaves `least`; `legend` are
   * the legend's pixels.
   */
  heightInSight(shape: Shape, legend: number): number {
    this.isInSight = true;
    return Math.max(shape.least, Math.min(this.room - legend, this.height(shape)));
  }

  /** Pixels from the top of the picture to where the first screen ends. */
  get room(): number {
    return Math.floor(innerHeight - this.top - this.foot - DESCENT);
  }

  private measured(): [width: number, top: number, foot: number] {
    const { top } = this.chart.getBoundingClientRect();
    return [this.chart.clientWidth, top + scrollY, footOfPage()];
  }

  /** Gives the figure another name than the registry's, also where it is folded; its number stays. */
  retitle(name: string): void {
    const heading = child(this.root, '.figure-head h2');
    if (heading.textContent.endsWith(` ${name}`)) return;
    const folded = this.root.closest('details.folded');
    for (const place of folded ? [heading, child(folded, 'summary')] : [heading]) {
      const [number] = place.children;
      place.replaceChildren(number, ` ${name}`);
    }
  }

  /** Its name, without its number. */
  get name(): string {
    return child(this.root, '.figure-head h2').lastChild?.textContent?.trim() ?? '';
  }

  /** Puts the figure on the page or takes it off, with what folds it and its link among the contents. */
  setPresent(present: boolean): void {
    const link = child(document, `.contents a[href="#${this.root.id}"]`);
    for (const part of [this.root, this.root.closest('details.folded'), link.closest('li')]) {
      part?.toggleAttribute('hidden', !present);
    }
  }

  /** Shows at once what waits for the next frame. */
  flush(): void {
    this.attach();
  }

  private attach(): void {
    if (!this.next) return;
    const { svg, bitmaps } = this.next;
    this.next = null;
    this.chart.classList.add('drawn');
    this.chart.classList.remove('cleared');
    if (!this.svg) this.chart.prepend(svg);
    else if (this.svg !== svg) this.svg.replaceWith(svg);
    this.svg = svg;
    for (const { canvas } of this.bitmaps) if (!bitmaps.some((it) => it.canvas === canvas)) canvas.remove();
    this.bitmaps = bitmaps;
    this.progress.classList.toggle('done', this.resting);
    for (const { canvas, x, y, width, height } of bitmaps) {
      if (!canvas.isConnected) this.chart.prepend(canvas);
      const style = { left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px` };
      Object.assign(canvas.style, style);
    }
  }

  /** Takes the picture away: nothing is known any more. */
  clear(): void {
    this.chart.classList.remove('drawn');
    this.chart.classList.add('cleared');
    this.next = null;
    this.svg?.remove();
    this.svg = null;
    for (const { canvas } of this.bitmaps) canvas.remove();
    this.bitmaps = [];
    this.say('');
  }

  /** Writes the part of the caption that depends on the numbers; "_F" is a subscript. */
  say(text: string): void {
    if (this.said === text) return;
    this.said = text;
    this.live.replaceChildren(...withSubscripts(text));
  }

  /** An error, in words, with a button where something may be tried again; '' takes it away. The picture stays. */
  complain(text: string, again?: () => void): void {
    this.message.textContent = text;
    if (!again) return;
    const button = Object.assign(document.createElement('button'), {
      type: 'button',
      className: 'quiet small',
      textContent: 'Try again',
    });
    button.setAttribute('aria-label', `Try again: ${this.title}`);
    button.addEventListener('click', () => {
      this.root.tabIndex = -1; // the button goes, and the focus would fall to the document
      this.root.focus({ preventScroll: true });
      again();
    });
    this.message.append(' ', button);
  }

  /** Shows how far the answer is, in [0, 1]. */
  advance(progress: number): void {
    this.progress.style.transform = `scaleX(${progress})`;
    if (progress >= 1) return;
    this.resting = false;
    this.progress.classList.remove('done');
  }

  /** The last picture of an answer was drawn: the bar goes when it is on the screen. */
  rest(): void {
    this.resting = true;
    if (!this.next) this.progress.classList.add('done');
  }
}
