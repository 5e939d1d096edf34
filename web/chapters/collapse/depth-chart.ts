import type { Markish, PlotOptions } from '@observablehq/plot';
import { count, short } from '../../charts/format';
import type { Entry } from '../../charts/legend';
import type { Mark } from '../../charts/mark-tip';
import { dashes, series } from '../../charts/palette';
import { chartWithLegend, dot, gridY, line, ruleX, type Chart } from '../../charts/plot';
import { BARS, withError } from '../../charts/with-error';
import type { LayerMeasure } from '../../engine/protocol';
import type { Shape } from '../../ui/frame';
import { layerAxis } from './depth-axes';
import { pointsOf, stacksOf, type Curve, type LayerPoint } from './stack-curves';

/** More marks than this on a line would merge into a band: every k-th is drawn. */
const MOST = 32;

/** Of a chart over the layers. */
export const SHAPE: Shape = { share: 0.5, least: 280, most: 400 };

/** The number of layers that the curves have. */
export function depthOf(curves: Curve[]): number {
  return Math.max(0, ...curves.map(({ output }) => output.layer.length - 1));
}

/**
 * A chart over the layers: what its curves are is for the caller to say, the first drawn on top. `height` is
 * that of the picture below a legend of so many pixels.
 */
export function depthChart(
  curves: Curve[],
  options: { label: string; width: number; height: (legend: number) => number; y: PlotOptions['y']; entries: Entry[] },
  marks: Markish[][],
): Chart {
  const { label, width, height, y, entries } = options;
  return chartWithLegend({
    label,
    width,
    height,
    entries: [...varianceEntries(curves), ...entries],
    marginLeft: 52,
    marginRight: 16,
    marginBottom: 44,
    x: layerAxis(depthOf(curves)),
    y,
    marks: [gridY({ strokeOpacity: 0.08 }), ...[...marks].reverse().flat()],
  });
}

/**
 * A measure as a line through rings, with bars that end where the axis does; on a logarithmic axis a bar
 * that includes 0 has its upper half alone. What is not fresh lags behind the question, and is pale.
 */
export function curveMarks(
  { place, variance }: Curve,
  points: LayerPoint[],
  [low, high]: readonly [number, number],
  fresh: boolean,
): Markish[] {
  const colour = series[place];
  const opacity = fresh ? 1 : 0.3;
  const shown = shownOf(points);
  const end = (side: number) => (point: LayerPoint) => {
    const value = point.value + side * BARS * point.error;
    return low > 0 && value <= 0 ? point.value : Math.min(high, Math.max(low, value));
  };
  const at = { x: 'layer', stroke: colour, opacity };
  const name = `variance ${variance}`;
  return [
    line(points, {
      ...at,
      y: 'value',
      strokeDasharray: dashes[place],
      strokeWidth: place === 0 ? 2.5 : 1.75,
      ariaDescription: `line, ${name}`,
    }),
    ruleX(
      shown.filter(({ error }) => error > 0),
      { ...at, y1: end(-1), y2: end(1), strokeWidth: 1.5, ariaDescription: `error bars, ${name}` },
    ),
    dot(shown, { ...at, y: 'value', r: 3, fill: 'var(--paper)', ariaDescription: name }),
  ];
}

/** A thin line through marks of another shape than the rings; its dashes tell the variance too. */
export function thinMarks(
  { place, variance }: Curve,
  points: LayerPoint[],
  { name, symbol }: { name: string; symbol: 'triangle' | 'times' },
  fresh: boolean,
): Markish[] {
  const at = { x: 'layer', y: 'value', stroke: series[place], opacity: fresh ? 0.9 : 0.3 };
  return [
    line(points, {
      ...at,
      strokeWidth: 1,
      strokeDasharray: dashes[place],
      ariaDescription: `${name}, variance ${variance}`,
    }),
    dot(shownOf(points), {
      ...at,
      r: 3,
      symbol,
      strokeWidth: 1.5,
      ...(symbol === 'triangle' && { fill: 'var(--paper)' }),
      ariaDescription: `marks of the ${name}, variance ${variance}`,
    }),
  ];
}

/** What the points of a curve say. */
export function tipsOf({ variance }: Curve, points: LayerPoint[], name: string): Mark[] {
  return points.map(({ layer, value, error, samples }) => {
    const measured = `${name} ${withError(value, error > 0 ? error : null)}`;
    const text = `v = ${short(variance)}, layer ${layer}: ${measured}, ${count(samples)} stacks`;
    return { x: layer, y: value, text };
  });
}

/** The points that get a mark. */
function shownOf(points: LayerPoint[]): LayerPoint[] {
  const every = Math.ceil(points.length / MOST);
  return points.filter(({ layer }) => layer % every === 0);
}

/** Legend entries of the variances. */
function varianceEntries(curves: Curve[]): Entry[] {
  return curves.map(({ place, variance }) => ({
    text: `v = ${short(variance)}`,
    kind: 'line',
    colours: [series[place]],
    dash: dashes[place],
  }));
}

/** How many stacks are behind the curves, and what is missing from them. */
export function sampledText(curves: Curve[]): string {
  const answered = curves.filter(({ output }) => output.refused[0] === '');
  const fewest = Math.min(...answered.map(({ output }) => stacksOf(output)));
  const sentences = curves.map(({ variance, output }) => {
    if (output.refused[0]) return `v = ${short(variance)} is left out: ${output.refused[0]}.`;
    if (output.overflow[0] === 0) return '';
    return `With v = ${short(variance)} the numbers overflow in layer ${output.overflow[0]}.`;
  });
  if (answered.length > 0) {
    sentences.unshift(`${count(fewest)} of ${count(answered[0].wanted)} stacks.`);
  }
  return sentences.filter(Boolean).join(' ');
}

/** The last value of a measure on every curve, in words. */
export function endsText(curves: readonly Curve[], measure: LayerMeasure): string {
  const ends = curves.flatMap((curve) => {
    const last = pointsOf(curve, measure).at(-1);
    if (!last) return [];
    return [`${withError(last.value, last.error > 0 ? last.error : null)} for v = ${short(curve.variance)}`];
  });
  return ends.join(', ');
}

/** Rows of the curves for a CSV file: every layer with the measures and their standard errors. */
export function* curveRows(curves: Curve[], measures: readonly LayerMeasure[]): Generator<(number | null)[]> {
  const known = (value: number) => (Number.isNaN(value) ? null : value);
  for (const { variance, output } of curves) {
    for (let layer = 0; layer < output.layer.length; layer++) {
      const numbers = measures.flatMap((name) => [known(output[name][layer]), known(output[`${name}_error`][layer])]);
      yield [variance, layer, ...numbers, output.samples[layer]];
    }
  }
}

/** Columns of those rows. */
export function curveColumns(measures: readonly LayerMeasure[]): string[] {
  return ['variance', 'layer', ...measures.flatMap((name) => [name, `${name}_error`]), 'samples'];
}
