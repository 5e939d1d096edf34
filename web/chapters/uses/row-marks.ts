import type { Markish, ScaleOptions } from '@observablehq/plot';
import { dot, link, text } from '../../charts/plot';
import { BARS } from '../../charts/with-error';

/** A named value with its standard error. */
export interface Row {
  name: string;
  value: number | null;
  error: number | null;
  colour: string;
}

/** The axis of rows one below the other. */
export const rowAxis = (rows: readonly Row[]): ScaleOptions => ({
  domain: [rows.length - 0.4, -0.6],
  axis: null,
  ticks: 0,
});

/** Rows one below the other, each a value with its error bar below its name; no value is below `least`. */
export function rowMarks(rows: readonly Row[], least = -Infinity): Markish[] {
  const shown = rows.map((row, y) => ({ ...row, y }));
  const x = ({ value }: Row) => Math.max(least, value ?? NaN);
  const end = (side: number) => (row: Row) => Math.max(least, (row.value ?? NaN) + side * BARS * (row.error ?? NaN));
  const stroke = ({ colour }: Row) => colour;
  return [
    link(shown, { x1: end(-1), x2: end(1), y: 'y', stroke, strokeWidth: 1.5, ariaDescription: 'error bars' }),
    dot(shown, { x, y: 'y', r: 4.5, fill: stroke, ariaDescription: 'rows' }),
    text(shown, {
      y: 'y',
      text: 'name',
      frameAnchor: 'left',
      textAnchor: 'start',
      dx: 2,
      dy: -11,
      fill: 'var(--ink)',
      stroke: 'var(--paper)',
      strokeWidth: 3,
      ariaDescription: 'names of rows',
    }),
  ];
}
