import { decade, short, tick } from '../../../charts/format';
import { legend } from '../../../charts/legend';
import { series } from '../../../charts/palette';
import { gridY } from '../../../charts/plot';
import { ESCAPE } from '../escape/figure';
import { trainingOfCell } from '../experiments/cells';
import { fieldsOf, tableOf, type PanelsDescription, type Shown } from '../experiments/figure';
import { chosenMark, circle, diamond, ends, manyMarks, panelOf, trainedMark, type Panel } from '../experiments/panels';
import type { CellPlace } from '../experiments/picker';
import type { Driver, PublishedResults } from '../experiments/results';
import { runsText } from '../experiments/rows';
import { RATES } from '../rates/figure';
import {
  isOf,
  loggedRows,
  partsOf,
  plateausOf,
  plateausTrained,
  plateauThreshold,
  type LoggedRow,
  type Plateau,
  type PlateauPart,
} from './words';

const HEIGHT = 260;
/** Paths of each experiment's dots. */
const LAYERS = 12;
const NAMES: Record<Driver, string> = {
  gradient_query_key: 'gradient norm on W_Q and W_K',
  sensitivity: 'sensitivity of attention',
};
const EXPERIMENTS = [RATES, ESCAPE];
const KINDS = ['dot', 'diamond'] as const;
const OUTLINES = [circle, diamond] as const;

/** A part of an experiment as it is drawn. */
interface Drawn extends PlateauPart {
  title: string;
  kind: (typeof KINDS)[number];
  outline: (typeof OUTLINES)[number];
  colour: string;
}

/** The parts of all experiments: an outline for each experiment, a colour for each part. */
function drawnOf(found: readonly PublishedResults[]): Drawn[] {
  const parts = found.flatMap((results, i) =>
    partsOf(results).map((part) => {
      const { experiment } = results;
      const cell = results.cells.find(({ axes }) => isOf(part, { experiment, axes }))!;
      const { layer_norm, depth } = trainingOfCell(results, cell);
      const title = `${EXPERIMENTS[i].subject} (${layer_norm}-norm, depth ${depth})`;
      return { ...part, title, kind: KINDS[i], outline: OUTLINES[i] };
    }),
  );
  return parts.map((part, i) => ({ ...part, colour: series[i] }));
}

/** Runs and their logged rows, with the part of each run by its labels. */
interface Plateaus {
  parts: Drawn[];
  runs: Plateau[];
  rows: LoggedRow[];
  partOf: ReadonlyMap<Plateau['axes'], Drawn>;
  /** What the tip says of a run, by its labels: of those that were drawn. */
  texts: Map<Plateau['axes'], string>;
}

/** Length of the plateaus of two experiments against the gradient on W_QK and the sensitivity. */
export const plateausFigure: PanelsDescription<Plateaus> = {
  id: 'plateaus',
  experiments: EXPERIMENTS,
  title: 'Steps at the loss of letter frequencies',
  rows(...results) {
    const parts = drawnOf(results);
    const partOf = results.flatMap(({ experiment, cells }) =>
      cells.map(({ axes }) => [axes, parts.find((it) => isOf(it, { experiment, axes }))!] as const),
    );
    return {
      parts,
      partOf: new Map(partOf),
      texts: new Map(),
      runs: results.flatMap(plateausOf),
      rows: results.flatMap(loggedRows),
    };
  },
  *panels(shown, width) {
    const names = legend(
      shown.rows.parts.map(({ title, kind, colour }) => ({ text: title, kind, colours: [colour] })),
      0,
      width,
    );
    const columns = width >= 560 ? 3 : 1;
    const size = width / columns;
    const panels: Panel[] = [];
    for (const driver of ['gradient_query_key', 'sensitivity'] as const) {
      panels.push(lengths(driver, size, shown));
      yield;
    }
    panels.push(gradients(size, shown));
    return { columns, height: HEIGHT, names, panels };
  },
  caption({ rows: { parts } }) {
    const rows = parts.map(({ title, correlations }) => {
      const of = (driver: Driver) => short(correlations.find((row) => row.driver === driver)?.rank_correlation);
      const [{ runs, never }] = correlations;
      const staying = `${never || 'none'} of ${runsText(runs)} to the end`;
      return `${title} ${of('gradient_query_key')} and ${of('sensitivity')}, ${staying}`;
    });
    const relations = parts.map(({ title, relation }) => `${title} ${short(relation.mean_within_runs)}`);
    return [
      'Rank correlation of the number of steps at the loss of letter frequencies with the gradient norm and with the ' +
        `sensitivity, and runs that stay there: ${rows.join('; ')}.`,
      `Rank correlation of the gradient norm with the sensitivity within a run, mean over runs: ${relations.join('; ')}.`,
    ];
  },
  table: ({ rows: { runs } }) =>
    tableOf(runs, [
      ...fieldsOf('experiment'),
      ['labels', ({ axes }) => Object.values(axes).join(' ')],
      ...fieldsOf('seed'),
      ['step_below', ({ step }) => step],
      ...fieldsOf('gradient_query_key', 'sensitivity'),
    ]),
};

