import type { Entry } from '../../charts/legend';
import { dashes, series } from '../../charts/palette';
import type { ShownRun } from './shown-runs';
import { regularizers } from './state';

/** How a run styles wherever it is drawn. */
export interface RunStyle {
  run: ShownRun;
  name: string;
  colour: string;
  dash: string;
}

/** Runs with their colours and dashes, which are those of their places. */
export function stylesOf(runs: readonly ShownRun[]): RunStyle[] {
  return runs.map((run, place) => ({ run, name: regularizers[run.kind], colour: series[place], dash: dashes[place] }));
}

/** Legend entries of the runs. */
export function runEntries(styles: RunStyle[]): Entry[] {
  return styles.map(({ name, colour, dash }) => ({ text: name, kind: 'line' as const, colours: [colour], dash }));
}
