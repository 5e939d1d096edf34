import { short, tick } from '../../../charts/format';
import { series } from '../../../charts/palette';
import { text } from '../../../charts/plot';
import { fieldsOf, tableOf, type ChosenExperiment, type PanelsDescription, type Shown } from '../experiments/figure';
import { lineLegend, linesPanel, lookAt, MARGINS, NARROW, type Panel, type Size } from '../experiments/panels';
import { FINAL_LOSS } from '../experiments/picker';
import { escapesOf, groupName, pairedText, thresholdOf, type Escape } from './words';

/** Pixels of a panel on a wide page and on a phone. */
const HEIGHT = { wide: 270, narrow: 215 };
/** Pixels between the intervals of two scales, which stand side by side. */
const APART = 7;
const ALPHAS: [number, number] = [-1.2, 1.2];
const SHARES = [0, 0.25, 0.5, 0.75, 1];
/** Where the numbers of runs of the scales stand on the axis of shares. */
const COUNTS = { first: 1.09, step: 0.09, top: 1.25 };

/** The experiment on models prone to rank collapse. */
export const ESCAPE: ChosenExperiment = {
  name: 'rank-escape',
  subject: 'learning more than letter frequencies',
  choosing: {
    names: { depth: { name: 'Depth' }, init_scale: { name: 'Scale s' }, alpha: { name: 'Alpha' } },
    first: { depth: '8', init_scale: '2', alpha: '1' },
    outcome: FINAL_LOSS,
  },
};

/** Share of post-norm models that learn more than letter frequencies, against alpha: a panel for each depth. */
export const escapeFigure: PanelsDescription<Escape[]> = {
  id: 'escape',
  experiments: [ESCAPE],
  title: 'Share of runs that learn more than letter frequencies',
  rows: escapesOf,
  *panels(shown, width) {
    const scales = valuesOf(shown.rows, 'scale').map((scale) => `initial scale s = ${tick(scale)}`);
    const depths = valuesOf(shown.rows, 'depth');
    const columns = width >= 560 ? depths.length : 2;
    const height = width >= 560 ? HEIGHT.wide : HEIGHT.narrow;
    const panels = depths.map((depth) => panel(depth, { width: width / columns, height }, shown));
    return { columns, height, names: lineLegend(scales, width), panels };
  },
  caption: ({ rows }) => [pairedText(rows)],
  unit: 'bits per byte',
  table: ({ rows, results: [results] }) =>
    tableOf(
      rows,
      [
        ...fieldsOf('depth'),
        ['init_scale', ({ scale }) => scale],
        ...fieldsOf('alpha', 'mean', 'runs', 'below', 'share', 'low', 'high'),
        ['bits_per_byte_difference', ({ difference }) => difference],
        ['bits_per_byte_p_holm', ({ p }) => p],
      ],
      results,
    ),
};

/** Values with runs, in rising order. */
function valuesOf(points: readonly Escape[], name: 'depth' | 'scale'): number[] {
  return [...new Set(points.map((point) => point[name]))].sort((a, b) => a - b);
}

function panel(
  depth: number,
  size: Size,
  { rows, results: [results], choice: { axes }, trained: [trials] }: Shown<Escape[]>,
): Panel {
  const points = rows.filter((point) => point.depth === depth);
  const scales = valuesOf(rows, 'scale');
  const pixels = (size.width - MARGINS.marginLeft - MARGINS.marginRight) / (ALPHAS[1] - ALPHAS[0]);
  const place = (scale: number, alpha: number) =>
    alpha + (APART / pixels) * (scales.indexOf(scale) - (scales.length - 1) / 2);
  const counts = scales.map((_, at) => COUNTS.first + COUNTS.step * (scales.length - 1 - at));
  const isNarrow = size.width < NARROW;
  const below = thresholdOf(results);
  return linesPanel({
    title: `${isNarrow ? 'share' : 'share of runs'}, depth ${depth}`,
    size,
    x: { domain: ALPHAS, label: 'correlation α →', ticks: isNarrow ? [-1, 0, 1] : [-1, -0.5, 0, 0.5, 1] },
    y: {
      domain: [0, COUNTS.top],
      ticks: [...SHARES, counts[0]],
      tickFormat: (share: number) => (share > 1 ? 'runs' : tick(share)),
    },
    grid: SHARES,
    lines: scales.map((scale, at) => ({
      name: `s = ${tick(scale)}`,
      look: lookAt(at),
      points: points.filter((it) => it.scale === scale),
    })),
    above: scales.map((scale, at) =>
      text(
        points.filter((it) => it.scale === scale),
        {
          x: 'alpha',
          y: counts[at],
          text: (it: Escape) => String(it.runs),
          fill: series[at],
          fontSize: 11,
          ariaDescription: `runs, s = ${tick(scale)}`,
        },
      ),
    ),
    place: ({ scale, alpha }) => place(scale, alpha),
    value: ({ share, low, high }) => ({ mean: share, ends: [low, high], p: null }),
    r: 4,
    isChosen: (it) =>
      String(it.depth) === axes.depth && String(it.scale) === axes.init_scale && String(it.alpha) === axes.alpha,
    // At 1 a run of this tab that learned more than letter frequencies, at 0 one that did not.
    trained: trials
      .filter(({ training }) => training.depth === depth)
      .map(({ training, final }) => ({
        x: place(training.init_scale, training.alpha),
        y: final.bits_per_byte < below ? 1 : 0,
      })),
    tell: (it) => ({
      text: `${groupName(it)}, α = ${tick(it.alpha)} (mean ${short(it.mean)}): ${it.below} of ${it.runs} runs`,
      choice: { depth: String(it.depth), init_scale: String(it.scale), alpha: String(it.alpha) },
    }),
  });
}
