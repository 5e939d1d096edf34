import type { Entry } from '../../charts/legend';
import { dashes, series } from '../../charts/palette';
import type { RunComparison } from './comparison';
import type { TrainingRun } from './training-run';
import { regularizers } from './state';

/** How a run styles wherever it is drawn. */
export interface RunStyle {
  run: TrainingRun;
  name: string;
  colour: string;
  dash: string;
}

/** The runs of a comparison with their colours and dashes, which are those of their places. */
export function stylesOf(comparison: RunComparison): RunStyle[] {
  return comparison.runs.map((run, place) => ({
    run,
    name: regularizers[run.kind],
    colour: series[place],
    dash: dashes[place],
  }));
}

/** Legend entries of the runs. */
export function runEntries(styles: RunStyle[]): Entry[] {
  return styles.map(({ name, colour, dash }) => ({ text: name, kind: 'line' as const, colours: [colour], dash }));
}
