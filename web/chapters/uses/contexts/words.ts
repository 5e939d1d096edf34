import { twoDigits } from '../../../charts/format';
import { fieldWithError } from '../../../charts/with-error';
import type { LabPreset } from '../lab';
import { contextRow, MOST, type ContextOutput, type ContextRow, type Measured } from './lab';

export const presets: readonly LabPreset<Measured>[] = [
  {
    id: 'parallel',
    name: 'Positions reset',
    text:
      '<b>The claim of Zhang et al. holds with reset positions:</b> eight blocks add {parallel.reset_entropy} nats of entropy to the attention of ' +
      'the last block and {parallel.reset} bits per byte to its loss.',
    source: 'holds',
    claim: ({ parallel }) => parallel.reset_entropy > 0.2 && parallel.reset > 0.1,
  },
  {
    id: 'positions',
    name: 'Positions kept',
    text:
      '<b>The claim of Zhang et al. fails.</b> With the positions of the text the same eight blocks add ' +
      '{positions.kept} bits per byte.',
    source: 'fails',
    claim: ({ positions }) => Math.abs(positions.kept) < 2 * positions.kept_error && positions.kept < 0.01,
  },
  {
    id: 'sharpened',
    name: 'Entropy restored',
    text:
      '<b>Restoring the entropy does not restore the loss.</b> Sharpening lowers the added entropy from ' +
      '{sharpened.reset_entropy} to {sharpened.sharpened_entropy} nats; the added loss is {sharpened.sharpened} ' +
      'bits per byte, before {sharpened.reset}.',
    claim: ({ sharpened }) =>
      Math.abs(sharpened.sharpened_entropy) < 0.1 * sharpened.reset_entropy &&
      sharpened.sharpened > 0.9 * sharpened.reset,
  },
  {
    id: 'selection',
    name: 'One block kept',
    text:
      'The block with the most attention adds {selection.mass} bits, a random one {selection.random}, the last one ' +
      '{selection.last}; no context adds {selection.none}.',
    state: { kept_blocks: 1 },
    claim: ({ selection }) => selection.last < selection.mass - 0.05 && selection.mass > selection.none,
  },
];

const added = (row: ContextRow) => fieldWithError(row, 'added');

/** What parallel blocks cost, and whether restoring the entropy helps. */
export function claim(output: ContextOutput): string {
  const reset = contextRow(output, 'reset');
  const none = contextRow(output, 'none');
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

/** A mean of correlations that cancel is 0, not what rounding leaves. */
const rounded = (correlation: number) => (Math.abs(correlation) < 1e-12 ? 0 : correlation);

/** Whether entropy and loss go together over passages, and what goes with the entropy of heads. */
export function correlations({ passages, properties }: ContextOutput): string {
  const most = passages.find(({ blocks }) => blocks === MOST);
  const parts = properties.map(
    ({ property, correlation, p_holm }) => `${property} ${twoDigits(rounded(correlation))} (p = ${twoDigits(p_holm)})`,
  );
  if (!most) return '';
  return (
    `Rank correlation over passages of added entropy with added loss: ${twoDigits(most.correlation)} (95% of ` +
    `permutations ${twoDigits(most.null_low)} to ${twoDigits(most.null_high)}). Over heads, of added entropy with the ` +
    `eigenspectrum’s mean or variance, or the entropy before: ${parts.join(', ')}; p by Holm’s method over ` +
    `${parts.length}.`
  );
}
