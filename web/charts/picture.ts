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
