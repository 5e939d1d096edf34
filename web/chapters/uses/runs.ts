import { load, type ShippedFile } from '../../engine/shipped';
import { bookText } from '../shared/text-source';

/** Published models by name, and the text that they were trained on, fetched when first asked for. */
export async function runsAndText(models: Record<string, Omit<ShippedFile, 'name'>>) {
  const [{ bytes: text }, ...runs] = await Promise.all([
    bookText(),
    ...Object.entries(models).map(async ([name, file]) => new File([await load({ ...file, name })], name)),
  ]);
  return { runs, text };
}
