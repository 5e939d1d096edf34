import { Controls } from '../../controls/panel';
import type { FigureOf } from '../../ui/registry';
import { runFigures } from '../../ui/run-figures';
import type { Chapter, Page } from '../shared/page';
import { HeadButtons } from './head-buttons';
import type { LocalizationFigure } from './localization';
import { LevelPlayer } from './level-player';
import { MeasuredIndexFigure } from './measured-index';
import { PhaseMapFigure } from './phase-map';
import { RowEntropyFigure } from './row-entropy';
import { SelfAttentionFigure } from './self-attention';
import type { State, Store } from './state';
import { SoftmaxRowFigure } from './softmax-row';

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
  new LevelPlayer(store);
  const grid = new HeadButtons(store, heads);
  return {
    runners: figures.runners,
    repaint: () => {
      grid.follow();
      figures.repaint();
    },
  };
}
