import { decade, short, tick } from '../../charts/format';
import { legend } from '../../charts/legend';
import { series } from '../../charts/palette';
import { chart, gridY } from '../../charts/plot';
import type { Table } from '../../charts/table';
import { child } from '../../ui/dom';
import { CellPointer, type CellPlace } from './cell-pointer';
import { ESCAPE_CHOOSING } from './escape-figure';
import { ExperimentPicker } from './experiment-picker';
import {
  arranged,
  chosenMark,
  circle,
  diamond,
  ends,
  manyMarks,
  MARGINS,
  titleMark,
  trainedMark,
  type Panel,
} from './panel-parts';
import {
  isOf,
  loggedRows,
  partsOf,
  plateausOf,
  plateausTrained,
  plateauThreshold,
  type Driver,
  type LoggedRow,
  type Plateau,
  type PlateauPart,
} from './plateau-rows';
import { trainingOfCell } from './published-cells';
import { PublishedFigure } from './published-figure';
import type { PublishedResults } from './published-results';
import { runsText } from './published-rows';
import { RATES_CHOOSING } from './rates-figure';
import type { Trials } from './trials';

const HEIGHT = 260;
/** Paths of each experiment's dots. */
const LAYERS = 12;
const NAMES: Record<Driver, string> = {
  gradient_query_key: 'gradient norm on W_Q and W_K',
  sensitivity: 'sensitivity of attention',
};
const EXPERIMENTS = ['learning-rate', 'rank-escape'];
const SUBJECTS = ['learning rates', 'rank collapse'];
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
      const title = `${SUBJECTS[i]} (${layer_norm}-norm, depth ${depth})`;
      return { ...part, title, kind: KINDS[i], outline: OUTLINES[i] };
    }),
  );
  return parts.map((part, i) => ({ ...part, colour: series[i] }));
}

/** Length of the plateaus of two experiments against the gradient on W_QK and the sensitivity. */
export class PlateausFigure extends PublishedFigure {
  private found: PublishedResults[] = [];
  private parts: Drawn[] = [];
  private runs: Plateau[] = [];
  private rows: LoggedRow[] = [];
  /** The part of a run, by its labels. */
  private partOf = new Map<Plateau['axes'], Drawn>();
  /** What the tip says of a run, by its labels. */
  private texts = new Map<Plateau['axes'], string>();
  private readonly picker: ExperimentPicker;
  private readonly pointer: CellPointer;

  constructor(private readonly trials: Trials) {
    super('plateaus', ...EXPERIMENTS);
    const place = child(this.frame.root, '[data-pickers]');
    const choosing = [RATES_CHOOSING, ESCAPE_CHOOSING];
    this.picker = new ExperimentPicker(place, SUBJECTS, choosing, trials);
    this.pointer = new CellPointer(this.frame.chart, (choice) => this.picker.choose(choice));
    this.picker.changed.subscribe(this.redraw);
  }

  protected take(...results: PublishedResults[]): void {
    this.found = results;
    this.parts = drawnOf(results);
    this.runs = results.flatMap(plateausOf);
    this.rows = results.flatMap(loggedRows);
    this.partOf = new Map(
      results.flatMap(({ experiment, cells }) =>
        cells.map(({ axes }) => [axes, this.parts.find((it) => isOf(it, { experiment, axes }))!]),
      ),
    );
    this.picker.fill(results);
    this.texts = new Map(
      this.runs.map((run) => [
        run.axes,
        this.picker.textOf(EXPERIMENTS.indexOf(run.experiment), run),
      ]),
    );
  }

  protected *draw(width: number) {
    const names = legend(
      this.parts.map(({ title, kind, colour }) => ({ text: title, kind, colours: [colour] })),
      0,
      width,
    );
    const columns = width >= 560 ? 3 : 1;
    const size = width / columns;
    const panels: Panel[] = [];
    for (const driver of ['gradient_query_key', 'sensitivity'] as const) {
      panels.push(this.lengths(driver, size));
      yield;
    }
    panels.push(yield* this.gradients(size));
    yield;
    const caption = this.caption();
    const label = `Length of plateaus. ${caption}`;
    const { svg, places } = arranged(panels, { columns, width, height: HEIGHT }, names, label);
    this.pointer.put(places);
    this.frame.put(svg);
    this.frame.say(caption);
  }

  protected numbers(): Table {
    return {
      columns: ['experiment', 'labels', 'seed', 'step_below', 'gradient_query_key', 'sensitivity'],
      rows: this.runs.map(({ experiment, axes, seed, step, ...driver }) => [
        ...[experiment, Object.values(axes).join(' '), seed, step],
        ...[driver.gradient_query_key, driver.sensitivity],
      ]),
    };
  }

