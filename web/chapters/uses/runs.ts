import { load, type ShippedFile } from '../../engine/shipped';
import { bookText } from '../shared/text-source';
import type { Files } from './question-lab';
import type { Quick } from './lab-figure';

/** Sequences while a control is dragged. */
export const QUICK_SEQUENCES: Quick = { sequences: 16 };

/** Published models by name and the text that they were trained on, fetched when first asked for. Throws as `load`. */
export async function runsAndText(models: Record<string, Omit<ShippedFile, 'name'>>): Promise<Files> {
  const [{ bytes: text }, ...runs] = await Promise.all([
    bookText(),
    ...Object.entries(models).map(async ([name, file]) => new File([await load({ ...file, name })], name)),
  ]);
  return { runs, text };
}
