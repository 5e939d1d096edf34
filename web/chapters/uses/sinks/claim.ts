import { twoDigits } from '../../../charts/format';
import { fieldWithError } from '../../../charts/with-error';
import { changeRow, type SinkOutput } from './marks';

/** Whether the sink writes something. */
export function claimText(output: SinkOutput): string {
  const [none, zero, mean, dropped] = (['none', 'zero-value', 'mean-value', 'dropped'] as const).map((change) =>
    changeRow(output, change),
  );
  if (!none || !zero || !mean || !dropped) return 'Running the model…';
  const change = (row: typeof zero) => fieldWithError(row, 'output_change');
  return (
    `The first token gets ${twoDigits(none.sink)} of the attention; ${none.sinks} of ${output.heads.length} heads are ` +
    `sinks. Setting its value to 0 changes the output by ${change(zero)} (1 − cosine), setting it to the average of ` +
    `the other tokens’ values by ${change(mean)}, dropping its key by ${change(dropped)}.`
  );
}

/** What goes with a sink, and what makes it. */
export function detailText(output: SinkOutput): string {
  const { value_correlation, value_in_layers, value_p, layers, between_passages } = output;
  const direction = changeRow(output, 'direction');
  const none = changeRow(output, 'none');
  if (!direction || !none) return '';
  const [first, last] = [layers[0], layers[layers.length - 1]];
  return (
    `Two passages differ by ${twoDigits(between_passages)}. Removing one key direction leaves ${direction.sinks} of ` +
    `${none.sinks} sinks and changes the output by ${twoDigits(direction.output_change)}. Rank correlation of the ` +
    `value’s norm with attention over heads: ${twoDigits(value_correlation)}; within layers ` +
    `${twoDigits(value_in_layers)} (p = ${twoDigits(value_p)} of permuted heads). Position adds ` +
    `${twoDigits(first.position)} of attention in the first layer and ${twoDigits(last.position)} in the last, the token ` +
    `${twoDigits(first.token)} and ${twoDigits(last.token)}.`
  );
}
