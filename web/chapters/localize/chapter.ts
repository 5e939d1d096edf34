import { Controls } from '../../controls/panel';
import type { FigureOf } from '../../ui/registry';
import { runFigures } from '../../ui/run-figures';
import type { Chapter, Page } from '../page';
import { AttentionFigure } from './attention';
import { HeadGrid } from './head-grid';
import type { LeadFigure } from './lead';
import { PhaseMapFigure } from './phase-map';
import { ProfileFigure } from './profile';
import { RowEntropyFigure } from './row-entropy';
import { SelfAttentionFigure } from './self-attention';
import { SoftmaxRowFigure } from './softmax-row';
import { SpectrumFigure } from './spectrum';

/** Localization of one head. `lead` is there already: it is drawn before anything else. */
export function startLocalize({ state, pool, heads }: Page, lead: LeadFigure): Chapter {
  const store = state.stores.localize;
  const controls = new Controls(store, pool);
  const figures = runFigures<FigureOf<'localize'>>(
    {
      lead,
      'phase-map': new PhaseMapFigure(store, heads),
      'softmax-row': new SoftmaxRowFigure(store),
      profile: new ProfileFigure(),
      spectrum: new SpectrumFigure(store, heads),
      attention: new AttentionFigure(store),
      'row-entropy': new RowEntropyFigure(store, heads),
      'self-attention': new SelfAttentionFigure(store, heads),
    },
    store,
    pool,
    () => ({ failed: (error) => controls.failed(error) }),
  );
  controls.showOnlyFor(figures.inSight);
  const { lead: onLead, 'phase-map': onMap, spectrum: onSpectrum } = figures.runners;
  const { 'row-entropy': onEntropy, 'self-attention': onSelf } = figures.runners;
  heads.changed.subscribe(() => [onLead, onMap, onEntropy].forEach((runner) => runner.repaint()));
  heads.added.subscribe(() => [onLead, onMap, onSelf].forEach((runner) => runner.request('full')));
  store.changed.subscribe(({ names, settled }) => {
    if (settled && names.has('variance') && lead.outgrown()) onLead.request('full');
  });
  heads.hovering.subscribe(() => onSpectrum.repaint());
  const grid = new HeadGrid(store, heads);
  return {
    runners: figures.runners,
    repaint: () => {
      grid.follow();
      figures.repaint();
    },
  };
}
