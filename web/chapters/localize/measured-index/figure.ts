import { short } from '../../../charts/format';
import type { Table } from '../../../charts/table';
import { distinct, type Spot } from '../../../heads/head-dots';
import { askTheory } from '../../../heads/predictions';
import type { HeadRegistry } from '../../../heads/registry';
import { traced } from '../../../heads/traces';
import { orderText } from '../../shared/ordering';
import { HeadScatter } from '../head-scatter';
import type { FigureContext, Store } from '../state';

/** The localization index of the measured attention of trained heads, against that of the theory. */
export class MeasuredIndexFigure extends HeadScatter {
  readonly inputs = ['sigma', 'sample', 'length', 'tokens', 'correlation', 'seed', 'queries', 'query'] as const;
  protected readonly axes = { x: 'predicted localization index L', y: 'measured localization over positions' };
  /** The index of the theory by the heads' ids. */
  private predicted: ReadonlyMap<string, number> = new Map();

  constructor(store: Store, registry: HeadRegistry) {
    super('measured-index', store, registry, { x: 'predicted L', y: 'measured localization' });
  }

  table(): Table | null {
    const { sigma } = this.store.state;
    const rows = this.spots().map(({ head, x, y }) => [head.id, sigma, x, y]);
    return rows.length > 0 ? { columns: ['head', 'covariance', 'predicted_localization', 'localization'], rows } : null;
  }

  protected override async ask(context: FigureContext): Promise<void> {
    this.predicted = await askTheory(context, this.registry, 'localization');
  }

  protected spots(): Spot[] {
    const { sample, sigma } = this.store.state;
    const spots = traced(this.registry.heads(sample), sigma)
      .map(({ head }) => ({ head, x: this.predicted.get(head.id) ?? NaN, y: head.measured?.localization ?? NaN }))
      .filter(({ x, y }) => Number.isFinite(x) && Number.isFinite(y));
    return distinct(spots);
  }

  protected titleOf(correlation: number): string {
    return `The index ${orderText(correlation)} by measured localization: rank correlation ${short(correlation)}`;
  }
}
