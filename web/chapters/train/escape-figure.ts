import { short, tick } from '../../charts/format';
import { dashes, series } from '../../charts/palette';
import { chart, dot, gridY, line, link, text } from '../../charts/plot';
import { FINAL_LOSS } from './cell-picker';
import {
  apartOf,
  escapesOf,
  groupName,
  groupsOf,
  pairedText,
  sumOf,
  thresholdOf,
  type Escape,
  type EscapeGroup,
} from './escape-rows';
import {
  chosenMark,
  lineLegend,
  MARGINS,
  NARROW,
  referencesText,
  titleMark,
  trainedMark,
  type Panel,
} from './panel-parts';
import type { ChosenExperiment, PanelsDescription, Shown } from './panels-figure';
import { labelsOf, partText, referenceCells, REFERENCES, type PublishedResults } from './published-results';
import type { CellTrial } from './trials';

/** Pixels of a panel on a wide page and on a phone. */
const HEIGHT = { wide: 270, narrow: 215 };
/** Pixels between the intervals of two scales, which stand side by side. */
const APART = 7;
const ALPHAS: [number, number] = [-1.2, 1.2];
/** Where the numbers of runs of the scales stand on the axis of shares. */
const COUNTS = { first: 1.09, step: 0.09, top: 1.25 };

/** The experiment on models prone to rank collapse. */
export const ESCAPE: ChosenExperiment = {
  name: 'rank-escape',
  subject: 'leaving the unigram level',
  choosing: {
    names: { depth: { name: 'Depth' }, init_scale: { name: 'Scale s' }, alpha: { name: 'Alpha' } },
    first: { depth: '8', init_scale: '2', alpha: '1' },
    outcome: FINAL_LOSS,
  },
};

/** Share of post-norm models that leave the unigram level, against alpha: a panel for each depth. */
export const escapeFigure: PanelsDescription<Escape[]> = {
  id: 'escape',
  experiments: [ESCAPE],
  title: 'Share of runs that leave the unigram level',
  rows: escapesOf,
  *panels(shown, width) {
    const scales = valuesOf(shown.rows, 'scale').map((scale) => `initial scale s = ${tick(scale)}`);
    const depths = valuesOf(shown.rows, 'depth');
    const columns = width >= 560 ? depths.length : 2;
    const height = width >= 560 ? HEIGHT.wide : HEIGHT.narrow;
    const panels = depths.map((depth) => panel(depth, { width: width / columns, height }, shown));
    return { columns, height, names: lineLegend(scales, width), panels };
  },
  caption({ rows, results: [found] }) {
    const groups = groupsOf(rows);
    const counted = groups.map((group) => {
      const of = (sign: number) => {
        const own = group.points.filter(({ alpha }) => Math.sign(alpha) === sign);
        return `${sumOf(own, 'below')} of ${sumOf(own, 'runs')}`;
      };
      return `${groupName(group)}: ${of(1)}, ${of(0)}, ${of(-1)}`;
    });
    return (
      `${pairedText(rows)} ${apartText(groups)} Runs that end below ${short(thresholdOf(found))} bits per byte, ` +
      `with a positive mean, mean 0 and a negative mean: ${counted.join('; ')}. ` +
      referencesText(found.references, 'bits per byte') +
      lackingText(found, groups) +
      partText(found)
    );
  },
  table: ({ rows, results: [found] }) => ({
    columns: [
      'depth',
      'init_scale',
      'alpha',
      'mean',
      'runs',
      'below',
      'share',
      'low',
      'high',
      'bits_per_byte_difference',
      'bits_per_byte_p_holm',
      ...REFERENCES,
    ],
    rows: rows.map((it) => [
      it.depth,
      it.scale,
      it.alpha,
      it.mean,
      it.runs,
      it.below,
      it.share,
      it.low,
      it.high,
      it.difference,
      it.p,
      ...referenceCells(found),
    ]),
  }),
};

/** Values with runs, in rising order. */
function valuesOf(points: readonly Escape[], name: 'depth' | 'scale'): number[] {
  return [...new Set(points.map((point) => point[name]))].sort((a, b) => a - b);
}

