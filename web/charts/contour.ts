import type { Markish } from '@observablehq/plot';
import { contours } from 'd3-contour';
import { element } from './picture';

type Scale = (value: number) => number;

/** Lines of equal value over a grid whose cells are equal on the screen. */
export interface ContourOptions {
  /** Columns and rows of the grid; row 0 is at `y1`. */
  width: number;
  height: number;
  /** Where the grid begins and ends, in the units of the axes: its lines end at the frame of the chart. */
  x1: number;
  x2: number;
  y1: number;
  y2: number;
  thresholds: readonly number[];
  ariaDescription: string;
}

type Ring = readonly (readonly number[])[];

/** The path of areas in thousandths of pixels; each ring ends with its first point, which the path leaves out. */
export function pathOf(areas: readonly (readonly Ring[])[], place: (point: readonly number[]) => number[]): string {
  const written = (point: readonly number[]) => place(point).map((pixels) => Math.round(1000 * pixels) / 1000);
  const rings = areas.flat().map((ring) => `M${ring.slice(0, -1).map(written).join('L')}Z`);
  return rings.join('');
}

/** Drawn with d3-contour alone: Plot's mark brings its interpolation of scattered points and its rasters. */
export function contour(
  values: ArrayLike<number>,
  { width, height, x1, x2, y1, y2, thresholds, ariaDescription }: ContourOptions,
  look: Readonly<Record<`stroke${string}`, string | number>>,
): Markish {
  return (_, { x, y }, __, frame) => {
    const [left, right] = [x1, x2].map(x as Scale);
    const [bottom, top] = [y1, y2].map(y as Scale);
    const { marginLeft, marginRight, marginTop, marginBottom } = frame;
    const place = ([column, row]: readonly number[]) => [
      left - marginLeft + (column / width) * (right - left),
      bottom - marginTop + (row / height) * (top - bottom),
    ];
    const { contour: lineOf } = contours().size([width, height]);
    const clipped = element('svg', {
      x: marginLeft,
      y: marginTop,
      width: frame.width - marginLeft - marginRight,
      height: frame.height - marginTop - marginBottom,
      fill: 'none',
      'stroke-miterlimit': 1,
      ...look,
      'aria-label': ariaDescription,
    });
    clipped.style.overflow = 'hidden'; // other parts of pictures show what lies beside them
    for (const threshold of thresholds) {
      const d = pathOf(lineOf(values, threshold).coordinates, place);
      if (d) clipped.append(element('path', { d }));
    }
    return clipped;
  };
}
