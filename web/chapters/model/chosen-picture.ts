import { Signal } from '../../state/signal';
import { child } from '../../ui/dom';
import type { Frame } from '../../ui/frame';

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
export function canvasOf(rgb: ArrayLike<number>, side: number): HTMLCanvasElement {
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
