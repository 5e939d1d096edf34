// What each lab finds: the numbers of its presets, and the figure's first picture in the chapter's own state.
import type { BuildTools } from '../../build-tools.mts';
import type { Ask } from './lab';
import { LABS } from './labs';

export async function build(tools: BuildTools): Promise<void> {
  /** Labs on a checkpoint run the sample on the text that its figures read. */
  const onCheckpoint = (name: string) => 'tokenizer' in tools.schema.properties[name].properties.input.properties;
  const ask: Ask = (name, input) =>
    tools.ask(name, input, ...(onCheckpoint(name) ? [tools.sample, '--file', tools.text] : []));
  const labs = LABS.map(async (lab) => ({
    values: await tools.ofPresets('uses', lab.presets, async (state) => lab.measured(await lab.find(state, ask))),
    first: [lab.figure, await lab.find(tools.defaults('uses'), ask)] as const,
  }));
  const found = await Promise.all(labs);
  tools.values('uses', Object.assign({}, ...found.map(({ values }) => values)));
  tools.write('uses-first.json', tools.rounded(Object.fromEntries(found.map(({ first }) => first)), 4));
}