function panel(
  depth: number,
  size: { width: number; height: number },
  { rows, results: [found], choice: { axes }, trained: [trials] }: Shown<Escape[]>,
): Panel {
  const points = rows.filter((point) => point.depth === depth);
  const scales = valuesOf(rows, 'scale');
  const pixels = (size.width - MARGINS.marginLeft - MARGINS.marginRight) / (ALPHAS[1] - ALPHAS[0]);
  const place = ({ scale, alpha }: { scale: number; alpha: number }) =>
    alpha + (APART / pixels) * (scales.indexOf(scale) - (scales.length - 1) / 2);
  const chosen = points.filter(
    (it) => String(it.depth) === axes.depth && String(it.scale) === axes.init_scale && String(it.alpha) === axes.alpha,
  );
  const counts = scales.map((_, at) => COUNTS.first + COUNTS.step * (scales.length - 1 - at));
  const shares = [0, 0.25, 0.5, 0.75, 1];
  const drawn = chart({
    label: `Share of runs, depth ${depth}`,
    ...size,
    ...MARGINS,
    x: {
      domain: ALPHAS,
      label: 'correlation α →',
      labelAnchor: 'center',
      ticks: size.width < NARROW ? [-1, 0, 1] : [-1, -0.5, 0, 0.5, 1],
      tickFormat: tick,
    },
    y: {
      domain: [0, COUNTS.top],
      label: null,
      ticks: [...shares, counts[0]],
      tickFormat: (share: number) => (share > 1 ? 'runs' : tick(share)),
    },
    marks: [
      gridY(shares, { strokeOpacity: 0.08 }),
      titleMark(`${size.width < NARROW ? 'share' : 'share of runs'}, depth ${depth}`),
      ...scales.flatMap((scale, at) => {
        const own = points.filter((it) => it.scale === scale);
        return [
          line(own, {
            x: place,
            y: 'share',
            stroke: series[at],
            strokeDasharray: dashes[at],
            strokeOpacity: 0.6,
            ariaDescription: `s = ${tick(scale)}`,
          }),
          link(own, {
            x1: place,
            x2: place,
            y1: 'low',
            y2: 'high',
            stroke: series[at],
            strokeWidth: 2,
            ariaDescription: '95% interval',
          }),
          dot(own, { x: place, y: 'share', r: 4, fill: series[at], ariaDescription: 'share' }),
          text(own, {
            x: 'alpha',
            y: counts[at],
            text: (it: Escape) => String(it.runs),
            fill: series[at],
            fontSize: 11,
            ariaDescription: `runs, s = ${tick(scale)}`,
          }),
        ];
      }),
      chosenMark(chosen, { x: place, y: 'share', r: 8 }),
      trainedMark(
        escaped(found, trials).filter((it) => it.depth === depth),
        { x: place, y: 'share' },
      ),
    ],
  });
  const places = points.map((it) => ({
    x: drawn.x.apply(place(it)),
    y: drawn.y.apply(it.share),
    text: `${groupName(it)}, α = ${tick(it.alpha)} (mean ${short(it.mean)}): ` + `${it.below} of ${it.runs} runs`,
    choice: { depth: String(it.depth), init_scale: String(it.scale), alpha: String(it.alpha) },
  }));
  return { drawn, places };
}

/** Runs of this tab: at 1 one that left the unigram level, at 0 one that did not. */
function escaped(
  found: PublishedResults,
  trials: readonly CellTrial[],
): Pick<Escape, 'depth' | 'scale' | 'alpha' | 'share'>[] {
  const below = thresholdOf(found);
  return trials.map(({ training, final }) => ({
    depth: training.depth,
    scale: training.init_scale,
    alpha: training.alpha,
    share: final.bits_per_byte < below ? 1 : 0,
  }));
}

/** Which intervals of one depth and scale do not overlap. */
function apartText(groups: readonly EscapeGroup[]): string {
  const apart = groups.flatMap((group) => {
    const found = apartOf(group);
    if (!found) return [];
    const { lower, upper } = found;
    return `${groupName(group)}: α = ${tick(upper.alpha)} above α = ${tick(lower.alpha)}`;
  });
  return apart.length > 0
    ? `Intervals that do not overlap: ${apart.join('; ')}.`
    : 'At each depth and s the intervals of all α overlap.';
}

function lackingText(found: PublishedResults, groups: readonly EscapeGroup[]): string {
  const all = labelsOf(found, 'depth').flatMap((depth) =>
    labelsOf(found, 'init_scale').map((scale) => ({ depth: Number(depth), scale: Number(scale) })),
  );
  const lacking = all.filter(({ depth, scale }) => !groups.some((it) => it.depth === depth && it.scale === scale));
  return lacking.length > 0 ? ` No run yet of ${lacking.map(groupName).join('; ')}.` : '';
}
