import { capitalized, short } from '../../../charts/format';
import { BARS } from '../../../charts/with-error';
import type { LayerMeasure } from '../../../engine/protocol';
import { pointsOf, type Curve } from './curves';

const CLAIM = 'The claim of Bao et al. (2024) that a small variance prevents both collapses';

/** What a measure does at the end of a stack: stays at the threshold or above, falls below, or cannot be told. */
type Side = 'kept' | 'lost' | 'open';

/** The end of the stacks of one variance. */
interface End {
  variance: number;
  sides: Side[];
  /** "residual 0.3, entropy 0.9". */
  numbers: string;
  layer: number;
}

const COLLAPSES = [
  { measure: 'residual', name: 'rank collapse' },
  { measure: 'entropy', name: 'entropy collapse' },
] as const satisfies { measure: LayerMeasure; name: string }[];

/** The last layer of a curve; null where the numbers do not reach the end, or there is no attention. */
function endOf(curve: Curve, threshold: number): End | null {
  const layer = curve.output.layer.length - 1;
  const points = COLLAPSES.map(({ measure }) => pointsOf(curve, measure).at(-1));
  const known = points.filter((point) => point?.layer === layer).map((point) => point!);
  if (known.length < COLLAPSES.length) return null;
  const sides = known.map(({ value, error }): Side => {
    if (Math.abs(value - threshold) < BARS * error) return 'open'; // its error bar reaches the threshold
    return value < threshold ? 'lost' : 'kept';
  });
  const numbers = COLLAPSES.map(({ measure }, i) => `${measure} ${short(known[i].value)}`);
  return { variance: curve.variance, sides, numbers: numbers.join(', '), layer };
}

/** Which collapses happen, in words. */
function lostIn({ sides }: End): string {
  return COLLAPSES.filter((_, i) => sides[i] === 'lost')
    .map(({ name }) => name)
    .join(' and ');
}

const keepsBoth = ({ sides }: End) => sides.every((side) => side === 'kept');
const losesOne = ({ sides }: End) => sides.includes('lost');
const told = ({ variance, numbers }: End) => `v = ${short(variance)} (${numbers})`;

/** What becomes of a stack, in the name of its figure; '' where too little is known. */
export function titleText(curve: Curve, threshold: number): string {
  const end = endOf(curve, threshold);
  if (!end || end.layer === 0) return '';
  const where = `after ${end.layer} layers at variance ${short(end.variance)}`;
  if (keepsBoth(end)) return `Neither collapse ${where}`;
  const lost = lostIn(end);
  return lost && `${capitalized(lost)} ${where}`;
}

/**
 * Whether a small variance prevents both collapses in the stacks of these curves, which differ in the
 * variance alone: in a sentence or two. `threshold` is what residual and entropy must keep; '' where too little
 * is known.
 */
export function claimText(curves: readonly Curve[], mean: number, threshold: number): string {
  const ends = curves.map((curve) => endOf(curve, threshold)).filter((end) => end !== null);
  if (ends.length < 2) return '';
  const [small, ...larger] = ends.sort((a, b) => a.variance - b.variance);
  if (small.layer === 0) return '';
  const where = `after ${small.layer} layers, threshold ${short(threshold)}`;
  if (mean === 0) {
    const what = losesOne(small) ? `there is ${lostIn(small)}` : 'neither collapse occurs';
    return (
      'The claim of Bao et al. (2024) is about a mean away from zero; here m = 0, ' +
      `and with ${told(small)} ${what} (${where}).`
    );
  }
  if (losesOne(small)) {
    const better = larger.filter(keepsBoth);
    const rest =
      better.length > 0
        ? `The larger ${better.map(told).join(' and ')} prevents both.`
        : 'No larger variance shown clearly prevents both.';
    return `${CLAIM} fails in this stack: with ${told(small)} there is ${lostIn(small)} (${where}). ${rest}`;
  }
  const unsure = (end: End) =>
    `${CLAIM} cannot be judged in this stack: ${told(end)} is within two standard errors of the threshold (${where}).`;
  if (!keepsBoth(small)) return unsure(small);
  const worse = larger.filter(losesOne);
  if (worse.length > 0) {
    const others = worse.map((end) => `${told(end)}: ${lostIn(end)}`).join('; ');
    return (
      `${CLAIM} holds in this stack: ${told(small)} keeps both at the threshold or above (${where}). ` +
      `With ${others}.`
    );
  }
  const open = larger.find((end) => !keepsBoth(end));
  if (open) return unsure(open);
  return (
    `${CLAIM} cannot be tested in this stack: ${told(small)} prevents both, but so do ` +
    `the larger variances shown (${where}).`
  );
}
