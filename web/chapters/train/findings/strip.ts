// Charts of one line: values with their intervals on an axis, one beside each finding and each verdict.
import { element } from '../../../charts/picture';
import { child } from '../../../ui/dom';
import { colourOfMethod } from '../method-lines';

/** A value on the axis: with an interval a bar, hollow where it is of a recorded run. */
interface StripPoint {
  value: number;
  interval?: readonly [number, number];
  colour: string;
  hollow?: boolean;
}

/** Pixels of a strip. */
const [WIDTH, HEIGHT, END] = [240, 22, 8];

/** A chart of one line over `domain`, with a mark at zero and a band; `label` is what a screen reader says of it. */
export function strip(
  label: string,
  domain: readonly [number, number],
  points: readonly StripPoint[],
  band?: readonly [number, number],
): SVGSVGElement {
  const [low, high] = domain;
  const inside = (value: number) => Math.min(high, Math.max(low, value));
  const x = (value: number) => END + ((inside(value) - low) / (high - low)) * (WIDTH - 2 * END);
  const y = HEIGHT / 2;
  const size = { width: WIDTH, height: HEIGHT, viewBox: `0 0 ${WIDTH} ${HEIGHT}` };
  const svg = element('svg', { ...size, class: 'strip', role: 'img', 'aria-label': label });
  if (band) {
    const [from, to] = band.map(x);
    const look = { fill: 'currentColor', 'fill-opacity': 0.15, rx: 2 };
    svg.append(element('rect', { x: from, y: 3, width: Math.max(2, to - from), height: HEIGHT - 6, ...look }));
  }
  const axis = { stroke: 'currentColor', 'stroke-opacity': 0.35 };
  svg.append(element('line', { x1: END, x2: WIDTH - END, y1: y, y2: y, ...axis }));
  if (low <= 0 && high >= 0) svg.append(element('line', { x1: x(0), x2: x(0), y1: 3, y2: HEIGHT - 3, ...axis }));
  for (const { value, interval, colour, hollow } of points) {
    if (!Number.isFinite(value)) continue;
    if (interval) {
      const [x1, x2] = interval.map(x);
      svg.append(element('line', { x1, x2, y1: y, y2: y, stroke: colour, 'stroke-width': 4, 'stroke-opacity': 0.5 }));
    }
    const look = { fill: hollow ? 'var(--paper)' : colour, stroke: colour, 'stroke-width': 2 };
    svg.append(element('circle', { cx: x(value), cy: y, r: 4.5, ...look }));
  }
  return svg;
}

/** The numbers of a text that `npm run experiments` writes: "LocAteR -0.004 (-0.021 to 0.013)", "45 of 60" as a share. */
function numbersIn(text: string): number[] {
  const numbers = (text.replaceAll('−', '-').match(/(?<!\w)-?\d+(?:\.\d+)?/g) ?? []).map(Number);
  return / of /.test(text) ? [numbers[0] / numbers[1]] : numbers;
}

/** Draws the chart of each finding from the numbers of its text. */
export function drawFindings(list: Element): void {
  for (const item of list.querySelectorAll<HTMLElement>('[data-domain]')) {
    const points = [...item.querySelectorAll<HTMLElement>('[data-point]')].map((place): StripPoint => {
      const name = place.dataset.point!;
      const colour = colourOfMethod(name) ?? `var(--${name})`;
      place.style.setProperty('--run', colour);
      const [value, ...interval] = numbersIn(place.textContent);
      return { value, colour, ...(interval.length === 2 && { interval: [interval[0], interval[1]] }) };
    });
    const [low, high] = numbersIn(item.dataset.domain!);
    const label = item.textContent.replace(/\s+/g, ' ').trim();
    child(item, '[data-strip]').replaceWith(strip(label, [low, high], points));
  }
}