/** Runs that never came below stand above the last step. */
function lengths(driver: Driver, width: number, shown: Shown<Plateaus>): Panel {
  const { runs, rows } = shown.rows;
  const last = Math.max(...rows.map(({ step }) => step));
  const never = 1.15 * last;
  const y = ({ step }: Plateau) => step ?? never;
  const trained = shown.results.flatMap((results, i) => plateausTrained(results, shown.trained[i]));
  const steps = [0, last / 4, last / 2, (3 * last) / 4, last];
  return panelOf({
    title: `steps to loss < ${short(plateauThreshold(shown.results[0]))}`,
    size: { width, height: HEIGHT },
    x: xOf(driver, width, [...runs, ...trained]),
    y: {
      domain: [0, 1.25 * last],
      ticks: [...steps, never],
      tickFormat: (step: number) => (step === never ? 'never' : tick(step)),
    },
    marks: [
      gridY(steps, { strokeOpacity: 0.08 }),
      ...dots(shown.rows, runs, driver, y, 3),
      chosenMark(runs.filter(isChosen(shown)), { x: driver, y, r: 7 }),
      trainedMark(trained, { x: driver, y }),
    ],
    points: runs,
    at: (run) => [run[driver], y(run)],
    tell: (run) => pointed(shown, run),
  });
}

function gradients(width: number, shown: Shown<Plateaus>): Panel {
  const rows = shown.rows.rows.filter((row) => row.gradient_query_key > 0 && row.sensitivity > 0);
  return panelOf({
    title: 'gradient norm',
    size: { width, height: HEIGHT },
    x: xOf('sensitivity', width, rows),
    y: { domain: ends(rows.map((row) => row.gradient_query_key)), type: 'log', tickFormat: decade },
    marks: [
      ...dots(shown.rows, rows, 'sensitivity', (row) => row.gradient_query_key, 1.5),
      chosenMark(rows.filter(isChosen(shown)), { x: 'sensitivity', y: 'gradient_query_key', r: 4 }),
    ],
    points: rows,
    at: (row) => [row.sensitivity, row.gradient_query_key],
    tell: (row) => pointed(shown, row),
  });
}

function isChosen({ choice }: Shown<Plateaus>) {
  const chosen = EXPERIMENTS[choice.experiment].name;
  return ({ experiment, axes, seed }: Plateau | LoggedRow): boolean =>
    chosen === experiment &&
    seed === choice.seed &&
    Object.entries(axes).every(([axis, label]) => choice.axes[axis] === label);
}

/** What pointing at a mark of a run says and chooses. */
function pointed(
  { rows: { texts }, textOf }: Shown<Plateaus>,
  { experiment, axes, seed }: Plateau | LoggedRow,
): Pick<CellPlace, 'text' | 'choice'> {
  const at = EXPERIMENTS.findIndex(({ name }) => name === experiment);
  const text = texts.get(axes) ?? textOf(at, { axes, seed });
  texts.set(axes, text);
  return { text, choice: { ...axes, experiment: String(at), seed: String(seed) } };
}

function dots<Row extends LoggedRow | Plateau>(
  { parts, partOf }: Plateaus,
  rows: readonly Row[],
  driver: Driver,
  value: (row: Row) => number,
  r: number,
) {
  return parts.map((part) =>
    manyMarks(
      rows.filter((row) => partOf.get(row.axes) === part && row[driver] > 0),
      () => part.colour,
      (row, x, y) => part.outline(x(row[driver]), y(value(row)), r),
      { 'aria-label': part.title, 'fill-opacity': 0.55 },
      LAYERS,
    ),
  );
}

/** The axis of a driver: orders of magnitude for the gradient. */
function xOf(driver: Driver, width: number, shown: readonly Record<Driver, number>[]) {
  const axis = {
    domain: ends(shown.map((row) => row[driver]).filter((value) => value > 0)),
    label: `${NAMES[driver]} →`,
    ticks: width < 300 ? 3 : 5,
  };
  return driver === 'sensitivity' ? axis : { ...axis, type: 'log' as const, tickFormat: decade };
}
