import { short } from '../../../charts/format';
import type { Table } from '../../../charts/table';
import { distinct, type Spot } from '../../../heads/head-dots';
import type { HeadRegistry } from '../../../heads/registry';
import { selfLogit, traced } from '../../../heads/traces';
import { orderText } from '../../shared/ordering';
import { HeadScatter } from '../head-scatter';
import type { Store } from '../state';

/** How much more a token attends to itself, against what the trace of W Sigma says. */
export class SelfAttentionFigure extends HeadScatter {
  readonly inputs = ['sigma', 'sample'] as const;
  protected readonly axes = { x: 'tr(WΣ)/λ, predicted excess of the self-logit', y: 'measured self-attention excess' };

  constructor(store: Store, registry: HeadRegistry) {
    super('self-attention', store, registry, { x: 'tr(WΣ)/λ', y: 'measured excess' });
  }

  table(): Table | null {
    const { sigma } = this.store.state;
    const rows = this.spots().map(({ head, x, y }) => [head.id, sigma, x, head.measured?.self_logit ?? null, y]);
    const columns = ['head', 'covariance', 'predicted_self_logit', 'self_logit', 'self_weight'];
    return rows.length > 0 ? { columns, rows } : null;
  }

  protected spots(): Spot[] {
    const { sample, sigma } = this.store.state;
    const spots = traced(this.registry.heads(sample), sigma)
      .map(({ head, traces }) => ({ head, x: selfLogit(traces, head), y: head.measured?.self_weight ?? NaN }))
      .filter(({ y }) => Number.isFinite(y));
    return distinct(spots);
  }

  protected titleOf(correlation: number): string {
    return `The trace ${orderText(correlation)} by self-attention excess: rank correlation ${short(correlation)}`;
  }
}
