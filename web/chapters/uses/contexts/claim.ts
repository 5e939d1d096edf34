import { twoDigits } from '../../../charts/format';
import { withError } from '../../../charts/with-error';
import { contextRow, type ContextOutput, type ContextRow } from './marks';
const added = (row?: ContextRow) => withError(row?.added ?? NaN, row?.added_error ?? null);

/** What parallel blocks cost, and whether restoring the entropy helps. */
export function claimText(output: ContextOutput): string {
  const reset = contextRow(output, 'reset');
  const none = contextRow(output, 'none', 0);
  const kept = contextRow(output, 'kept');
  const sharpened = contextRow(output, 'sharpened');
  if (!reset || !none || !kept) return 'Evaluating the models…';
  const cost =
    `Eight parallel blocks with reset positions add ${added(reset)} bits per byte and ` +
    `${twoDigits(reset.entropy_added)} nats of entropy, no context ${added(none)} bits, kept positions ${added(kept)}.`;
  if (!sharpened) return cost;
  return (
    `${cost} Sharpened to an added entropy of ${twoDigits(sharpened.entropy_added)}, reset positions still add ` +
    `${added(sharpened)}.`
  );
}

/** Whether entropy and loss go together over passages, and what goes with the entropy of heads. */
export function correlationText({ passages, properties }: ContextOutput): string {
  const most = passages.find(({ blocks }) => blocks === 8);
  const parts = properties.map(
    ({ property, correlation, p_holm }) => `${property} ${twoDigits(correlation)} (p = ${twoDigits(p_holm)})`,
  );
  if (!most) return '';
  return (
    `Rank correlation over passages of added entropy with added loss: ${twoDigits(most.correlation)} (95% of ` +
    `permutations ${twoDigits(most.null_low)} to ${twoDigits(most.null_high)}). Over heads, of added entropy with the ` +
    `eigenspectrum’s mean or variance, or the entropy before: ${parts.join(', ')}; p by Holm’s method over ` +
    `${parts.length}.`
  );
}
