// The figure of early warnings: where heads go before a run fails, and how early each alarm is.
import { short } from '../../../charts/format';
import { dashedEntry, legend } from '../../../charts/legend';
import { colourOf } from '../../../charts/palette';
import { chart, dot, line, link, ruleX, ruleY, text } from '../../../charts/plot';
import { fieldsOf, tableOf, type PanelsDescription, type Shown } from '../experiments/figure';
import { panelOf, titleMark, type Panel, type Size } from '../experiments/panels';
import { FINAL_LOSS } from '../experiments/picker';
import { runsText } from '../experiments/rows';
import type { PublishedCell } from '../experiments/results';
import { advantageText, alarmName, alarmsOf, failuresOf, type Alarm } from './words';

const [WIDE, ROW] = [760, 17];
/** The largest values over the heads that a trajectory has, as the file names them. */
const [ACROSS, UP] = ['self_excess.largest', 'spread.largest'] as const;
/** Smaller excesses, and negative ones, are drawn there. */
const LEAST = 0.01;
const FATES = ['the run does not fail', 'the run fails'];
const COLOURS = [colourOf('outcome', 'kept'), colourOf('outcome', 'failed')];

/** A run at a logged step. */
interface Moment {
  run: Trajectory;
  x: number;
  y: number;
}

interface Trajectory {
  cell: PublishedCell;
  /** The step at which it fails; null for never. */
  reached: number | null;
  moments: Moment[];
}

interface Warnings {
  alarms: Alarm[];
  runs: Trajectory[];
}

/** The part of a run's file that the page has, by measure. */
const valuesOf = (cell: PublishedCell, name: string) =>
  (cell.curve as Record<string, (number | null)[] | undefined>)[name] ?? [];

/** Trajectories of runs that were published with their curves, and the lead of each alarm. */
export const earlyWarningFigure: PanelsDescription<Warnings> = {
  id: 'early-warning',
  experiments: [
    {
      name: 'early-warning-ramp',
      subject: 'early warning',
      choosing: {
        names: { fault: { name: 'Fault' }, model: { name: 'Model' } },
        first: { fault: 'ramp-64', model: 'pre' },
        outcome: FINAL_LOSS,
      },
    },
  ],
  title: 'Heads of failing runs, and the lead of each alarm',
  rows(results) {
    const failures = failuresOf(results);
    const runs = results.cells.map((cell, i) => {
      const run: Trajectory = { cell, reached: failures[i], moments: [] };
      const up = valuesOf(cell, UP);
      valuesOf(cell, ACROSS).forEach((x, at) => {
        const y = up[at];
        if (x !== null && y) run.moments.push({ run, x: Math.max(x, LEAST), y });
      });
      return run;
    });
    return { alarms: alarmsOf(results), runs: runs.filter(({ moments }) => moments.length > 0) };
  },
  *panels(shown, width) {
    const columns = width >= WIDE ? 2 : 1;
    const height = 80 + ROW * shown.rows.alarms.length;
    const size = { width: width / columns, height };
    const fates = FATES.map((text, i) => ({ text, kind: 'dot' as const, colours: [COLOURS[i]] }));
    const line = { ...dashedEntry('freezing line'), colours: ['var(--muted)'] };
    return {
      columns,
      height,
      names: legend([...fates, line], 0, width),
      panels: [trajectories(size, shown), leads(size, shown.rows.alarms)],
    };
  },
  caption: ({ rows: { alarms, runs }, results: [results] }) => [
    advantageText(results),
    `Trajectories of ${runsText(runs.length)}, leads over ${runsText(alarms[0]?.failing ?? 0)} that fail, of other seeds than the thresholds.`,
  ],
  table: ({ rows: { alarms } }) =>
    tableOf(alarms, [
      ...fieldsOf('signal', 'direction', 'threshold'),
      ['chosen', ({ chosen }) => String(chosen)],
      ...fieldsOf('healthy', 'false_alarms', 'failing', 'detected', 'lead', 'lead_low', 'lead_high'),
    ]),
};

