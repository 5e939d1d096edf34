import type { Markish } from '@observablehq/plot';
import { handleUnder } from '../charts/handle';
import { layerColour } from '../charts/palette';
import type { Entry } from '../charts/legend';
import { dot, type Chart } from '../charts/plot';
import { count, withSubscripts } from '../charts/format';
import { makeTip, placeTip } from '../charts/mark-tip';
import { isBrushing, placeOf, toggle } from './brush';
import { nameOf, type Model, type HeadRegistry, type PlacedHead } from './registry';
import type { HeadState, Origin } from '../state/heads';
import type { Store } from '../state/store';

/** A head at its place in a chart's units. */
export interface Spot {
  head: PlacedHead;
  x: number;
  y: number;
}

/** Parts of a coordinate by which the same head of two files may differ: the page rounds the sample's. */
const SAME = 1e-3;

function isSame(a: number, b: number): boolean {
  return Object.is(a, b) || Math.abs(a - b) <= SAME * Math.max(Math.abs(a), Math.abs(b));
}

/** Leaves out the heads of the sample that lie where the same heads of the opened checkpoint do. */
export function distinct<S extends Spot>(spots: S[]): S[] {
  const opened = spots.filter(({ head }) => head.model.key === 'file');
  const own = new Map(opened.map((spot) => [placeOf(spot.head), spot]));
  return spots.filter(({ head, x, y }) => {
    const other = head.model.key === 'sample' ? own.get(placeOf(head)) : undefined;
    return !other || !isSame(x, other.x) || !isSame(y, other.y);
  });
}

/**
 * Marks of heads: round for the sample, diamonds for a file, hollow where nothing is measured; the chosen one
 * has a ring. Where some are brushed the others are faint.
 */
export function headMarks(
  spots: Spot[],
  chosen: string,
  brushes: ReadonlySet<string>,
  origin: Origin = 'measured',
): Markish[] {
  const colour = { value: ({ head }: Spot) => layerColour(head.layer, head.model.layers), scale: null };
  const full = { fill: colour, stroke: 'var(--paper)', strokeWidth: 0.75 };
  const hollow = { fill: 'var(--paper)', fillOpacity: 0.6, stroke: colour, strokeWidth: 1.75 };
  const look = origin === 'measured' ? { ...full, r: 4 } : { ...hollow, r: 3.5 };
  const clear = ({ head }: Spot) => (brushes.size === 0 || brushes.has(placeOf(head)) ? 1 : 0.15);
  const marks = (['sample', 'file'] as const).map((key) =>
    dot(
      spots.filter(({ head }) => head.model.key === key),
      {
        x: 'x',
        y: 'y',
        ...look,
        symbol: key === 'sample' ? 'circle' : 'diamond',
        opacity: { value: clear, scale: null },
        ariaDescription: `heads of the ${key}`,
      },
    ),
  );
  const ring = spots.filter(({ head }) => head.id === chosen);
  const around = { x: 'x', y: 'y', r: 8, stroke: 'var(--ink)', strokeWidth: 2 };
  return [...marks, dot(ring, { ...around, ariaDescription: 'chosen head' })];
}

/**
 * Legend entries of the models: those that are drawn, or all before there are spots. With `origin` and `spectrum`
 * they name what the places are made of.
 */
export function modelEntries(registry: Model[], spots: readonly Spot[], origin?: Origin, spectrum?: string): Entry[] {
  const drawn = registry.filter(({ key }) => spots.some(({ head }) => head.model.key === key));
  const made = { predicted: `predicted from ${spectrum}`, measured: 'measured on text' };
  return (spots.length > 0 ? drawn : registry).map(({ key, name, heads, layers }) => ({
    text: `${count(heads.length)} heads of ${name}, ${origin ? made[origin] : 'first to last layer'}`,
    hollow: origin === 'predicted',
    kind: key === 'sample' ? 'dots' : 'diamonds',
    colours: Array.from({ length: layers }, (_, layer) => layerColour(layer, layers)),
  }));
}

/** A head in pixels of the area. */
interface Place<S> {
  spot: S;
  x: number;
  y: number;
}

