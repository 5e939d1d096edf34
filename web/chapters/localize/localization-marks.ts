import type { Markish } from '@observablehq/plot';
import { count, short } from '../../charts/format';
import { lineEntry, type Entry } from '../../charts/legend';
import type { Mark } from '../../charts/mark-tip';
import { dashes, series } from '../../charts/palette';
import { dot, line, rect, ruleX } from '../../charts/plot';
import { BARS, withError } from '../../charts/with-error';
import type { Measure, SweepPoint } from '../../engine/protocol';
import { AXES } from './localization-claim';
import { settingControls } from '../../state/setting';
import type { Lines, OtherLine } from './localization-questions';

/** Pixels of a circle. */
const RADIUS = 3.5;

const SHADE = 'var(--series-4)';

/** Legend entries of the lines, by their means. */
export function lineEntries(means: number[]): Entry[] {
  return means.map((mean, i) => lineEntry(`m = ${short(mean)}`, i));
}

/** How the lines of other token processes look, in their order. */
const OTHER_DASHES = ['1 3', '8 3 1 3'];
const otherText = ({ means }: Lines, { tokens }: OtherLine) =>
  `${settingControls.tokens.choices[tokens]}, m = ${short(means[0])}`;

/** Legend entries of the other token processes. */
export function otherEntries(lines: Lines): Entry[] {
  return lines.others.map((other, i) => ({
    text: settingControls.tokens.choices[other.tokens],
    kind: 'line',
    colours: ['var(--ink)'],
    dash: OTHER_DASHES[i],
  }));
}

/** The theory at the first mean with other token processes. */
export function otherMarks(lines: Lines): Markish[] {
  return lines.others.map((other, i) =>
    line(
      lines.variances.map((v, at) => [v, other.value[at]] as [number, number]),
      {
        stroke: 'var(--ink)',
        strokeWidth: 1.75,
        strokeDasharray: OTHER_DASHES[i],
        ariaDescription: `theory, ${otherText(lines, other)}`,
      },
    ),
  );
}

/** The theory's lines, the first the strongest. */
export function lineMarks({ means, variances, value }: Lines): Markish[] {
  return means.map((mean, row) =>
    line(
      variances.map((v, i) => [v, value[row * variances.length + i]] as [number, number]),
      {
        stroke: series[row],
        strokeWidth: row === 0 ? 2.5 : 1.75,
        strokeDasharray: dashes[row],
        ariaDescription: `theory, mean ${mean}`,
      },
    ),
  );
}

/** Simulated points with error bars; pale where they are not fresh, and so lag behind the lines. */
export function pointMarks(points: SweepPoint[], { means, measure }: Lines, fresh: boolean): Markish[] {
  return means.flatMap((mean, row) => {
    const own = points.filter((point) => point.mean === mean);
    const end = (side: number) => (point: SweepPoint) =>
      (point[measure] ?? NaN) + side * BARS * (errorOf(point, measure) ?? NaN);
    const look = { x: 'variance', stroke: series[row], opacity: fresh ? 1 : 0.3 };
    const bars = { ...look, y1: end(-1), y2: end(1), strokeWidth: 1.5 };
    const value = (point: SweepPoint) => point[measure];
    return [
      ruleX(own, { ...bars, ariaDescription: `error bars, mean ${mean}` }),
      dot(own, { ...look, y: value, r: RADIUS, fill: 'var(--paper)', ariaDescription: `simulation, mean ${mean}` }),
    ];
  });
}

/** What the theory's lines and the simulated points say. */
export function tipsOf(all: Lines, points: SweepPoint[]): Mark[] {
  const { means, variances, value, measure, others } = all;
  const name = (mean: number, variance: number) => `m = ${short(mean)}, v = ${short(variance)}: ${AXES[measure]}`;
  const lines = means.flatMap((mean, row) =>
    variances.map((x, i) => {
      const y = value[row * variances.length + i];
      return { x, y, text: `${name(mean, x)} ${short(y)} in theory` };
    }),
  );
  const circles = points.map((point) => {
    const { mean, variance: x, samples } = point;
    const y = point[measure] ?? NaN;
    const error = errorOf(point, measure);
    const text = `${name(mean, x)} ${withError(y, error)}, ${count(samples)} simulated sequences`;
    return { x, y, text, radius: RADIUS };
  });
  const beside = others.flatMap((other) =>
    variances.map((x, i) => {
      const y = other.value[i];
      return { x, y, text: `${otherText(all, other)}, v = ${short(x)}: ${AXES[measure]} ${short(y)} in theory` };
    }),
  );
  return [...lines, ...beside, ...circles];
}

/** Shades the parts of the axis, as ranges of variances, in which the index of the first line rises. */
export function riseMark(rises: [number, number][], top: number): Markish {
  const areas = rises.map(([x1, x2]) => ({ x1, x2, y1: 0, y2: top }));
  const look = { x1: 'x1', x2: 'x2', y1: 'y1', y2: 'y2', fill: SHADE, fillOpacity: 0.15 };
  return rect(areas, { ...look, ariaDescription: 'the index rises' });
}

/** The legend's entry of that shading, which is for the chosen mean alone. */
export function riseEntry({ means }: Lines): Entry {
  const text = `L of m = ${short(means[0])} rises: the claim fails for it`;
  return { text, kind: 'area', colours: [SHADE] };
}

/** The standard error of a simulated measure. */
export function errorOf(point: SweepPoint, measure: Measure): number | null {
  return point[`${measure}_error`];
}
