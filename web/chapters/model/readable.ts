import { child } from '../../ui/dom';
import type { Frame } from '../../ui/frame';
import type { HeadMeasurements } from './measurements';

/**
 * Where a model can read no text, one line says why and which can, and what needs a text is not there; where it reads
 * pictures, only what is predicted of texts is not there.
 */
export function showWhatCanBeRead(measurements: HeadMeasurements, attention: Frame, predicted: readonly Frame[]): void {
  const notice = child(document, '[data-no-text]');
  const ask = child(document, '[data-ask]');
  const ofText = ask.querySelectorAll<HTMLElement>('[data-of-text]');
  measurements.changed.subscribe(() => {
    const { unreadable, onlyPictures } = measurements;
    notice.hidden = unreadable === '';
    notice.textContent =
      `This model cannot be run on text: ${unreadable.replace(/\.?$/, '.')} ` +
      'Text needs config.json, tokenizer.json ' +
      'and a model of a family that “Supported files and models” lists for text.';
    ask.hidden = unreadable !== '';
    for (const part of ofText) part.hidden = onlyPictures;
    attention.setPresent(unreadable === '');
    for (const frame of predicted) frame.setPresent(measurements.readsText);
  });
}
