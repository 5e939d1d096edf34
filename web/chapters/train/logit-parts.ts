// The parts of the logits' variance as shares of it, and how these pile up.
import { LOGIT_PARTS, type LogitPart, type Row } from './log-rows';

/** What the parts are called. The first token as a key is the sink. */
export const PART_NAMES: Record<LogitPart, string> = {
  content_content: 'content–content',
  content_position: 'content–position',
  position_position: 'position–position',
  bias_part: 'query bias',
  sink_part: 'first token (sink)',
};

/** Logits that vary by less are equal but for rounding: attention is uniform, and shares say nothing. */
export const LEAST_VARIANCE = 1e-6;

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
const MOST: [number, number] = [-1, 2];

/** The range of the axis that all runs share: at least from 0 to 1, in steps of 0.1, within MOST. */
export function pilesRange(piles: readonly Pile[]): [number, number] {
  const ends = piles.flatMap(({ above, below }) => [...above, ...below].flat());
  const known = ends.filter(Number.isFinite);
  // A sum's rounding errors are no reason to go a step further.
  const low = Math.floor(10 * Math.min(0, ...known) + 1e-3) / 10;
  const high = Math.ceil(10 * Math.max(1, ...known) - 1e-3) / 10;
  return [Math.max(MOST[0], low), Math.min(MOST[1], high)];
}
