import { plot, type Markish, type PlotOptions, type Scale } from '@observablehq/plot';
import { tick, subscriptParts } from './format';
import { legend, type Entry } from './legend';
import { element, setAll } from './picture';

export { dot, gridX, gridY, line, link, rect, ruleX, ruleY, text } from '@observablehq/plot';

/** A drawn chart with the scales that place things on it. */
export interface Chart {
  svg: SVGSVGElement;
  x: Position;
  y: Position;
}

/** A scale in pixels of the chart. */
export interface Position {
  apply(value: number): number;
  invert(pixel: number): number;
}

function position(scale: Scale | undefined): Position {
  if (!scale?.invert) throw new Error('this scale has no inverse');
  const { apply, invert } = scale;
  return { apply: (value) => apply(value) as number, invert: (pixel) => invert(pixel) as number };
}

/**
 * A chart is one picture with one text for those who do not see it. What its parts are stays in
 * `data-mark`, for those who take the picture apart: names of parts are not allowed inside a picture.
 */
function describe(svg: SVGSVGElement, label: string): void {
  for (const part of svg.querySelectorAll('[aria-label]')) {
    const name = part.getAttribute('aria-description') ?? part.getAttribute('aria-label') ?? '';
    part.removeAttribute('aria-description');
    part.removeAttribute('aria-label');
    part.setAttribute('data-mark', name);
  }
  setAll(svg, { role: 'img', 'aria-label': label });
}

/** Writes the letter after an underscore as a subscript. */
function lower(text: SVGTextElement): void {
  const parts = subscriptParts(text.textContent);
  if (parts.length < 3) return;
  const spans = parts.map((part, i) => {
    const shift = i % 2 === 1 ? '0.25em' : i > 0 ? '-0.2em' : '0';
    return element('tspan', i % 2 === 1 ? { dy: shift, 'font-size': '80%' } : { dy: shift }, part);
  });
  text.replaceChildren(...spans);
}

/** Ticks of an axis that asks for no other format; names stay as they are. */
const tickFormat = (value: unknown) => (typeof value === 'number' ? tick(value) : String(value));

/** Draws a chart with the page's type and colours. `label` is what a screen reader says of it. */
export function chart(options: PlotOptions & { label: string }): Chart {
  const { label, x, y, ...rest } = options;
  const made = plot({
    style: { background: 'none', fontFamily: 'inherit', fontSize: '12px', overflow: 'visible' },
    ...rest,
    x: { tickFormat, ...x },
    y: { tickFormat, ...y },
  });
  const svg = made as unknown as SVGSVGElement;
  // Its rules are those of figures.css, and of standalone() for files: a sheet with each drawing would have the styles
  // of all elements looked at again.
  svg.querySelector('style')?.remove();
  for (const text of svg.querySelectorAll('text')) lower(text);
  describe(svg, label);
  return { svg, x: position(made.scale('x')), y: position(made.scale('y')) };
}

/** Pixels from the top of a picture to its legend, where the name of the vertical axis stands. */
const AXIS_NAME = 22;

/** A chart below the legend of its `entries`; `height` is that without the legend, or made of the legend's pixels. */
export function chartWithLegend({
  entries,
  height,
  marks,
  ...options
}: Omit<PlotOptions, 'height' | 'marks'> & {
  label: string;
  width: number;
  marginLeft: number;
  entries: Entry[];
  height: number | ((legend: number) => number);
  marks: Markish[];
}): Chart {
  const key = legend(entries, options.marginLeft, options.width - 8, AXIS_NAME);
  const below = typeof height === 'number' ? height : height(key.height);
  return chart({
    ...options,
    height: below + key.height,
    marginTop: key.height + 12,
    marks: [() => key.render(), ...marks],
  });
}

/** The same chart in the pixels of a picture in which it stands at (dx, dy). */
export function shifted({ svg, x, y }: Chart, dx: number, dy: number): Chart {
  const moved = (scale: Position, by: number): Position => ({
    apply: (value) => by + scale.apply(value),
    invert: (pixel) => scale.invert(pixel - by),
  });
  return { svg, x: moved(x, dx), y: moved(y, dy) };
}

/** Makes a chart a part of a picture, whose own text is read in its place. */
export function partOf(svg: SVGSVGElement): SVGSVGElement {
  svg.removeAttribute('role');
  svg.removeAttribute('aria-label');
  return svg;
}

/** Puts charts into one picture, each at its place. */
export function compose(
  parts: { svg: SVGSVGElement; x: number; y: number }[],
  size: { width: number; height: number },
  label: string,
): SVGSVGElement {
  const { width, height } = size;
  const whole = element('svg', { width, height, viewBox: `0 0 ${width} ${height}` });
  describe(whole, label);
  for (const { svg, x, y } of parts) {
    setAll(svg, { x, y });
    whole.append(partOf(svg));
  }
  return whole;
}
