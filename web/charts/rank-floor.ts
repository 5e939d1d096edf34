import type { Markish } from '@observablehq/plot';
import { element } from './picture';

/** A point in the units of the axes. */
export type Point = [x: number, y: number];

type Scale = (value: number) => number;

/** The rank floor with its name, in sight while the pointer or the focus is on the figure. */
export function floorMark(points: readonly Point[]): Markish {
  return (_, scales) => {
    const [x, y] = [scales.x as Scale, scales.y as Scale];
    const group = element('g', { class: 'on-hover', visibility: 'hidden', 'aria-label': 'rank floor' });
    if (points.length === 0) return group;
    const d = `M${points.map((point) => `${x(point[0])},${y(point[1])}`).join('L')}`;
    group.append(element('path', { d, fill: 'none', stroke: 'var(--ink)', 'stroke-dasharray': '7 3' }));
    const [right, top] = points[points.length - 1];
    const place = { x: x(right) - 6, y: y(top) - 6, 'text-anchor': 'end', 'paint-order': 'stroke' };
    const halo = { stroke: 'var(--paper)', 'stroke-width': 3, 'stroke-linejoin': 'round' };
    group.append(element('text', { ...place, ...halo, fill: 'var(--ink)', 'font-weight': 600 }, 'rank floor'));
    return group;
  };
}
