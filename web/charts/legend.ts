import { dashes, series } from './palette';
import { element } from './picture';

/** Single marks: hollow rings and triangles, crosses, and full dots and diamonds. */
type Mark = 'ring' | 'triangle' | 'cross' | 'dot' | 'diamond';

/**
 * One entry of a legend: a line, a hollow or full mark, three marks in the first, middle and last
 * colour, an area or a strip of colours, with its text.
 */
export interface Entry {
  text: string;
  kind: 'line' | 'dots' | 'diamonds' | 'area' | 'strip' | Mark;
  /** Of three marks: only their outlines. */
  hollow?: boolean;
  colours: string[];
  dash?: string;
}

/** Of the i-th of the lines that are compared. */
export const lineEntry = (text: string, i: number): Entry => ({
  text,
  kind: 'line',
  colours: [series[i]],
  dash: dashes[i],
});

/** Of the i-th of the hollow marks that are compared. */
export const ringEntry = (text: string, i: number): Entry => ({ text, kind: 'ring', colours: [series[i]] });

/** Of a dashed line to compare others with. */
export const dashedEntry = (text: string): Entry => ({ text, kind: 'line', colours: ['var(--ink)'], dash: '3 3' });

const ROW = 20;
const SWATCH = 26;
let measurer: CanvasRenderingContext2D | null = null;

/** About the pixels of a text in a legend, a little more than in an axis. */
export function textWidth(text: string): number {
  measurer ??= document.createElement('canvas').getContext('2d');
  if (!measurer) return 7 * text.length;
  measurer.font = '12px system-ui, sans-serif';
  return measurer.measureText(text).width;
}

function swatch(entry: Entry): SVGElement {
  const [colour] = entry.colours;
  switch (entry.kind) {
    case 'line': {
      const look = { stroke: colour, 'stroke-width': 2.5, 'stroke-dasharray': entry.dash ?? '' };
      return element('line', { x1: 0, x2: 20, y1: 0, y2: 0, ...look });
    }
    case 'dots':
    case 'diamonds':
      return marks(entry);
    case 'area':
      return element('rect', { y: -5, width: 20, height: 10, fill: colour, 'fill-opacity': 0.3 });
    case 'ring':
      return element('circle', { cx: 10, r: 4, ...outline(colour) });
    case 'triangle':
      return element('path', { d: 'M10,-4.5L14,3L6,3Z', ...outline(colour) });
    case 'cross':
      return element('path', { d: 'M6.5,-3.5L13.5,3.5M6.5,3.5L13.5,-3.5', ...outline(colour) });
    case 'dot':
      return element('circle', { cx: 10, r: 4, fill: colour });
    case 'diamond':
      return element('path', { d: 'M10,-5L14,0L10,5L6,0Z', fill: colour });
    case 'strip': {
      const strip = element('g');
      const width = 20 / entry.colours.length;
      entry.colours.forEach((fill, i) => {
        strip.append(element('rect', { x: i * width, y: -5, width: width + 0.2, height: 10, fill }));
      });
      return strip;
    }
  }
}

function outline(stroke: string) {
  return { fill: 'none', stroke, 'stroke-width': 1.5 };
}

/** A mark in the first, the middle and the last of the colours. */
function marks({ kind, colours, hollow }: Entry): SVGElement {
  const group = element('g');
  const last = colours.length - 1;
  [0, Math.floor(last / 2), last].forEach((at, i) => {
    const x = 3 + 8 * i;
    const look = hollow ? outline(colours[at]) : { fill: colours[at] };
    group.append(
      kind === 'dots'
        ? element('circle', { cx: x, r: hollow ? 3 : 3.5, ...look })
        : element('path', { d: `M${x},-5L${x + 4},0L${x},5L${x - 4},0Z`, ...look }),
    );
  });
  return group;
}

/** A text that is longer than a row, before and after its last comma or semicolon. */
function halves(text: string): [string, string] {
  const at = Math.max(text.lastIndexOf(', '), text.lastIndexOf('; ')) + 1;
  return at > 0 ? [text.slice(0, at), text.slice(at + 1)] : [text, ''];
}

/** A text with its middle left out, such as that of a long file name, where it takes more than so many pixels. */
function fitted(text: string, room: number): string {
  const around = (kept: number) =>
    `${text.slice(0, Math.ceil(kept / 2))}…${text.slice(text.length - Math.floor(kept / 2))}`;
  let kept = text.length;
  while (kept > 2 && textWidth(kept < text.length ? around(kept) : text) > room) kept--;
  return kept < text.length ? around(kept) : text;
}

/** Entries laid out in rows from `top` on: the picture and the height it takes. */
export function legend(entries: Entry[], left: number, right: number, top = 0) {
  const group = element('g', { 'aria-hidden': 'true', 'font-size': 12, fill: 'currentColor', 'text-anchor': 'start' });
  let x = left;
  let row = 0;
  for (const entry of entries) {
    const width = SWATCH + textWidth(entry.text);
    if (x > left && x + width > right) {
      x = left;
      row++;
    }
    const place = element('g', { transform: `translate(${x}, ${top + 10 + row * ROW})` });
    place.append(swatch(entry));
    const [text, rest] = x + width > right ? halves(entry.text) : [entry.text, ''];
    const room = right - x - SWATCH;
    place.append(element('text', { x: SWATCH, dy: '0.32em' }, fitted(text, room)));
    if (rest) {
      place.append(element('text', { x: SWATCH, y: ROW, dy: '0.32em' }, fitted(rest, room)));
      row++;
    }
    group.append(place);
    x += width + 18;
  }
  return { height: top + (row + 1) * ROW, render: () => group.cloneNode(true) as SVGGElement };
}
