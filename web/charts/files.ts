// Files of a figure: its picture with where it comes from, and its numbers. Loaded when one is asked for.
import { bytesOf } from '../engine/shipped';
import { VERSION } from '../generated/version';
import { element, setAll, type Bitmap } from './picture';
import type { Provenance } from './provenance';
import type { Cell, Grid, Table } from './table';

/** Where a figure comes from, in lines of text. */
export function linesOf({ title, caption, settings, link }: Provenance): string[] {
  return [title, caption, settings, link, `Eigenscope ${VERSION}`]
    .map((line) => line.replace(/\s+/g, ' ').trim())
    .filter(Boolean);
}

/** Breaks a text into lines of at most `most` characters, at spaces where there are any. */
export function wrapped(text: string, most: number): string[] {
  const lines: string[] = [];
  let rest = text;
  while (rest.length > most) {
    const space = rest.lastIndexOf(' ', most);
    const end = space > 0 ? space : most;
    lines.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  return [...lines, rest];
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
  setAll(copy, {
    xmlns: copy.namespaceURI!,
    ...size,
    viewBox,
    'font-family': 'system-ui, sans-serif',
    color: 'var(--ink)',
  });
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

/**
 * A cell of a CSV as the command line writes it: a text without control characters, and with an apostrophe before what
 * a spreadsheet would take for a formula. A file may have named a head or a token so.
 */
function csvCell(cell: Cell): string {
  if (typeof cell !== 'string') return cell === null ? '' : String(cell);
  return cell.replace(/(?![\n\t])\p{Cc}/gu, '\ufffd').replace(/^[=+\-@\t]/, "'$&");
}

/** In quotation marks where it has a separator or a quotation mark (RFC 4180). */
const quoted = (cell: string) => (/[",\n\r]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

function line(cells: readonly Cell[]): string {
  return cells.map((cell) => quoted(csvCell(cell))).join() + '\n';
}

/** Nine digits tell all 32-bit floats apart; more of one are not its own. */
function digits(values: ArrayLike<number>, at: number): number | null {
  const value = values[at];
  if (Number.isNaN(value)) return null;
  return values instanceof Float32Array ? Number(value.toPrecision(9)) : value;
}

function* cellsOf({ columns, grid }: Table): Generator<Cell[]> {
  if (!grid) return;
  const [rows, across] = grid.axes;
  for (let at = 0; at < rows.at.length * across.at.length; at++) {
    const cell: Record<string, Cell> = { kind: grid.kind };
    cell[rows.name] = rows.at[Math.floor(at / across.at.length)];
    cell[across.name] = across.at[at % across.at.length];
    for (const [name, values] of Object.entries(grid.values)) cell[name] = digits(values, at);
    for (const [name, { index, names }] of Object.entries(grid.choices)) {
      cell[name] = names[index[at]];
    }
    yield columns.map((name) => cell[name] ?? null);
  }
}

/**
 * The table as CSV, in parts (a long one would not fit in one string). Lines that begin with # come
 * first and say where it comes from. Numbers keep every digit.
 */
export function csvOf(table: Table, provenance: Provenance): Blob {
  const parts = linesOf(provenance).map((text) => `# ${text}\n`);
  parts.push(line(table.columns));
  for (const row of cellsOf(table)) parts.push(line(row));
  for (const row of table.rows) parts.push(line(row));
  return new Blob(parts, { type: 'text/csv' });
}

/** The grid of a table for its JSON: axes, values and choices, each array once. */
function gridOf({ kind, axes, values, choices }: Grid) {
  const numbers = (list: ArrayLike<number>) => Array.from(list, (_, at) => digits(list, at));
  const entries = Object.entries(values).map(([name, list]) => [name, numbers(list)]);
  const chosen = Object.entries(choices).map(([name, { index, names }]) => [name, { names, index: Array.from(index) }]);
  return { kind, axes, values: Object.fromEntries([...entries, ...chosen]) };
}

/**
 * The table as JSON: where it comes from, the cells of its grid, the names of its columns, and one
 * array a row.
 */
export function jsonOf({ columns, rows, grid }: Table, provenance: Provenance): Blob {
  const cells = grid && gridOf(grid);
  const head = JSON.stringify({ ...provenance, version: VERSION, grid: cells, columns }).slice(0, -1);
  const body = Array.from(rows, (row) => JSON.stringify(row));
  return new Blob([`${head},"rows":[\n${body.join(',\n')}\n]}\n`], { type: 'application/json' });
}
