// Marks that the charts of several labs have: curves with error bars, and named rows one below the other.
import type { Markish, ScaleOptions } from '@observablehq/plot';
import { dashes, series } from '../../charts/palette';
import { dot, line, link, ruleX, text } from '../../charts/plot';
import { BARS } from '../../charts/with-error';

/** The end below (-1) or above (1) of the error bar of a field `y`, whose standard error is the field `y_error`. */
export const barEnd =
  (y: string, side: -1 | 1) =>
  (row: object): number => {
    const { [y]: value, [`${y}_error`]: error } = row as Record<string, number | null>;
    return (value ?? NaN) + side * BARS * (error ?? NaN);
  };

/** The fields that a mark shows, its colour, and its name in exported pictures. */
interface Look {
  x: string;
  y: string;
  stroke: string;
  name: string;
}

/** Error bars of the rows that have a standard error, clipped at the ends of the axis. */
export function errorBars(rows: readonly object[], { x, y, stroke, name }: Look): Markish {
  const ends = { y1: barEnd(y, -1), y2: barEnd(y, 1) };
  return ruleX(rows, { x, ...ends, stroke, strokeWidth: 1.5, clip: true, ariaDescription: `error bars, ${name}` });
}

/** A line, with a ring and an error bar at each value. */
export function curveMarks(rows: readonly object[], look: Look & { dash?: string }): Markish[] {
  const { x, y, stroke, dash, name } = look;
  return [
    line(rows, { x, y, stroke, strokeWidth: 2, strokeDasharray: dash, ariaDescription: `line, ${name}` }),
    errorBars(rows, look),
    dot(rows, { x, y, r: 3, stroke, fill: 'var(--paper)', ariaDescription: name }),
  ];
}

/** The rows that have each name in a column, with the colour and dash of the name's line. */
export const grouped = <R extends object>(rows: readonly R[], column: keyof R, names: readonly string[]) =>
  names.map((name, i) => ({
    name,
    rows: rows.filter((row) => row[column] === name),
    stroke: series[i],
    dash: dashes[i],
  }));

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
  const names = { frameAnchor: 'left', textAnchor: 'start', dx: 2, dy: -11, fill: 'var(--ink)' } as const;
  return [
    link(shown, { x1: end(-1), x2: end(1), y: 'y', stroke, strokeWidth: 1.5, ariaDescription: 'error bars' }),
    dot(shown, { x, y: 'y', r: 4.5, fill: stroke, ariaDescription: 'rows' }),
    text(shown, {
      y: 'y',
      text: 'name',
      ...names,
      stroke: 'var(--paper)',
      strokeWidth: 3,
      ariaDescription: 'names of rows',
    }),
  ];
}
