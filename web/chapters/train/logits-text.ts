import { count, short } from '../../charts/format';
import type { Regularizer } from '../../engine/protocol';
import { REGULARIZERS } from './regularizers';
import { LOGIT_PARTS, type Row } from './log-rows';
import { LEAST_VARIANCE, PART_NAMES, sharesOf } from './logit-parts';
import type { JudgedRun } from './comparison-text';

/** From this share on a part carries most of the variance. */
const MOST = 0.5;

/** What the parts are called in a sentence. */
const SPOKEN = { ...PART_NAMES, bias_part: 'the query bias', sink_part: 'the first token' };

function percent(share: number): string {
  const rounded = Math.round(100 * share);
  return rounded === 0 ? 'less than 1%' : `${short(rounded)}%`;
}

/** The variance, beside that of the baseline at the same step. */
function varianceText({ kind, rows }: JudgedRun, baseline: JudgedRun | undefined): string {
  const { step, value } = rows[rows.length - 1];
  const other = kind === 'none' ? undefined : baseline?.rows.find((row) => row.step === step);
  const beside = other ? ` (${baseline?.name}: ${short(other.value.logit_variance)})` : '';
  return `variance of the logits ${short(value.logit_variance)}${beside}`;
}

/** Where the variance comes from: its largest part, and what escapes a regularizer through the query bias. */
function partsText(kind: Regularizer, row: Row): string {
  if (row.value.logit_variance < LEAST_VARIANCE) return 'too small to be divided into parts';
  const shares = sharesOf(row);
  if (!shares.every(Number.isFinite)) return '';
  const bias = shares[LOGIT_PARTS.indexOf('bias_part')];
  const largest = Math.max(...shares);
  const name = SPOKEN[LOGIT_PARTS[shares.indexOf(largest)]];
  const text = `${percent(largest)} of it from ${name}`;
  if (!REGULARIZERS[kind].leaves_bias) return text;
  if (largest === bias) return bias > MOST ? `${text}, which this regularizer leaves free` : text;
  return bias === 0 ? text : `${text} and ${percent(bias)} from ${SPOKEN.bias_part}`;
}

/** The largest part of a run's variance at its last row, in the name of the figure; '' where nothing is known. */
export function largestText({ name, rows }: JudgedRun): string {
  const row = rows.at(-1);
  const shares = row ? sharesOf(row) : [NaN];
  const largest = Math.max(...shares);
  if (Number.isNaN(largest)) return '';
  const part = SPOKEN[LOGIT_PARTS[shares.indexOf(largest)]];
  return `${percent(largest)} of the logits’ variance of the ${name} run comes from ${part}`;
}

/**
 * What the last row of a run says of its logits: their variance, where it comes from, and the weight of tokens on
 * themselves. '' for a run without rows.
 */
export function logitsText(run: JudgedRun, baseline: JudgedRun | undefined): string {
  const row = run.rows.at(-1);
  if (!row) return '';
  const { self_mass, self_reference } = row.value;
  const variance = [varianceText(run, baseline), partsText(run.kind, row)].filter(Boolean);
  return (
    `${run.name}, step ${count(row.step)}: ${variance.join(', ')}; ` +
    `self-mass ${short(self_mass)} (reference ${short(self_reference)}).`
  );
}
