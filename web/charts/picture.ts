import { bytesOf } from '../engine/shipped';
import { linesOf, wrapped, type Provenance } from './provenance';

const NAMESPACE = 'http://www.w3.org/2000/svg';

/** A bitmap that lies under a chart's SVG, in its coordinates. */
export interface Bitmap {
  canvas: HTMLCanvasElement;
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Sets attributes of an element. */
export function setAll(target: Element, attributes: Record<string, string | number>): void {
  for (const [name, value] of Object.entries(attributes)) target.setAttribute(name, String(value));
}

/** An SVG element with attributes. */
export function element<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Record<string, string | number> = {},
  text = '',
): SVGElementTagNameMap[K] {
  const made = document.createElementNS(NAMESPACE, tag);
  setAll(made, attributes);
  if (text) made.textContent = text;
  return made;
}

/** Colours that the page's style sheet holds become plain ones: the file stands alone. */
function resolveVariables(text: string): string {
  const probe = document.createElement('span');
  document.body.append(probe);
  const plain = text.replace(/var\(--[\w-]+\)/g, (variable) => {
    probe.style.color = variable;
    return getComputedStyle(probe).color;
  });
  probe.remove();
  return plain;
}

/** Of the text under an exported chart, in pixels. */
const FONT = 11;
const LINE = 15;
/** Width of a character of that text, about. */
const LETTER = 0.62 * FONT;
/** Pixels around an exported chart and its text, and between both. */
const [MARGIN, GAP] = [12, 6];

/**
 * A chart as one SVG that needs nothing from the page, with where it comes from in text below; bitmaps
 * are embedded as PNG.
 */
export function standalone(svg: SVGSVGElement, bitmaps: Bitmap[], provenance: Provenance): string {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const { width, height: chart } = svg.viewBox.baseVal;
  const most = Math.floor(width / LETTER);
  const lines = linesOf(provenance).flatMap((text, i) =>
    wrapped(text, most).map((line) => ({ line, weight: i === 0 ? 600 : 400 })),
  );
  const top = chart + GAP;
  const size = { width: width + 2 * MARGIN, height: top + lines.length * LINE + 2 * MARGIN };
  const viewBox = `${-MARGIN} ${-MARGIN} ${size.width} ${size.height}`;
  setAll(copy, { xmlns: NAMESPACE, ...size, viewBox, 'font-family': 'system-ui, sans-serif', color: 'var(--ink)' });
  for (const { canvas, ...frame } of bitmaps) {
    const href = canvas.toDataURL('image/png');
    const style = `image-rendering: ${getComputedStyle(canvas).imageRendering}`;
    copy.prepend(element('image', { ...frame, href, preserveAspectRatio: 'none', style }));
  }
  // The anchor too: a chart may have set one for all of its texts.
  const text = { x: 0, 'text-anchor': 'start', 'font-size': FONT, fill: 'var(--muted)' };
  lines.forEach(({ line, weight }, i) => {
    copy.append(element('text', { ...text, 'font-weight': weight, y: top + (i + 1) * LINE }, line));
  });
  copy.prepend(element('rect', { x: -MARGIN, y: -MARGIN, ...size, fill: 'var(--paper)' }));
  copy.prepend(element('style', {}, 'text, tspan { white-space: pre }'));
  return resolveVariables(new XMLSerializer().serializeToString(copy));
}

/** The same at twice the size, as PNG. */
export async function png(svgText: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgText)}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = 2 * image.naturalWidth;
  canvas.height = 2 * image.naturalHeight;
  const context = canvas.getContext('2d');
  if (!context) throw new Error('the browser gives no canvas');
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  // Not toBlob: it waits for an idle moment, which takes seconds where the page is busy.
  return new Blob([bytesOf(canvas.toDataURL('image/png'))], { type: 'image/png' });
}

/** Offers a file to the person. */
export function save(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
