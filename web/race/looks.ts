import type { Entry } from '../charts/legend';
import { dashes, series } from '../charts/palette';
import { regularizers } from '../state/table';
import type { Race } from './race';
import type { Run } from './run';

/** How a run looks wherever it is drawn. */
export interface Look {
  run: Run;
  name: string;
  colour: string;
  dash: string;
}

/** The runs of a race with their colours and dashes, which are those of their places. */
export function looksOf(race: Race): Look[] {
  return race.runs.map((run, place) => ({
    ...{ run, name: regularizers[run.kind] },
    ...{ colour: series[place], dash: dashes[place] },
  }));
}

/** Legend entries of the runs. */
export function runEntries(looks: Look[]): Entry[] {
  return looks.map(({ name, colour, dash }) => ({
    ...{ text: name, kind: 'line' as const, colours: [colour], dash },
  }));
}
