// How much the differences from the baseline vary over the seeds of published runs.
import { cellOf } from './published-cells';
import { labelsOf, type PublishedCell, type PublishedResults } from './published-results';

/** The smallest and the largest difference of a method from the baseline, over seeds. */
export interface SeedSpread {
  seeds: number;
  /** Training steps of those runs. */
  steps: number;
  /** In bits per byte. */
  loss: [number, number];
  entropy: [number, number];
}

/** Of the methods of an experiment that has no other axis, by their labels. */
export function spreadsOf(results: PublishedResults): Map<string, SeedSpread> {
  const spreads = new Map<string, SeedSpread>();
  for (const method of labelsOf(results, 'method').filter((it) => it !== 'none')) {
    const pairs = results.cells.flatMap((own): [PublishedCell, PublishedCell][] => {
      const baseline = cellOf(results, { axes: { method: 'none' }, seed: own.seed });
      return own.axes.method === method && baseline ? [[own, baseline]] : [];
    });
    const range = (name: 'bits_per_byte' | 'entropy'): [number, number] => {
      const differences = pairs.map(([own, baseline]) => own.final[name]! - baseline.final[name]!);
      return [Math.min(...differences), Math.max(...differences)];
    };
    if (pairs.length > 0)
      spreads.set(method, {
        seeds: pairs.length,
        steps: Number(results.grid.settings.steps),
        loss: range('bits_per_byte'),
        entropy: range('entropy'),
      });
  }
  return spreads;
}
