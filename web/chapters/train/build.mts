// The published experiments: their results and grids.
import { readdirSync, readFileSync } from 'node:fs';
import type { BuildTools } from '../../build-tools.mts';

const FOLDER = 'docs/experiments/';
const ENDING = '.results.json';

export async function build({ root, write }: BuildTools): Promise<void> {
  const read = (file: string) => JSON.parse(readFileSync(root + FOLDER + file, 'utf8'));
  for (const file of readdirSync(root + FOLDER).filter((it) => it.endsWith(ENDING))) {
    const name = file.slice(0, -ENDING.length);
    write(`experiments/${name}.json`, { ...read(file), grid: read(`${name}.grid.json`) });
  }
}
