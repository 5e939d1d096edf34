// The parts of the logits' variance as shares of it, how these pile up, and sentences on them.
import { count, short } from '../../../charts/format';
import type { Regularizer } from '../../../engine/protocol';
import { REGULARIZERS } from '../methods';
import type { JudgedRun } from '../race/words';
import { LOGIT_PARTS, type Row, type LogitPart } from '../runs/log';

/** What the parts are called. The first token as a key is the sink. */
export const PART_NAMES: Record<LogitPart, string> = {
  content_content: 'content–content',
  content_position: 'content–position',
  position_position: 'position–position',
  bias_part: 'query bias',
  sink_part: 'first token (sink)',
};

/** Logits that vary by less are equal but for rounding: attention is uniform, and shares say nothing. */
const LEAST_VARIANCE = 1e-6;

/** Each part over the whole, in the order of LOGIT_PARTS: they add up to 1. NaN where the logits hardly vary. */
export function sharesOf({ value }: Pick<Row, 'value'>): number[] {
  const whole = value.logit_variance;
  return LOGIT_PARTS.map((part) => (whole >= LEAST_VARIANCE ? value[part] / whole : NaN));
}

/** One moment's areas, [low, high] of each part: positive shares pile up from 0, negative ones hang down. */
export interface Pile {
  step: number;
  above: [number, number][];
  below: [number, number][];
}

/** The areas of a row. A part has no height on the side of the other sign. */
export function pileOf(row: Row): Pile {
  const shares = sharesOf(row);
  const piled = (side: (share: number) => number) => {
    let end = 0;
    return shares.map((share): [number, number] => {
      const start = end;
      end += side(share);
      return [Math.min(start, end), Math.max(start, end)];
    });
  };
  return { step: row.step, above: piled((share) => Math.max(0, share)), below: piled((share) => Math.min(0, share)) };
}

/** Where cancelling parts go further, the axis ends. */
const WIDEST: [number, number] = [-1, 2];

/** The range of the axis that all runs share: at least from 0 to 1, in steps of 0.1, within WIDEST. */
export function pilesRange(piles: readonly Pile[]): [number, number] {
  const ends = piles.flatMap(({ above, below }) => [...above, ...below].flat());
  const known = ends.filter(Number.isFinite);
  // A sum's rounding errors are no reason to go a step further.
  const low = Math.floor(10 * Math.min(0, ...known) + 1e-3) / 10;
  const high = Math.ceil(10 * Math.max(1, ...known) - 1e-3) / 10;
  return [Math.max(WIDEST[0], low), Math.min(WIDEST[1], high)];
}

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
