// The files that the labs fetch: the build's answers, published models, texts.
import { load, loadJson, type ShippedFile } from '../../engine/shipped';
import type { Input } from '../../engine/protocol';
import asset from '../../generated/uses-first.json?shipped';
import type { FigureOf } from '../../ui/registry';
import { once } from '../shared/once';
import { bookText } from '../shared/text-source';

export const labsFile: ShippedFile = { ...asset, name: 'file of the labs’ answers' };

/** The answer of each lab to the chapter's defaults, from the build. Throws as `loadJson`. */
export const firstAnswers = once(() => loadJson<Record<FigureOf<'uses'>, never>>(labsFile));

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
