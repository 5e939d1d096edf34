import { whenReachable } from '../../engine/network';
import { NetworkError } from '../../engine/shipped';
import { child } from '../../ui/dom';
import { draw } from '../../ui/queue';
import { inSight } from '../../ui/sight';
import { firstAnswers, type Answers } from './first';
import type { LabFigure } from './lab-figure';

/** Draws the small picture of each lab when they are first seen. */
export async function drawCards(figures: readonly Pick<LabFigure<never>, 'id' | 'card'>[]): Promise<void> {
  await inSight(child(document, '.lab-cards'));
  const answers = await firstWhenReachable();
  if (!answers) return;
  draw(function* () {
    for (const figure of figures) {
      const svg = figure.card(answers[figure.id]);
      svg.removeAttribute('role');
      svg.removeAttribute('aria-label');
      child(document, `[data-card="${figure.id}"]`).replaceChildren(svg);
      yield;
    }
  });
}

/** The build's answers, asked for again while the host cannot be reached; null where their file is not as built. */
async function firstWhenReachable(): Promise<Answers | null> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await firstAnswers();
    } catch (error) {
      if (!(error instanceof NetworkError)) return null; // the figure in sight says why
      await whenReachable(attempts);
    }
  }
}
