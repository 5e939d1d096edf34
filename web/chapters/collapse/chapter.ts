import { Controls } from '../../controls/panel';
import type { FigureOf } from '../../ui/registry';
import { runFigures } from '../../ui/run-figures';
import type { Chapter, Page } from '../shared/page';
import { CollapseMapFigure } from './collapse-map/figure';
import { CollapseTokensFigure } from './collapse-tokens/figure';
import { CosinesFigure } from './cosines/figure';
import { StackCurves } from './depth/curves';
import { DepthFigure } from './depth/figure';
import type { State, Store } from './state';

/** Rank collapse and entropy collapse in stacks of attention blocks. */
export function startCollapse({ pool }: Page, store: Store): Chapter {
  const controls = new Controls(store, pool);
  const curves = new StackCurves();
  const figures = runFigures<FigureOf<'collapse'>, State>(
    {
      'collapse-map': new CollapseMapFigure(store),
      'collapse-tokens': new CollapseTokensFigure(store),
      depth: new DepthFigure(store, curves),
      cosines: new CosinesFigure(),
    },
    store,
    pool,
    () => ({ failed: (error) => controls.failed(error) }),
  );
  controls.showOnlyFor(figures.inSight);
  return figures;
}
