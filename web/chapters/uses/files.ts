// The files that the labs fetch: the build's answers, published models, texts.
import { load, loadJson, type ShippedFile } from '../../engine/shipped';
import type { Input } from '../../engine/protocol';
import type { Values } from '../../state/control';
import type { FigureOf } from '../../ui/registry';
import { bookText } from '../shared/text-source';

/** An answer of the build, and what differs in its state from the chapter's defaults. */
export interface Built<Answer> {
  state: Partial<Values>;
  answer: Answer;
}

const FOLDER = '../../generated/uses/';
const files = import.meta.glob<Models[string]>('../../generated/uses/*.json', {
  query: '?shipped',
  import: 'default',
  eager: true,
});

const answersFile = (figure: FigureOf<'uses'>): ShippedFile => {
  const { [`${FOLDER}${figure}.json`]: file } = files;
  return { ...file, name: 'file of the lab’s answers' };
};

/** The files with the answers of all labs. */
export const labsFiles: ShippedFile[] = Object.values(files).map((file) => ({
  ...file,
  name: 'file of a lab’s answers',
}));

/** The answers of a lab in the states of its presets, first that to the chapter's defaults. Throws as `loadJson`. */
export const builtAnswers = <Answer>(figure: FigureOf<'uses'>) => loadJson<Built<Answer>[]>(answersFile(figure));

/** What an operation is given beside settings: published models or a checkpoint, and a text. */
export type Files = Partial<
  Pick<Input<'hard-retrieval'>, 'runs' | 'text'> &
    Pick<Input<'attention-sinks'>, 'model' | 'index' | 'config' | 'tokenizer' | 'file' | 'fit_length'>
>;

/** Published models by their paths, as the build imports them. */
export type Models = Record<string, Omit<ShippedFile, 'name'>>;

/** Published models and the text that they were trained on, fetched when first asked for. Throws as `load`. */
export async function runsAndText(models: Models): Promise<Files> {
  const run = async ([path, file]: [string, Models[string]]) => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    return new File([await load({ ...file, name })], name);
  };
  const [{ bytes: text }, ...runs] = await Promise.all([bookText(), ...Object.entries(models).map(run)]);
  return { runs, text };
}
