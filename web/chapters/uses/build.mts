// What each lab answers in the states of its presets: a file for its figure, and the numbers of the sentences.
import { pick, type Values } from '../../state/control';
import type { BuildTools } from '../../build-tools.mts';
import type { Ask } from './lab';
import { LABS } from './labs';

/** Significant digits that the figures can show. */
const DIGITS = 4;

export async function build(tools: BuildTools): Promise<void> {
  const defaults: Values = tools.defaults('uses');
  /** Labs on a checkpoint run the sample on the text that its figures read. */
  const onCheckpoint = (name: string) => 'tokenizer' in tools.schema.properties[name].properties.input.properties;
  const ask: Ask = (name, input) =>
    tools.ask(name, input, ...(onCheckpoint(name) ? [tools.sample, '--file', tools.text] : []));
  const labs = LABS.map(async ({ figure, inputs, states = [], presets, find, measured }) => {
    const differences = [{}, ...presets.map(({ state }) => state ?? {}), ...states] as Partial<Values>[];
    const found = await Promise.all(differences.map((state) => find({ ...defaults, ...state } as Values, ask)));
    const answers = new Map<string, object>(); // presets that only draw another chart have the same one
    for (const [i, difference] of differences.entries()) {
      const state = pick(
        difference,
        inputs.filter((name) => name in difference),
      );
      const key = JSON.stringify(state);
      if (!answers.has(key)) answers.set(key, { state, answer: tools.rounded(found[i], DIGITS) });
    }
    tools.write(`uses/${figure}.json`, [...answers.values()]);
    return Object.fromEntries(presets.map(({ id }, i) => [id, measured(found[i + 1])]));
  });
  tools.values('uses', Object.assign({}, ...(await Promise.all(labs))));
}
