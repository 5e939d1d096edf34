import type { Markish } from '@observablehq/plot';
import type { Entry } from '../../charts/legend';
import { levelPlaces } from '../../charts/level-labels';
import { contour, text } from '../../charts/plot';
import { cellsOf, sizeOf, type Field } from './map-field';

/** Levels of the mean of rho; below the first that is drawn a uniform profile counts as dead. */
const LEVELS = [0.1, 0.25, 0.5, 0.75];
/** The field is smooth: every other cell draws the same lines in a quarter of the time. */
const STEP = 2;

/** The legend's entry of the contours. */
export const levelEntry: Entry = { text: 'contours: mean of ρ', kind: 'line', colours: ['var(--ink)'] };

/** Contours of the mean of rho over a map, with their levels, in a chart `width` pixels wide. */
export function levelMarks(field: Field, width: number): Markish[] {
  const size = sizeOf(field.map);
  const [columns, rows] = [size.columns, size.rows].map((count) => Math.ceil(count / STEP));
  const value = Float32Array.from({ length: columns * rows }, (_, at) => {
    const row = STEP * Math.floor(at / columns);
    return field.map.rho_mean[row * size.columns + STEP * (at % columns)];
  });
  const { x, y } = cellsOf(field);
  const ends = (count: number) => [-0.5 * STEP, (count - 0.5) * STEP];
  const [x1, x2] = ends(columns).map(x);
  const [y1, y2] = ends(rows).map(y);
  const room: [number, number] = [(40 * columns) / width, rows / 16];
  const places = levelPlaces({ columns, rows, value }, LEVELS, room);
  return [
    // Light below dark: seen on light and on dark cells.
    ...(['--paper', '--ink'] as const).map((colour, i) =>
      contour(value, {
        width: columns,
        height: rows,
        thresholds: LEVELS,
        stroke: `var(${colour})`,
        x: null,
        y: null, // the cells are equal on the screen, not in sqrt(eta_F)/lambda
        x1,
        x2,
        y1,
        y2,
        clip: true,
        strokeWidth: i === 0 ? 2.5 : 1,
        strokeOpacity: i === 0 ? 0.5 : 0.8,
        ariaDescription: 'mean of rho',
      }),
    ),
    text(places, {
      x: ({ column }) => x(STEP * column),
      y: ({ row }) => y(STEP * row),
      text: ({ level }) => String(level),
      fontSize: 11,
      fill: 'var(--ink)',
      stroke: 'var(--paper)',
      strokeWidth: 3,
      ariaDescription: 'levels of the mean of rho',
    }),
  ];
}
