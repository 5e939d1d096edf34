import { Controls } from '../../controls/panel';
import type { FigureOf } from '../../ui/registry';
import { runFigures } from '../../ui/run-figures';
import type { Chapter, Page } from '../page';
import { CollapseMapFigure } from './collapse-map';
import { CosinesFigure } from './cosines';
import { DepthFigure } from './depth';
import { EntropyDepthFigure } from './entropy-depth';
import { StackCurves } from './stack-curves';

/** Rank collapse and entropy collapse in stacks of attention blocks. */
export function startCollapse({ state, pool }: Page): Chapter {
  const store = state.stores.collapse;
  const controls = new Controls(store, pool);
  const curves = new StackCurves();
  const figures = runFigures<FigureOf<'collapse'>>(
    {
      depth: new DepthFigure(store, curves),
      'entropy-depth': new EntropyDepthFigure(store, curves),
      'collapse-map': new CollapseMapFigure(store),
      cosines: new CosinesFigure(),
    },
    store,
    pool,
    () => ({ failed: (error) => controls.failed(error) }),
  );
  controls.showOnlyFor(figures.inSight);
  return figures;
}