  /** Runs that never came below stand above the last step. */
  private lengths(driver: Driver, width: number): Panel {
    const last = Math.max(...this.rows.map(({ step }) => step));
    const never = 1.15 * last;
    const length = ({ step }: Plateau) => step ?? never;
    const trained = this.found.flatMap((results) =>
      plateausTrained(results, this.trials.ofExperiment(results)),
    );
    const drawn = chart({
      label: `Steps against the ${NAMES[driver]}`,
      ...{ width, height: HEIGHT, ...MARGINS },
      x: xOf(driver, width, [...this.runs, ...trained]),
      y: {
        ...{ domain: [0, 1.25 * last], label: null },
        ticks: [0, last / 4, last / 2, (3 * last) / 4, last, never],
        tickFormat: (step: number) => (step === never ? 'never' : tick(step)),
      },
      marks: [
        gridY([0, last / 4, last / 2, (3 * last) / 4, last], { strokeOpacity: 0.08 }),
        titleMark(`steps to loss < ${short(plateauThreshold(this.found[0]))}`),
        ...this.dots(this.runs, driver, length, 3),
        chosenMark(this.runs.filter(this.isChosen), { x: driver, y: length, r: 7 }),
        trainedMark(trained, { x: driver, y: length }),
      ],
    });
    const places = this.runs.map((run) => ({
      ...{ x: drawn.x.apply(run[driver]), y: drawn.y.apply(length(run)) },
      ...this.pointed(run),
    }));
    return { drawn, places };
  }

  private *gradients(width: number): Generator<undefined, Panel> {
    const rows = this.rows.filter((row) => row.gradient_query_key > 0 && row.sensitivity > 0);
    const at = { x: 'sensitivity', y: 'gradient_query_key' } as const;
    const drawn = chart({
      label: 'Gradient norm against the sensitivity',
      ...{ width, height: HEIGHT, ...MARGINS },
      x: xOf('sensitivity', width, rows),
      y: {
        domain: ends(rows.map((row) => row.gradient_query_key)),
        type: 'log',
        label: null,
        ticks: 5,
        tickFormat: decade,
      },
      marks: [
        titleMark('gradient norm'),
        ...this.dots(rows, 'sensitivity', (row) => row.gradient_query_key, 1.5),
        chosenMark(rows.filter(this.isChosen), { ...at, r: 4 }),
      ],
    });
    yield;
    const places = rows.map((row) => ({
      ...{ x: drawn.x.apply(row.sensitivity), y: drawn.y.apply(row.gradient_query_key) },
      ...this.pointed(row),
    }));
    return { drawn, places };
  }

  private isChosen = ({ experiment, axes, seed }: Plateau | LoggedRow): boolean => {
    const { experiment: at, axes: chosen, seed: own } = this.picker.choice;
    const same = Object.entries(axes).every(([axis, label]) => chosen[axis] === label);
    return EXPERIMENTS[at] === experiment && seed === own && same;
  };

  /** What pointing at a mark of a run says and chooses. */
  private pointed({
    experiment,
    axes,
    seed,
  }: Plateau | LoggedRow): Pick<CellPlace, 'text' | 'choice'> {
    const at = String(EXPERIMENTS.indexOf(experiment));
    return {
      text: this.texts.get(axes)!,
      choice: { ...axes, experiment: at, seed: String(seed) },
    };
  }

  private dots<Row extends LoggedRow | Plateau>(
    rows: readonly Row[],
    driver: Driver,
    value: (row: Row) => number,
    r: number,
  ) {
    return this.parts.map((part) =>
      manyMarks(
        rows.filter((row) => this.partOf.get(row.axes) === part && row[driver] > 0),
        () => part.colour,
        (row, x, y) => part.outline(x(row[driver]), y(value(row)), r),
        { 'aria-label': part.title, 'fill-opacity': 0.55 },
        LAYERS,
      ),
    );
  }

  private caption(): string {
    const rows = this.parts.map(({ title, correlations }) => {
      const of = (driver: Driver) =>
        short(correlations.find((row) => row.driver === driver)?.rank_correlation);
      const [{ runs, never }] = correlations;
      const staying = `${never || 'none'} of ${runsText(runs)} on the plateau to the end`;
      return `${title} ${of('gradient_query_key')} and ${of('sensitivity')}, ${staying}`;
    });
    const relations = this.parts.map(
      ({ title, relation }) => `${title} ${short(relation.mean_within_runs)}`,
    );
    return (
      'Rank correlation of the length of the plateau with the gradient norm and with the ' +
      `sensitivity: ${rows.join('; ')}. Of the gradient norm with the sensitivity within a run, ` +
      `mean over runs: ${relations.join('; ')}.`
    );
  }
}

/** The axis of a driver: orders of magnitude for the gradient. */
function xOf(driver: Driver, width: number, shown: readonly Record<Driver, number>[]) {
  const domain = ends(shown.map((row) => row[driver]).filter((value) => value > 0));
  const label = `${NAMES[driver]} →`;
  const ticks = width < 300 ? 3 : 5;
  return driver === 'sensitivity'
    ? { domain, label, labelAnchor: 'center' as const, ticks, tickFormat: tick }
    : {
        type: 'log' as const,
        domain,
        label,
        labelAnchor: 'center' as const,
        ticks,
        tickFormat: decade,
      };
}
