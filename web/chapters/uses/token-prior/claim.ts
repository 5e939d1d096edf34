import { count } from '../../../charts/format';
import { fieldWithError } from '../../../charts/with-error';
import { endsOf, rowOf, type TokenPriorOutput, type TokenPriorRow } from './marks';

/** What both priors add to the loss. */
export function claimText(output: TokenPriorOutput): string {
  if (output.rows.some(({ trainings }) => trainings === 0)) return '';
  const [few, many] = endsOf(output);
  const added = (prior: TokenPriorRow['prior'], bytes: number) => fieldWithError(rowOf(output, prior, bytes), 'added');
  return (
    `With ${count(few)} training bytes the prior on the previous token adds ${added('previous', few)} bits per byte ` +
    `to the loss, with ${count(many)} bytes ${added('previous', many)}. The prior on the token 16 before adds ` +
    `${added('far', few)} and ${added('far', many)}.`
  );
}

/** How much of its attention the model gives to the previous token by itself. */
export function weightText(output: TokenPriorOutput): string {
  const [, many] = endsOf(output);
  const none = rowOf(output, 'none', many);
  const own = rowOf(output, 'previous', many);
  if (none.largest_weight === null || own.mean_weight === null) return '';
  return (
    `With ${count(many)} bytes and no prior, the head with most weight on the previous token has ` +
    `${fieldWithError(none, 'largest_weight')}; with the prior on this token the mean over heads is ` +
    `${fieldWithError(own, 'mean_weight')}.`
  );
}
