import { short } from '../../../charts/format';
import { withError } from '../../../charts/with-error';
import { changeRow, type SinkOutput } from './marks';

const digits = (value: number | null | undefined) => short(Number((value ?? NaN).toPrecision(2)));

/** Whether the sink writes something. */
export function claimText(output: SinkOutput): string {
  const [none, zero, mean, dropped] = (['none', 'zero-value', 'mean-value', 'dropped'] as const).map((change) =>
    changeRow(output, change),
  );
  if (!none || !zero || !mean || !dropped) return 'Running the model…';
  const change = (row: typeof zero) => withError(row.output_change, row.output_change_error);
  return (
    `The first token gets ${digits(none.sink)} of the attention; ${none.sinks} of ${output.heads.length} heads are ` +
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
    `Two passages differ by ${digits(between_passages)}. Removing one key direction leaves ${direction.sinks} of ` +
    `${none.sinks} sinks and changes the output by ${digits(direction.output_change)}. Rank correlation of the ` +
    `value’s norm with attention over heads: ${digits(value_correlation)}; within layers ` +
    `${digits(value_in_layers)} (p = ${digits(value_p)} of permuted heads). Position adds ` +
    `${digits(first.position)} of attention in the first layer and ${digits(last.position)} in the last, the token ` +
    `${digits(first.token)} and ${digits(last.token)}.`
  );
}