/** The largest deviation of logits of any head against the largest excess on oneself, a line a run. */
function trajectories(size: Size, { rows: { runs, alarms }, choice: { axes, seed } }: Shown<Warnings>): Panel {
  const freezing = alarms.filter(({ given }) => given).map(({ threshold }) => threshold);
  const lines = [false, true].map((fails) => runs.filter(({ reached }) => (reached !== null) === fails));
  const isChosen = ({ cell }: Trajectory) => cell.seed === seed && cell.axes.fault === axes.fault;
  const last = runs.map(({ moments }) => moments.at(-1)!);
  const colour = (run: Trajectory) => COLOURS[run.reached === null ? 0 : 1];
  const look = { x: 'x', y: 'y', z: 'run' } as const;
  return panelOf({
    title: 'largest ‖A‖_F/λ over the heads',
    size,
    x: { type: 'log', label: 'largest self-attention excess over the heads →' },
    y: { type: 'log' },
    marks: [
      ruleY(freezing, { stroke: 'var(--muted)', strokeWidth: 2, strokeDasharray: '6 3', ariaDescription: 'freezing' }),
      ...lines.map((own, place) =>
        line(
          own.flatMap(({ moments }) => moments),
          { ...look, stroke: COLOURS[place], strokeOpacity: 0.35, ariaDescription: FATES[place] },
        ),
      ),
      dot(last, { x: 'x', y: 'y', r: 3, fill: ({ run }: Moment) => colour(run), ariaDescription: 'last step' }),
      line(
        runs.filter(isChosen).flatMap(({ moments }) => moments),
        { ...look, stroke: 'var(--ink)', strokeWidth: 2, ariaDescription: 'chosen' },
      ),
    ],
    points: last,
    at: ({ x, y }) => [x, y],
    tell: ({ run: { cell, reached } }) => ({
      text: `${cell.axes.fault}, seed ${cell.seed}: ${reached === null ? 'does not fail' : `fails at step ${reached}`}`,
      choice: { fault: cell.axes.fault, model: cell.axes.model, seed: String(cell.seed) },
    }),
  });
}

/** The lead of each alarm in steps: median over failing runs with its interval. */
function leads({ width, height }: Size, alarms: readonly Alarm[]): Panel {
  const sorted = [...alarms].sort((a, b) => b.lead - a.lead);
  const place = (alarm: Alarm) => sorted.indexOf(alarm);
  const room = Math.min(0.62 * width, 250);
  const drawn = chart({
    label: 'lead in steps',
    width,
    height,
    marginLeft: room,
    marginRight: 14,
    marginTop: 36,
    marginBottom: 40,
    x: { label: 'median →', labelAnchor: 'right', zero: true, ticks: 4 },
    y: { domain: [sorted.length - 0.5, -0.7], axis: null },
    marks: [
      ruleX([0], { strokeOpacity: 0.3 }),
      link(sorted, {
        ...{ x1: 'lead_low', x2: 'lead_high', y1: place, y2: place, stroke: 'var(--ink)', strokeWidth: 2 },
        ariaDescription: 'error bars',
      }),
      dot(sorted, {
        ...{ x: 'lead', y: place, r: 4, stroke: 'var(--ink)' },
        fill: ({ chosen, given }: Alarm) => (chosen || given ? 'var(--ink)' : 'var(--paper)'),
        ariaDescription: 'lead',
      }),
      text(sorted, {
        ...{ y: place, frameAnchor: 'left', dx: -8, textAnchor: 'end', fontSize: 11, ariaDescription: 'alarm' },
        text: alarmName,
      }),
      titleMark('lead in steps'),
    ],
  });
  const places = sorted.map((alarm) => ({
    x: drawn.x.apply(alarm.lead),
    y: drawn.y.apply(place(alarm)),
    text:
      `${alarmName(alarm)}: ${alarm.detected} of ${alarm.failing} failures, ` +
      `${short(alarm.lead)} steps (${short(alarm.lead_low)} to ${short(alarm.lead_high)}), ` +
      `${alarm.false_alarms} of ${alarm.healthy} false alarms`,
    choice: {},
  }));
  return { drawn, places };
}
