import { legend, textWidth } from '../../../charts/legend';
import { tick } from '../../../charts/format';
import { chart, link, ruleX, text } from '../../../charts/plot';
import { RUN_COLUMNS, tableOf, testedColumns, type PanelsDescription, type Shown } from '../experiments/figure';
import {
  chosenMark,
  HOLLOW,
  meanMark,
  referenceMarks,
  trainedMark,
  valueOf,
  type Panel,
  type Size,
} from '../experiments/panels';
import { FINAL_LOSS } from '../experiments/picker';
import { claimText, differenceText, meansText, methodsOf, runsText, type MethodRow } from '../experiments/rows';
import { methodName } from '../method-lines';

const CLAIMED = 'locater-frobenius';
/** Pixels from one method to the next. */
const ROW = 20;
/** Pixels from which loss and entropy stand side by side. */
const WIDE = 540;
/** Pixels that a tick's number needs, and from which an axis has room for its label on both sides. */
const TICK = 45;
const LABELLED = 170;

/** What the rows are called: with the number of runs where it is not the same for all. */
function namesOf(rows: readonly MethodRow[]): string[] {
  const same = rows.every(({ runs }) => runs === rows[0].runs);
  return rows.map(({ name, runs }) => (same ? name : `${name}, ${runsText(runs)}`));
}

/** A comparison of methods at tuned settings: loss and attention entropy, with standard errors and tests. */
export const publishedFigure: PanelsDescription<MethodRow[]> = {
  id: 'published',
  experiments: [
    {
      name: 'regularizers',
      subject: 'tuned settings',
      choosing: {
        names: { method: { name: 'Method', label: methodName } },
        first: { method: CLAIMED },
        outcome: FINAL_LOSS,
      },
    },
  ],
  title: 'Published comparison of methods',
  rows: (results) => methodsOf(results),
  *panels(shown, width) {
    const height = 66 + ROW * shown.rows.length;
    const columns = width >= WIDE ? 2 : 1;
    const size = { width: width / columns, height };
    const room = Math.min(0.6 * size.width, 12 + Math.max(0, ...namesOf(shown.rows).map(textWidth)));
    const panels = [
      panel('final loss, bits per byte', 'loss', size, room, shown),
      panel('attention entropy', 'entropy', size, columns > 1 ? 0 : room, shown),
    ];
    return { columns, height, names: legend([HOLLOW], 0, width), panels };
  },
  caption: ({ rows }) => [claimText(rows, CLAIMED), meansText(rows)],
  unit: 'bits per byte',
  table: ({ rows, results: [results] }) =>
    tableOf(
      rows,
      [
        ['method', ({ name }) => name],
        ...RUN_COLUMNS,
        ...testedColumns('bits_per_byte', ({ loss }: MethodRow) => loss),
        ...testedColumns('entropy', ({ entropy }: MethodRow) => entropy),
      ],
      results,
    ),
};

/** One measure: a row for each method, with its name where there is `room` for it. */
function panel(
  title: string,
  measure: 'loss' | 'entropy',
  { width, height }: Size,
  room: number,
  { rows, results: [results], choice: { axes }, trained: [trials] }: Shown<MethodRow[]>,
): Panel {
  const y = (row: MethodRow) => rows.indexOf(row);
  const mean = (row: MethodRow) => row[measure].mean;
  const bars = rows.flatMap((row) => {
    const { ends } = valueOf(row[measure]);
    return ends ? { y: y(row), low: ends[0], high: ends[1] } : [];
  });
  const all = [...rows.map(mean), ...bars.flatMap(({ low, high }) => [low, high])];
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const margin = 0.05 * (high - low || 1);
  const domain = [low - margin, high + margin];
  const baseline = rows.find(({ method }) => method === 'none');
  const trained = trials.map(({ choice, final }) => ({
    x: final[measure === 'loss' ? 'bits_per_byte' : 'entropy'],
    y: rows.findIndex(({ method }) => method === choice.axes.method),
  }));
  const names = { y, frameAnchor: 'left', dx: -8, textAnchor: 'end', ariaDescription: 'method' } as const;
  const drawn = chart({
    label: title,
    width,
    height,
    marginRight: 14,
    marginTop: 28,
    marginBottom: 38,
    marginLeft: room || 14,
    x: {
      domain,
      label: `${title} →`,
      labelAnchor: width - room < LABELLED ? ('right' as const) : ('center' as const),
      ticks: Math.min(4, Math.floor((width - room) / TICK)),
      tickFormat: tick,
    },
    y: { domain: [rows.length - 0.5, -0.7], axis: null },
    marks: [
      ...(measure === 'loss' ? referenceMarks(results.references, domain, true) : []),
      ruleX(baseline ? [mean(baseline)] : [], { strokeOpacity: 0.3, strokeDasharray: '2 3' }),
      link(bars, {
        x1: 'low',
        x2: 'high',
        y1: 'y',
        y2: 'y',
        stroke: 'var(--ink)',
        strokeWidth: 2,
        ariaDescription: 'error bars',
      }),
      meanMark(rows, { x: mean, y, r: 4 }, (row) => row[measure], 'var(--ink)', 'mean'),
      text(room > 0 ? rows : [], { ...names, text: (row: MethodRow) => namesOf(rows)[y(row)] }),
      chosenMark(
        rows.filter(({ method }) => method === axes.method),
        { x: mean, y, r: 8 },
      ),
      trainedMark(trained, { x: 'x', y: 'y' }),
    ],
  });
  const places = rows.map((row) => ({
    x: drawn.x.apply(mean(row)),
    y: drawn.y.apply(y(row)),
    text:
      `${row.name}, ${runsText(row.runs)}: ${mean(row).toFixed(3)}` +
      (row === baseline ? '' : `, against the baseline ${differenceText(row[measure])}`),
    choice: { method: row.method },
  }));
  return { drawn, places };
}
