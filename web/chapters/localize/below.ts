import type { Chapter, Page } from '../shared/page';
import type { LocalizeFigures } from './chapter';
import { HeadButtons } from './heads/figure';
import type { LocalizationFigure } from './lead/figure';
import { showSentence } from './matrix/sentence';
import { MeasuredIndexFigure } from './measured-index/figure';
import { PhaseMapFigure } from './phase-map/figure';
import { RowEntropyFigure } from './row-entropy/figure';
import { SelfAttentionFigure } from './self-attention/figure';
import { SoftmaxRowFigure } from './softmax-row/figure';
import type { Store } from './state';

/** Starts what stands below the first figure: the other figures and the table of heads. */
export function startBelow({ heads }: Page, store: Store, figures: LocalizeFigures, lead: LocalizationFigure): Chapter {
  const runners = figures.add({
    'phase-map': new PhaseMapFigure(store, heads),
    'softmax-row': new SoftmaxRowFigure(store),
    'row-entropy': new RowEntropyFigure(store, heads),
    'measured-index': new MeasuredIndexFigure(store, heads),
    'self-attention': new SelfAttentionFigure(store, heads),
  });
  const { 'phase-map': map, 'row-entropy': entropy, 'self-attention': self, 'measured-index': index } = runners;
  heads.changed.subscribe(() => [map, entropy].forEach((runner) => runner.repaint()));
  heads.added.subscribe(() => [map, self, index].forEach((runner) => runner.request('full')));
  showSentence(store, heads, lead);
  const grid = new HeadButtons(store, heads);
  return { runners: {}, repaint: () => grid.follow() };
}
