import { Controls } from '../../controls/panel';
import { placeName } from '../../heads/registry';
import { child } from '../../ui/dom';
import type { FigureOf } from '../../ui/registry';
import { runFigures } from '../../ui/run-figures';
import type { Chapter, Page } from '../shared/page';
import { HeadButtons } from './heads/figure';
import type { LocalizationFigure } from './lead/figure';
import { MeasuredIndexFigure } from './measured-index/figure';
import { PhaseMapFigure } from './phase-map/figure';
import { RowEntropyFigure } from './row-entropy/figure';
import { SelfAttentionFigure } from './self-attention/figure';
import { SoftmaxRowFigure } from './softmax-row/figure';
import type { State, Store } from './state';

/** Localization of one head. `lead` is there already: it is drawn before anything else. */
export function startLocalize({ pool, heads }: Page, store: Store, lead: LocalizationFigure): Chapter {
  const controls = new Controls(store, pool);
  const figures = runFigures<FigureOf<'localize'>, State>(
    {
      lead,
      'phase-map': new PhaseMapFigure(store, heads),
      'softmax-row': new SoftmaxRowFigure(store),
      'row-entropy': new RowEntropyFigure(store, heads),
      'measured-index': new MeasuredIndexFigure(store, heads),
      'self-attention': new SelfAttentionFigure(store, heads),
    },
    store,
    pool,
    () => ({ failed: (error) => controls.failed(error) }),
  );
  controls.showOnlyFor(figures.inSight);
  const { lead: onLead, 'phase-map': onMap } = figures.runners;
  const { 'row-entropy': onEntropy, 'self-attention': onSelf, 'measured-index': onIndex } = figures.runners;
  heads.changed.subscribe(() => {
    lead.headsChanged();
    [onLead, onMap, onEntropy].forEach((runner) => runner.repaint());
  });
  heads.added.subscribe(() => [onLead, onMap, onSelf, onIndex].forEach((runner) => runner.request('full')));
  const grid = new HeadButtons(store, heads);
  linkAttention(store, heads);
  return {
    runners: figures.runners,
    repaint: () => {
      grid.follow();
      figures.repaint();
    },
  };
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
