import { load, type ShippedFile } from '../../engine/shipped';
import { bookText } from '../shared/text-source';
import type { FigureContext } from './state';

/** Sequences while a control is dragged. */
const QUICK = 16;

/**
 * What labs on published models are asked beside their own settings: the models by name and the text that they were
 * trained on, fetched when first asked for, and how many of its sequences are read.
 */
export async function runsAndText(
  { state, quality }: Pick<FigureContext, 'state' | 'quality'>,
  models: Record<string, Omit<ShippedFile, 'name'>>,
) {
  const [{ bytes: text }, ...runs] = await Promise.all([
    bookText(),
    ...Object.entries(models).map(async ([name, file]) => new File([await load({ ...file, name })], name)),
  ]);
  const sequences = quality === 'quick' ? Math.min(QUICK, state.sequences) : state.sequences;
  return { runs, text, sequences };
}
