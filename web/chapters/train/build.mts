// The published experiments: their results and grids.
import { readdirSync, readFileSync } from 'node:fs';
import { root, type BuildTools } from '../../build-tools.mts';

const FOLDER = `${root}web/results/experiments/`;
const PLANS = `${root}docs/experiments/`;
const ENDING = '.results.json';

/** The results of an experiment with its grid, by the path in both folders. */
export function published(path: string) {
  const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
  return { ...read(FOLDER + path + ENDING), grid: read(`${PLANS}${path}.grid.json`) };
}

export async function build({ write }: BuildTools): Promise<void> {
  const names = readdirSync(FOLDER).filter((file) => file.endsWith(ENDING));
  for (const name of names.map((file) => file.slice(0, -ENDING.length)))
    write(`experiments/${name}.json`, published(name));
  write('experiments/equal-deviation.json', published('causes/equal-deviation'));
}
