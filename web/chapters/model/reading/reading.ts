// What the page asks of a model that reads text. The sample's answers are made from the same numbers.
import type { Attended, Input } from '../../../engine/protocol';
import type { FigureContext } from '../state';
import { readerOf, type Checkpoint } from '../../shared/checkpoint';
import { child } from '../../../ui/dom';
import type { Frame } from '../../../ui/frame';
import type { HeadMeasurements } from './measurements';

/** Tokens of a passage, special ones included. */
export const PASSAGE = 128;
/** Rows of attention that are drawn for each prediction: less than the library's default, for speed. */
export const QUERIES = 300;

/** The question about a typed text, of which one passage is read. */
export const typed = (files: Checkpoint, text: string) => ({
  ...readerOf(files),
  text,
  length: PASSAGE,
  fit_length: true,
  passages: 1,
});

/** Milliseconds until the first layers are shown, and between two such pictures: a quick answer comes at once. */
const BETWEEN = 400;

/**
 * Runs a model on a text, and shows the layers that are done meanwhile: their heads are final. Where a later layer
 * cannot be read or is not finite, those before it are shown, and the promise rejects.
 */
export async function attendByLayers(
  context: FigureContext,
  input: Input<'attend'>,
  show: (found: Attended, progress: number) => void,
): Promise<Attended> {
  let last = performance.now();
  let shown = 0;
  let newest = { part: null as Attended | null, progress: 0 };
  const showNewest = () => {
    const { part, progress } = newest;
    if (!part || part.layers.length === shown) return;
    shown = part.layers.length;
    last = performance.now();
    show(part, progress);
  };
  const take = (part: Attended, progress: number) => {
    newest = { part, progress };
    if (performance.now() - last > BETWEEN) showNewest();
  };
  try {
    return await context.run('attend', input, take);
  } catch (error) {
    if (!context.signal.aborted) showNewest();
    throw error;
  }
}

/** Which layers are done, in a sentence. */
export function layersDoneText({ layers }: Attended): string {
  const last = layers.length - 1;
  return last > 0 ? `Layers 0 to ${last} are computed. ` : 'Layer 0 is computed. ';
}

/**
 * Where a model can read no text, one line says why and which can, and what needs a text is not there; where it reads
 * pictures, only what is predicted of texts is not there.
 */
export function showWhatCanBeRead(measurements: HeadMeasurements, attention: Frame, predicted: readonly Frame[]): void {
  const notice = child(document, '[data-no-text]');
  const ask = child(document, '[data-ask]');
  const ofText = ask.querySelectorAll<HTMLElement>('[data-of-text]');
  const ofLevels = child(document, '[data-of-levels]');
  measurements.changed.subscribe(() => {
    const { unreadable, onlyPictures } = measurements;
    notice.hidden = unreadable === '';
    notice.textContent =
      `This model cannot be run on text: ${unreadable.replace(/\.?$/, '.')} ` +
      'Text needs config.json, tokenizer.json (a GGUF file has both inside) ' +
      'and a model of a family that “Supported files and models” lists for text.';
    ask.hidden = unreadable !== '';
    for (const part of ofText) part.hidden = onlyPictures;
    attention.setPresent(unreadable === '');
    for (const frame of predicted) frame.setPresent(measurements.readsText);
    ofLevels.hidden = !measurements.readsText;
  });
}
