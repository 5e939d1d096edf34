import { bytesOf } from '../engine/base64';

const NAMESPACE = 'http://www.w3.org/2000/svg';

/** A bitmap that lies under a chart's SVG, in its coordinates. */
export interface Bitmap {
  canvas: HTMLCanvasElement;
  x: number;
  y: number;
  width: number;
  height: number;
}

/** An SVG element with attributes. */
export function element<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Record<string, string | number> = {},
  text = '',
): SVGElementTagNameMap[K] {
  const made = document.createElementNS(NAMESPACE, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
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

/** A chart as one SVG that needs nothing from the page; bitmaps are embedded as PNG. */
export function standalone(svg: SVGSVGElement, bitmaps: Bitmap[]): string {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const { width, height } = svg.viewBox.baseVal;
  copy.setAttribute('xmlns', NAMESPACE);
  copy.setAttribute('width', String(width));
  copy.setAttribute('height', String(height));
  copy.setAttribute('font-family', 'system-ui, sans-serif');
  copy.setAttribute('color', 'var(--ink)');
  for (const { canvas, ...frame } of bitmaps) {
    const href = canvas.toDataURL('image/png');
    const image = { ...frame, href, preserveAspectRatio: 'none' };
    copy.prepend(element('image', { ...image, style: 'image-rendering: pixelated' }));
  }
  copy.prepend(element('rect', { width, height, fill: 'var(--paper)' }));
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
