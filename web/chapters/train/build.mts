// The published experiments: their results and grids.
import { readdirSync, readFileSync } from 'node:fs';
import type { BuildTools } from '../../build-tools.mts';

const FOLDER = 'docs/experiments/';
const ENDING = '.results.json';
/** Those of further folders that have a figure. */
const FURTHER = [`causes/equal-deviation${ENDING}`];

export async function build({ root, write }: BuildTools): Promise<void> {
  const read = (file: string) => JSON.parse(readFileSync(root + FOLDER + file, 'utf8'));
  for (const file of [...readdirSync(root + FOLDER), ...FURTHER].filter((it) => it.endsWith(ENDING))) {
    const path = file.slice(0, -ENDING.length);
    const name = path.split('/').at(-1)!;
    write(`experiments/${name}.json`, { ...read(file), grid: read(`${path}.grid.json`) });
  }
}
