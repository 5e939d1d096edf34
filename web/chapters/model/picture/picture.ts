import { Signal } from '../../../state/signal';
import { child } from '../../../ui/dom';
import type { Frame } from '../../../ui/frame';
import { short } from '../../../charts/format';
import { legend } from '../../../charts/legend';
import { MatrixPicture } from '../../../charts/matrix';
import { stripOf, type Ramp } from '../../../charts/palette';
import { compose } from '../../../charts/plot';
import type { Table } from '../../../charts/table';
import type { Attended, Head } from '../../../engine/protocol';
import { placeName } from '../../../heads/registry';
import { weightsOf, type Checkpoint } from '../../shared/checkpoint';
import { rowOf } from '../reading/measurements';
import type { FigureContext } from '../state';

/** Pixels of each side of the drawn picture. */
const SIDE = 224;

/** The picture on which a vision model is run: a drawn one until a person gives one. */
export class ChosenPicture {
  readonly changed = new Signal();
  name = 'the drawn picture';
  /** The open model reads pictures. */
  isOffered = false;
  private canvas: HTMLCanvasElement | null = null;

  /** Takes a file that the browser can decode. Throws an Error in words for any other, and where no model reads it. */
  async take(file: File): Promise<void> {
    if (!this.isOffered) throw new Error('A picture needs a vision model: open a ViT, CLIP or SigLIP first.');
    const bitmap = await createImageBitmap(file).catch(() => {
      throw new Error(`${file.name} must be a picture that this browser decodes, such as PNG or JPEG.`);
    });
    const { canvas, context } = blank(bitmap.width, bitmap.height);
    context.drawImage(bitmap, 0, 0);
    bitmap.close();
    this.canvas = canvas;
    this.name = file.name;
    this.changed.send();
  }

  /** As a binary PPM file; transparent pixels are over white. */
  ppm(): Uint8Array {
    this.canvas ??= drawn();
    const { width, height } = this.canvas;
    const { data } = contextOf(this.canvas).getImageData(0, 0, width, height);
    const header = new TextEncoder().encode(`P6\n${width} ${height}\n255\n`);
    const bytes = new Uint8Array(header.length + 3 * width * height);
    bytes.set(header);
    for (let pixel = 0, at = header.length; pixel < data.length; pixel += 4, at += 3) {
      bytes[at] = data[pixel];
      bytes[at + 1] = data[pixel + 1];
      bytes[at + 2] = data[pixel + 2];
    }
    return bytes;
  }
}

/** The files among `files` that are pictures. */
export function picturesIn(files: Iterable<File>): File[] {
  return [...files].filter(({ type }) => type.startsWith('image/'));
}

/** Takes pictures that are chosen beside the frame or pasted into the view. */
export function listenForPictures(picture: ChosenPicture, frame: Frame, isInView: () => boolean): void {
  const chooser = child<HTMLInputElement>(frame.root, '[data-picture]');
  const take = (files: Iterable<File> = []) => {
    const [file] = picturesIn(files);
    if (file) picture.take(file).catch((error: Error) => frame.complain(error.message));
  };
  chooser.addEventListener('change', () => {
    take(chooser.files ?? []);
    chooser.value = '';
  });
  addEventListener('paste', ({ clipboardData }) => {
    if (isInView() && picture.isOffered) take(clipboardData?.files);
  });
}

