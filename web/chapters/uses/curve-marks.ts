import type { Markish } from '@observablehq/plot';
import { dot, line, ruleX } from '../../charts/plot';
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

/** Error bars of the rows that have a standard error, as far as the axis goes: of a share from 0 to 1. */
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
