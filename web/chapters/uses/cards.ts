import { child } from '../../ui/dom';
import type { LabFigure } from './lab-figure';

/** Draws the small picture of each lab. */
export function drawCards(figures: readonly Pick<LabFigure<unknown>, 'id' | 'card'>[]): void {
  for (const figure of figures) {
    const svg = figure.card();
    svg.removeAttribute('role');
    svg.removeAttribute('aria-label');
    child(document, `[data-card="${figure.id}"]`).replaceChildren(svg);
  }
}
