import { Controls } from '../../controls/panel';
import { placeName } from '../../heads/registry';
import { child } from '../../ui/dom';
import { runFigures, type RunningFigures } from '../../ui/run-figures';
import type { Chapter, Page } from '../shared/page';
import type { LocalizationFigure } from './lead/figure';
import type { State, Store } from './state';

/** The figures of the chapter: the first one, to which others are added. */
export type LocalizeFigures = RunningFigures<'lead', State>;

/** The first figure of the chapter, drawn before anything else, its controls, and what runs the other figures. */
export function startLocalize(
  { pool, heads }: Page,
  store: Store,
  lead: LocalizationFigure,
): Chapter & { figures: LocalizeFigures } {
  const controls = new Controls(store, pool);
  const figures: LocalizeFigures = runFigures({ lead }, store, pool, () => ({
    failed: (error) => controls.failed(error),
  }));
  controls.showOnlyFor(figures.inSight);
  heads.changed.subscribe(() => {
    lead.headsChanged();
    figures.runners.lead.repaint();
  });
  heads.added.subscribe(() => figures.runners.lead.request('full'));
  linkAttention(store, heads);
  return { figures, runners: figures.runners, repaint: figures.repaint };
}

/** The way from the chosen head to its attention in a text. */
function linkAttention(store: Store, heads: Page['heads']): void {
  const link = child(document, '[data-head-attention]');
  const follow = () => {
    const head = heads.find(store.state.head);
    link.hidden = !head;
    link.textContent = head ? `Attention of ${placeName(head)}` : '';
  };
  store.changed.subscribe(({ names }) => {
    if (names.has('head')) follow();
  });
  heads.added.subscribe(follow);
  follow();
}
