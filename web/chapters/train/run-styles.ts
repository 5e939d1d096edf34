import type { Entry } from '../../charts/legend';
import { dashes, series } from '../../charts/palette';
import { placesOf } from './method-styles';
import type { ShownRun } from './shown-runs';
import { regularizers } from './state';

/** How a run styles wherever it is drawn. */
export interface RunStyle {
  run: ShownRun;
  name: string;
  colour: string;
  dash: string;
}

/** Runs with the colours and dashes of their regularizers. */
export function stylesOf(runs: readonly ShownRun[]): RunStyle[] {
  const places = placesOf(runs.map(({ kind }) => kind));
  return runs.map((run, i) => ({
    run,
    name: regularizers[run.kind],
    colour: series[places[i]],
    dash: dashes[places[i]],
  }));
}

/** Legend entries of the runs. */
export function runEntries(styles: RunStyle[]): Entry[] {
  return styles.map(({ name, colour, dash }) => ({ text: name, kind: 'line' as const, colours: [colour], dash }));
}
