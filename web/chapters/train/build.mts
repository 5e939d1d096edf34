// The published experiments: their results and grids.
import { readdirSync, readFileSync } from 'node:fs';
import type { BuildTools } from '../../build-tools.mts';

const FOLDER = 'docs/experiments/';
const ENDING = '.results.json';
/** Those of further folders that have a figure. */
const FURTHER = [`causes/equal-deviation${ENDING}`, `causes/early-warning-ramp${ENDING}`];

interface Columns {
  axes: Record<string, number[]>;
  labels: Record<string, string[]>;
  seed: number[];
  curve: Record<string, unknown[]>;
}

/** Of the curves of early warnings the two measures that are drawn, at every fourth logged step, of odd seeds with pre-norm. */
function trajectories({ axes, labels, seed, curve }: Columns): Columns['curve'] {
  const thin = (values: unknown[]) => values.filter((_, at) => at % 4 === 0);
  const drawn = seed.map((own, i) => own % 2 === 1 && labels.model[axes.model[i]] === 'pre');
  const kept = ['spread.largest', 'self_excess.largest'].map((name) => [
    name,
    curve[name].map((values, i) => (drawn[i] ? thin(values as unknown[]) : [])),
  ]);
  return { step: thin(curve.step), ...Object.fromEntries(kept) };
}

export async function build({ root, write }: BuildTools): Promise<void> {
  const read = (file: string) => JSON.parse(readFileSync(root + FOLDER + file, 'utf8'));
  for (const file of [...readdirSync(root + FOLDER), ...FURTHER].filter((it) => it.endsWith(ENDING))) {
    const path = file.slice(0, -ENDING.length);
    const name = path.split('/').at(-1)!;
    const results = { ...read(file), grid: read(`${path}.grid.json`) };
    if (name === 'early-warning-ramp') {
      results.columns.curve = trajectories(results.columns);
      for (const { rows } of results.analysis) {
        const shown = rows.filter(({ group = 'hypothesis' }) => group === 'hypothesis');
        rows.splice(0, Infinity, ...shown);
      }
    }
    write(`experiments/${name}.json`, results);
  }
}