/** How near, in pixels, a pointer must come to a head. */
const REACH = 14;
/** How far, in pixels, a finger may slip in a tap. */
const STILL = 12; // a browser moves the click of a finger to what it takes for its target

type Position = Pick<MouseEvent, 'clientX' | 'clientY'>;
const distanceOf = (a: Position, b: Position) => Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);

/**
 * Lets a pointer find heads on a chart: a ring and a name while it is near. A click or a tap chooses a head,
 * whose name then stays.
 */
export class HeadPointer<S extends Spot = Spot> {
  private ring = document.createElement('div');
  private label: HTMLElement;
  private places: Place<S>[] = [];
  /** Of the places of the head that is pointed at, the one under the pointer. */
  private under: Place<S> | undefined;
  /** Where the pointer went down last. */
  private pressed: Position | undefined;
  /** The head that was chosen here; another chart may have chosen one since. */
  private picked = '';

  constructor(
    private area: HTMLElement,
    private registry: HeadRegistry,
    private store: Store<HeadState>,
    private describe: (spot: S) => string,
  ) {
    this.ring.className = 'ring';
    this.ring.hidden = true;
    area.append(this.ring);
    this.label = makeTip(area);
    area.addEventListener('pointerdown', (event) => (this.pressed = event));
    area.addEventListener('pointermove', (event) => {
      if (this.places.length > 0) registry.hover(this.near(event, event)); // others may share the area
    });
    area.addEventListener('pointerleave', () => registry.hover(''));
    area.addEventListener('click', (event) => {
      const { pressed = event } = this;
      if (distanceOf(event, pressed) > STILL) return; // the end of a drag
      const id = this.near(event, pressed);
      const head = registry.find(id);
      if (head && isBrushing(event)) toggle(store, placeOf(head));
      else if (head) store.set({ head: store.state.head === id ? '' : id });
      this.picked = head ? store.state.head : '';
      this.show();
    });
    registry.hovering.subscribe(() => this.show());
  }

  /** Takes the places where the heads were drawn: in one chart of the area or in several; none where they are not. */
  place(...parts: (readonly [spots: readonly S[], chart: Chart])[]): void {
    this.places = parts.flatMap(([spots, chart]) =>
      spots.map((spot) => ({ spot, x: chart.x.apply(spot.x), y: chart.y.apply(spot.y) })),
    );
    this.under = undefined;
    this.show();
  }

  private near(event: MouseEvent, at: Position): string {
    const handle = handleUnder(event);
    const before = this.under;
    // A handle that is held takes all; to ask for places then would lay out the page twice in a step.
    this.under = handle && event.buttons ? undefined : this.nearest(at, handle);
    if (this.under !== before) this.show(); // perhaps the same head in another chart
    return this.under?.spot.head.id ?? '';
  }

  private nearest(at: Position, handle: Element | null): Place<S> | undefined {
    const box = this.area.getBoundingClientRect();
    let best = REACH;
    if (handle) {
      // What is nearer to its dot than to a head is the handle's.
      const { left, top, width, height } = handle.getBoundingClientRect();
      best = Math.min(REACH, distanceOf(at, { clientX: left + width / 2, clientY: top + height / 2 }));
    }
    let found: Place<S> | undefined;
    for (const place of this.places) {
      const distance = distanceOf(at, { clientX: box.left + place.x, clientY: box.top + place.y });
      if (distance < best) [best, found] = [distance, place];
    }
    return found;
  }

  private show(): void {
    if (this.picked !== this.store.state.head) this.picked = '';
    const id = this.registry.hovered || this.picked;
    const isIts = (place?: Place<S>) => place?.spot.head.id === id;
    const place = isIts(this.under) ? this.under : this.places.find(isIts);
    this.ring.hidden = this.label.hidden = !place;
    if (!place) return;
    const { x, y, spot } = place;
    this.ring.style.transform = `translate(${x}px, ${y}px)`;
    this.label.replaceChildren(...withSubscripts(`${nameOf(spot.head)}: ${this.describe(spot)}`));
    placeTip(this.label, this.area, x, y, 14);
  }
}
