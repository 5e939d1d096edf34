import type { Markish } from '@observablehq/plot';
import { chart } from '../../charts/plot';
import { child } from '../../ui/dom';
import type { FigureOf } from '../../ui/registry';
import { FIRST } from './first';
import { classMarks } from './latent/marks';
import { lossMarks } from './position/marks';

/** Pixels of a small picture. */
const SIZE = { width: 300, height: 110, margin: 8 };

const PICTURES: Record<FigureOf<'uses'>, () => Markish[]> = {
  'position-meaning': () => lossMarks(FIRST.position),
  'latent-posterior': () => classMarks(FIRST.latent.classes),
};

/** Draws the small picture of each lab: its first panel, without axes, in the chapter's own state. */
export function drawCards(): void {
  for (const [id, marks] of Object.entries(PICTURES)) {
    const { svg } = chart({
      label: '',
      ...SIZE,
      x: { axis: null, inset: 6 },
      y: { axis: null, inset: 6 },
      marks: marks(),
    });
    svg.removeAttribute('role');
    svg.removeAttribute('aria-label');
    child(document, `[data-card="${id}"]`).replaceChildren(svg);
  }
}
