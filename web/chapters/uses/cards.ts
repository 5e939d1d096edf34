import type { Markish, ScaleOptions } from '@observablehq/plot';
import { chart } from '../../charts/plot';
import { child } from '../../ui/dom';
import type { FigureOf } from '../../ui/registry';
import { crowdMarks } from './agents/marks';
import { blockMarks } from './contexts/marks';
import { FIRST } from './first';
import { classMarks } from './latent/marks';
import { lossMarks } from './position/marks';
import { accuracyMarks } from './prior/marks';
import { headMarks } from './retrieval/marks';

/** Pixels of a small picture. */
const SIZE = { width: 300, height: 110, margin: 8 };

const PICTURES: Record<FigureOf<'uses'>, () => { marks: Markish[]; x?: ScaleOptions; y?: ScaleOptions }> = {
  'position-meaning': () => ({ marks: lossMarks(FIRST.position) }),
  'latent-posterior': () => ({ marks: classMarks(FIRST.latent.classes) }),
  'attention-prior': () => ({ marks: accuracyMarks(FIRST.prior), x: { type: 'log' } }),
  'agent-attention': () => ({ marks: crowdMarks(FIRST.agents) }),
  'hard-retrieval': () => ({ marks: headMarks(FIRST.retrieval), x: { type: 'log' }, y: { type: 'log' } }),
  'parallel-contexts': () => ({ marks: blockMarks(FIRST.contexts), x: { type: 'log', base: 2 } }),
};

/** Draws the small picture of each lab: its first panel, without axes, in the chapter's own state. */
export function drawCards(): void {
  for (const [id, picture] of Object.entries(PICTURES)) {
    const { marks, x, y } = picture();
    const { svg } = chart({
      label: '',
      ...SIZE,
      x: { ...x, axis: null, inset: 6 },
      y: { ...y, axis: null, inset: 6 },
      marks,
    });
    svg.removeAttribute('role');
    svg.removeAttribute('aria-label');
    child(document, `[data-card="${id}"]`).replaceChildren(svg);
  }
}
