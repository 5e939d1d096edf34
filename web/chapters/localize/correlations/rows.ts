import type { HeadTraces, HeadMeasures } from '../../../heads/traces';

/** What the table of rank correlations ranks heads by. */
export type Quantity = keyof HeadTraces | 'localization' | 'mean_modulus';

/** The rows of the table: a quantity of the theory, and what of the measured attention it should tell. */
export const CORRELATIONS: readonly {
  quantity: Quantity;
  /** HTML. */
  label: string;
  measured: keyof HeadMeasures;
}[] = [
  { quantity: 'localization', measured: 'localization', label: 'localization index <i>L</i> of the theory' },
  { quantity: 'localization', measured: 'entropy', label: 'localization index <i>L</i> of the theory' },
  { quantity: 'variance_modulus', measured: 'entropy', label: 'modulus variance' },
  { quantity: 'variance_frobenius', measured: 'entropy', label: 'Frobenius variance' },
  { quantity: 'variance', measured: 'entropy', label: 'trace variance' },
  { quantity: 'mean', measured: 'entropy', label: 'mean <i>m</i>' },
  { quantity: 'mean_modulus', measured: 'entropy', label: '|<i>m</i>|' },
  { quantity: 'xi', measured: 'self_weight', label: '<i>ξ</i> = tr(<i>WΣ</i>)' },
];

/** A quantity of one row of `eigenscope heads`. */
export function quantityOf(row: HeadTraces & { localization: number }, quantity: Quantity): number {
  return quantity === 'mean_modulus' ? Math.abs(row.mean) : row[quantity];
}
