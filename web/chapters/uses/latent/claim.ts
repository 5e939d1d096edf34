import { short } from '../../../charts/format';
import { fieldWithError } from '../../../charts/with-error';
import type { ClassOutput, LatentOutput, ValueOutput } from './marks';

/** Where the loss over the variance of W is least. */
function classText(classes: ClassOutput): string {
  const { rows } = classes;
  const best = rows.reduce((a, b) => ((b.tuned_loss ?? Infinity) < (a.tuned_loss ?? Infinity) ? b : a));
  return (
    `Left: the loss is least, ${fieldWithError(best, 'tuned_loss')}, at variance ${short(best.variance)} (exact ` +
    `posterior: ${fieldWithError(classes, 'posterior_loss')}); the same eigenvalues in other directions have ` +
    `${fieldWithError(best, 'shuffled_tuned_loss')}.`
  );
}

/** How the best temperature and its error change with the number of keys, and what is better. */
function valueText(values: ValueOutput): string {
  const { lengths, temperature_slope } = values;
  const last = lengths[lengths.length - 1];
  const ratio = (row: (typeof lengths)[number]) => fieldWithError(row, 'ratio');
  const powers =
    temperature_slope === null
      ? 'Right: no temperature inside the range is best at every number of keys.'
      : 'Right: the best temperature goes as T to the power ' +
        `${fieldWithError(values, 'temperature_slope')}, ` +
        `its error as ${fieldWithError(values, 'error_slope')}.`;
  const linear = (last.linear_error ?? NaN) < (last.best_error ?? NaN);
  return (
    `${powers} The least error is ${ratio(lengths[0])} times that of the exact posterior at T = ` +
    `${lengths[0].length} and ` +
    `${ratio(last)} times at ${last.length}, where linear attention is ${linear ? 'better' : 'worse'} ` +
    `(${short(last.linear_error)} against ${short(last.best_error)}).`
  );
}

export function claimText({ classes, values }: LatentOutput): string {
  return `${classText(classes)} ${valueText(values)}`;
}