/** Pixels of red, green and blue on a canvas. */
function canvasOf(rgb: ArrayLike<number>, side: number): HTMLCanvasElement {
  const { canvas, context } = blank(side, side);
  const image = context.createImageData(side, side);
  for (let pixel = 0; pixel < side * side; pixel++) {
    for (let channel = 0; channel < 3; channel++) image.data[4 * pixel + channel] = rgb[3 * pixel + channel];
    image.data[4 * pixel + 3] = 255;
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

/** A white canvas. */
function blank(width: number, height: number) {
  const canvas = Object.assign(document.createElement('canvas'), { width, height });
  const context = contextOf(canvas);
  context.fillStyle = 'white';
  context.fillRect(0, 0, width, height);
  return { canvas, context };
}

function contextOf(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (!context) throw new Error('the browser gives no canvas');
  return context;
}

/** A landscape: sky, sun, a hill, a house. */
function drawn(): HTMLCanvasElement {
  const { canvas, context } = blank(SIDE, SIDE);
  const shape = (colour: string, draw: () => void) => {
    context.fillStyle = colour;
    context.beginPath();
    draw();
    context.fill();
  };
  const polygon = (...corners: [number, number][]) => corners.forEach(([x, y]) => context.lineTo(x, y));
  shape('#8ec5ee', () => context.rect(0, 0, SIDE, SIDE));
  shape('#f6c945', () => context.arc(170, 52, 26, 0, 2 * Math.PI));
  shape('#6d9a4e', () => context.ellipse(70, 230, 190, 90, 0, 0, 2 * Math.PI));
  shape('#d8d2c4', () => context.rect(56, 116, 64, 56));
  shape('#a8442f', () => polygon([46, 118], [88, 82], [130, 118]));
  shape('#5b4632', () => context.rect(80, 138, 18, 34));
  return canvas;
}

type Place = Pick<Head, 'stack' | 'layer' | 'head'>;

/** Patches along a side whose numbers have room beside it. */
const NUMBERED = 24;
/** Patches are darkened, by how much their weight is below the largest. */
const VEIL: Ramp = () => [0, 0, 0];
const BRIGHTNESS: Ramp = (t) => [255 * t, 255 * t, 255 * t];
const MARGIN = { marginLeft: 40, marginTop: 8, marginBottom: 42, marginRight: 8 };

/** The attention of a head of a vision model, over the picture: the keys of one query. */
export class HeadPicture {
  private matrix: MatrixPicture;
  private tools: HTMLElement;
  private overall: HTMLButtonElement;
  private found: Attended | null = null;
  /** The picture as the model sees it, and its name. */
  private seen: HTMLCanvasElement | null = null;
  private name = '';
  /** The number of the chosen patch; null for the class token or, without one, the mean over all queries. */
  private patch: number | null = null;
  private shown: { key: string; values: Float32Array } | null = null;

  constructor(
    private frame: Frame,
    private chosen: ChosenPicture,
    repaint: () => void,
  ) {
    const say = (row: number, column: number, weight: number) =>
      `patch ${row},${column}: weight ${short(weight)} from ${this.query()}`;
    this.matrix = new MatrixPicture(frame.chart, say, 'pairs', ({ row, column }) => {
      this.patch = row * this.side + column;
      repaint();
    });
    this.matrix.setPresent(false);
    this.tools = child(frame.root, '[data-picture-tools]');
    this.overall = child<HTMLButtonElement>(this.tools, '[data-action="all-queries"]');
    this.overall.addEventListener('click', () => {
      this.release();
      repaint();
    });
  }

  /** Whether the model reads pictures: then one can be chosen. */
  offer(offered: boolean): void {
    this.tools.hidden = !offered;
    this.chosen.isOffered = offered;
  }

  /** Runs the model on the chosen picture. */
  async ask(context: FigureContext, files: Checkpoint): Promise<Attended> {
    const { preprocessor } = files;
    const { name } = this.chosen;
    const image = this.chosen.ppm();
    const found = await context.run('attend', { ...weightsOf(files), preprocessor, image, weights: true });
    const [{ rgb }] = found.pictures;
    this.seen = canvasOf(rgb, Math.sqrt(rgb.length / 3));
    this.name = name;
    this.shown = null;
    this.found = found;
    this.release();
    return found;
  }

  /** Draws what `ask` found, or puts away what only that needs. */
  show(present: boolean): void {
    this.matrix.setPresent(present);
    for (const part of this.frame.root.querySelectorAll<HTMLElement>('[data-reads]')) {
      part.hidden = (part.dataset.reads === 'picture') !== present;
    }
    this.overall.hidden = !present;
  }

  paint(place: Place, model: string, side: number): void {
    const { frame, seen } = this;
    const values = this.values(place);
    if (!values || !seen) return frame.clear();
    this.overall.textContent = this.leading > 0 ? 'Attention of [CLS]' : 'Mean over all queries';
    this.overall.setAttribute('aria-pressed', String(this.patch === null));
    const largest = Math.max(...values);
    const text = `weight 0 (dark) to ${short(largest)}`;
    const key = legend([{ text, kind: 'strip', colours: stripOf(BRIGHTNESS) }], 0, frame.width);
    const places = this.side <= NUMBERED && { name: (k: number) => String(k - 1) };
    const labels = { label: 'attention over the picture', x: 'column of patches →', y: '↓ row', margin: MARGIN };
    const axes = this.matrix.chart(this.side, side, { ...labels, ...places });
    const size = { width: frame.width, height: key.height + side };
    const caption = this.caption(place, model);
    const svg = compose([{ svg: axes.svg, x: 0, y: key.height }], size, caption);
    svg.append(key.render());
    const shade = (value: number) => (largest > 0 ? value / largest : 0);
    const matrix = { length: this.side, values };
    frame.put(svg, [this.matrix.paint(matrix, VEIL, shade, axes, { top: key.height, ground: seen })]);
    frame.say(caption);
  }

  table(place: Place): Table | null {
    const values = this.values(place);
    if (!values) return null;
    const { side } = this;
    const query = this.query();
    const rows = Array.from(values, (weight, i) => [query, Math.floor(i / side), i % side, weight]);
    return { columns: ['query', 'row', 'column', 'weight'], rows };
  }

  private release(): void {
    this.patch = null;
    this.matrix.release();
  }

  /** Patches along each side of the picture. */
  private get side(): number {
    return this.found?.patch_side ?? 0;
  }

  /** Tokens before the patches. */
  private get leading(): number {
    return (this.found?.passages[0].tokens.length ?? 0) - this.side ** 2;
  }

  /** The weights that the chosen query gives to the patches; null while they are not known. */
  private values({ layer, head }: Place): Float32Array | null {
    const matrix = this.found && rowOf({ layer, head }, this.found.weights)?.weights;
    if (!matrix) return null;
    const key = `${layer}.${head} ${this.patch}`;
    if (this.shown?.key !== key) this.shown = { key, values: this.row(matrix) };
    return this.shown.values;
  }

  private row(matrix: Float32Array): Float32Array {
    const { leading, patch } = this;
    const length = leading + this.side ** 2;
    const of = (query: number) => matrix.slice(query * length + leading, (query + 1) * length);
    if (patch !== null) return of(leading + patch);
    if (leading > 0) return of(0);
    const mean = new Float32Array(length);
    for (let query = 0; query < length; query++) of(query).forEach((weight, key) => (mean[key] += weight / length));
    return mean;
  }

  /** The chosen query in words. */
  private query(): string {
    const { patch, side } = this;
    if (patch !== null) return `patch ${Math.floor(patch / side)},${patch % side}`;
    return this.leading > 0 ? '[CLS]' : 'all patches (mean)';
  }

  private caption(place: Place, model: string): string {
    const row = this.found && rowOf(place, this.found.heads);
    const where = `${model}, ${placeName(place)} on ${this.name}`;
    if (!row) return where;
    const own = this.leading > 0 ? `, weight on [CLS] ${short(row.sink_first)}` : '';
    return (
      `${where}: keys of ${this.query()}. Means over all queries: entropy ${short(row.entropy)}, ` +
      `participation ${short(row.participation)}${own}.`
    );
  }
}
