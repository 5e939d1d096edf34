import { child } from '../../ui/dom';
import type { Frame } from '../../ui/frame';
import type { HeadMeasurements } from './measurements';

/** Where a model can read no text, one line says why and which can, and what needs a text is not there. */
export function showWhatCanBeRead(measurements: HeadMeasurements, frames: readonly Frame[]): void {
  const notice = child(document, '[data-no-text]');
  const ask = child(document, '[data-ask]');
  measurements.changed.subscribe(() => {
    const { unreadable } = measurements;
    notice.hidden = unreadable === '';
    notice.textContent =
      `This model cannot be run on text: ${unreadable} ` +
      'Text needs config.json, tokenizer.json ' +
      'and a model of a family that “Supported files and models” lists for text.';
    ask.hidden = unreadable !== '';
    for (const frame of frames) frame.setPresent(unreadable === '');
  });
}
