import { capitalized, count, short } from '../../../charts/format';
import { withError } from '../../../charts/with-error';
import type { Measure, Simulated } from '../../../engine/protocol';
import { settingControls } from '../../../state/setting';
import { entryOf } from '../../../ui/registry';
import type { Preset, Fact } from '../../shared/preset';
import { fewest, type Curves, type Lines, meanEntropy, type Point, type RandomHead } from '../answers';
import type { HeadMatrix } from '../panel';
import { OPENING, type State } from '../state';

/** What the vertical axis is called. */
export const AXES: Record<Measure, string> = {
  localization: 'localization index L',
  rho_mean: 'mean of ρ over the keys',
  entropy: 'attention entropy, 0 to 1',
  participation: 'participation ratio',
  sensitivity_localization: 'localization of the softmax’s sensitivity',
};

/** The token process of the figure's own title: the paper's. */
const USUAL_TOKENS = settingControls.tokens.default;

/** An index below this is 0 but for rounding. */
const ROUNDING = 1e-12;

/** Changes of the index below this are not called a rise or a fall. */
const VISIBLE = 0.01;

/** The parts of a line in which the index rises with the variance, as ranges of variances. */
export function risesOf({ measure, variances, value }: Lines, line = 0): [number, number][] {
  if (measure !== 'localization') return [];
  const { length } = variances;
  const own = value.slice(line * length, (line + 1) * length);
  const rises: [number, number][] = [];
  for (let from = 0; from < length; from++) {
    let to = from;
    while (to + 1 < length && own[to + 1] > own[to]) to++;
    if (own[to] - own[from] >= VISIBLE) rises.push([variances[from], variances[to]]);
    from = to;
  }
  return rises;
}

/** Where the index rises on the other lines, which the figure does not shade, in a sentence; '' for nowhere. */
export function othersText(lines: Lines): string {
  const parts = lines.means.slice(1).flatMap((mean, i) =>
    risesOf(lines, i + 1).map(([from, to]) => {
      return `m = ${short(mean)} from v = ${short(from)} to ${short(to)}`;
    }),
  );
  if (parts.length === 0) return '';
  const shaded = risesOf(lines).length > 0 ? `; only m = ${short(lines.means[0])} is shaded` : '';
  return `L rises, against the claim, for ${parts.join(' and for ')}${shaded}.`;
}

/** Whether the index of the first line is somewhere above its value at the smallest variance. */
export function fails({ measure, variances, value }: Lines): boolean {
  if (measure !== 'localization') return false;
  const known = variances.map((_, i) => value[i]).filter(Number.isFinite);
  return known.length > 0 && Math.max(...known) - known[0] >= VISIBLE;
}

/** How many sequences are behind the points. */
export function pointsText({ points, wanted }: Curves): string {
  return `Points: ${count(fewest(points))} of ${count(wanted)} sequences.`;
}

/** From where to where the first line goes. */
export function endsText({ value, variances }: Lines): string {
  const last = variances.length - 1;
  const [low, high] = [variances[0], variances[last]].map(short);
  return `At the first mean it is ${short(value[0])} at variance ${low} and ${short(value[last])} at ${high}.`;
}

/** How large the index of the first mean gets with each of the other token processes, in a sentence; '' for other measures. */
export function otherTokensText({ measure, means, others }: Lines): string {
  if (measure !== 'localization' || others.length === 0) return '';
  const largest = others.map(({ tokens, value }) => {
    const most = Math.max(...[...value].filter(Number.isFinite));
    return `${short(most < ROUNDING ? 0 : most)} (${settingControls.tokens.choices[tokens]})`;
  });
  return `With other tokens L is at most ${largest.join(' and ')} at m = ${short(means[0])}.`;
}

/** What the figure is called: trained heads are shown, or the index falls, as the paper says, or it does not. */
export function titleOf(lines: Lines, heads: number): string {
  if (heads > 0) return `${count(heads)} trained heads beside the theory`;
  if (lines.measure !== 'localization') {
    const axis = AXES[lines.measure];
    return `${capitalized(axis)} against the variance`;
  }
  if (fails(lines)) return 'Here localization rises with the variance';
  const known = [...lines.value.slice(0, lines.variances.length)].filter(Number.isFinite);
  const isFlat = known.length > 0 && Math.max(...known) < VISIBLE;
  if (lines.tokens === USUAL_TOKENS && !isFlat) return entryOf('lead').title;
  const falls = known[0] - (known.at(-1) ?? NaN) >= VISIBLE;
  return falls ? 'Localization falls with the variance' : 'Here attention does not localize';
}

/** Above this ratio of moments the logits are visibly far from normal. */
const NORMAL_BELOW = 0.1;

/** Whether the logits are close to normal, in a sentence. */
function normality({ moments }: RandomHead): string {
  const ratio = moments.fourth_moment_frobenius;
  if (ratio === null) return 'Every eigenvalue is 0, and so is every logit.';
  const verdict =
    ratio > NORMAL_BELOW
      ? 'too large for the normal approximation: expect the points to leave the line'
      : 'small enough for the normal approximation';
  return `Fourth-moment ratio ${short(ratio)}: ${verdict}.`;
}

/** What theory, simulation and the drawn matrix say of a point, in sentences. */
export function pointText(
  { head }: Point,
  keys: Simulated | null,
  wanted: number,
  ofHead: HeadMatrix | null = null,
): string {
  const { length, entropy } = head;
  const sentences = [
    `Regime: ${head.regime}, L = ${short(head.localization)} in theory.`,
    keys && simulated(keys, wanted),
    normality(head),
    !ofHead &&
      entropy.length > 1 &&
      `Matrix: ${length} by ${length} weights, mean attention entropy ` +
        `${short(meanEntropy(head))}, largest weight of a query that sees several keys ${short(largestChoice(head))}.`,
  ];
  return sentences.filter(Boolean).join(' ');
}

/** The largest weight where a query has a choice: a single key always gets all of it. */
function largestChoice({ length, weights }: Point['head']): number {
  let most = 0;
  for (let at = 0; at < weights.length; at += length) {
    const row = weights.subarray(at, at + length);
    if (row.filter((weight) => weight > 0).length > 1) most = row.reduce((a, b) => Math.max(a, b), most);
  }
  return most;
}

function simulated(keys: Simulated, wanted: number): string {
  const { localization, localization_error: error, regime } = keys;
  const found =
    localization === null ? 'no token propagates' : `L = ${withError(localization, error)}, regime ${regime}`;
  return `Simulation, ${count(keys.samples)} of ${count(wanted)} sequences: ${found}.`;
}

/**
 * Of each preset's state: localization index and mean of rho by the theory, the entropy of a row of the
 * exact softmax over log T by simulation.
 */
type Localized = Record<
  string,
  {
    localization: number;
    rho_mean: number;
    entropy: number;
    /** L of the sample's heads: the largest predicted one, and the largest and the median of the measured ones. */
    predicted: number;
    measured: number;
    median: number;
  }
>;

export const localizePresets: readonly Preset<State, Localized>[] = [
  {
    id: 'small',
    figure: 'lead',
    step: 1,
    name: 'Small variance',
    text: 'Squeeze the eigenvalues together: $L$ rises. Here half of the positions pass the gradient, the late ones.',
    state: { variance: OPENING.to },
    claim: ({ small }) =>
      small.localization > 0.45 && small.localization < 0.55 && Math.abs(small.rho_mean - 0.5) < 0.05,
  },
  {
    id: 'large',
    figure: 'lead',
    step: 2,
    name: 'Large variance',
    text:
      'Each row attends to one key, and every position passes the gradient rarely (mean of $\\rho$ {large.rho_mean}): ' +
      'positions are alike.',
    state: { variance: OPENING.from },
    claim: ({ small, large }) =>
      large.localization < 0.25 * small.localization && large.rho_mean < 0.5 * small.rho_mean && large.entropy < 0.03,
  },
  {
    id: 'fails',
    figure: 'lead',
    step: 3,
    name: 'Mean near zero',
    text:
      '<b>Without a mean the claim fails.</b> Below $\\xi/\\lambda = 2/(T-1)$, $\\xi = md$, all positions pass the gradient ' +
      'at zero variance: $L$ = {fails.localization}, and a larger variance <em>raises</em> it.',
    state: { mean: 0.004, variance: 0.0001 },
    claim: ({ fails, limit }) => fails.localization < 0.01 && limit.localization > fails.localization,
  },
  {
    id: 'finding',
    figure: 'lead',
    step: 4,
    name: 'Trained heads',
    text:
      'The theory predicts $L$ up to {finding.predicted} for the heads of MiniLM. The same index of their attention to text ' +
      'is at most {finding.measured} (median {finding.median}): the theory does not explain these heads.',
    state: { detail: 'heads', dots: 'measured' },
    claim: ({ finding }) =>
      finding.predicted > 0.4 && finding.measured < 0.1 * finding.predicted && finding.median < 0.5 * finding.measured,
  },
  {
    id: 'dead',
    figure: 'lead',
    name: 'Almost no position passes',
    text:
      'Every position is equally unlikely to pass the gradient: the mean of $\\rho$ is {dead.rho_mean} and falls as ' +
      '$1/\\sqrt{v}$, while $L$ stays at {dead.localization}, the same on every line.',
    state: { variance: 10000, measure: 'rho_mean' },
    claim: ({ dead, large, limit }) =>
      dead.rho_mean < 0.1 * large.rho_mean &&
      Math.abs((limit.rho_mean / dead.rho_mean) * Math.sqrt(100 / 10000) - 1) < 0.1 &&
      Math.abs(dead.localization - limit.localization) < 0.01,
  },
  {
    id: 'zero',
    figure: 'lead',
    name: 'Zero mean',
    text:
      'Averaged over sequences no position is preferred, $L$ is {zero.localization}. A single row does prefer some ' +
      'keys, which differ from sequence to sequence: its entropy is {zero.entropy}, not 1.',
    state: { mean: 0, variance: 0.01 },
    claim: ({ zero }) => zero.localization < 0.05 && zero.entropy > 0.65 && zero.entropy < 0.8,
  },
  {
    id: 'early',
    figure: 'lead',
    name: 'Early',
    text: 'With a negative mean the first tokens pass the gradient.',
    state: { mean: -0.25, variance: 0.001 },
    claim: ({ early }) => early.localization > 0.3,
  },
  {
    id: 'late',
    figure: 'lead',
    name: 'Late',
    text: 'With a small positive mean the last tokens pass the gradient.',
    state: { mean: 0.1, variance: 0.0001 },
    claim: ({ late }) => late.localization > 0.3,
  },
  {
    id: 'middle',
    figure: 'lead',
    name: 'Middle',
    text: 'With a very large mean the last tokens saturate, so that only the middle tokens pass the gradient.',
    state: { mean: 1, variance: 0.01 },
    claim: ({ middle }) => middle.localization > 0.3,
  },
  {
    id: 'four',
    figure: 'lead',
    name: '4 eigenvalues',
    text: 'Four eigenvalues are too few for the normal approximation: the circles leave the line.',
    state: { ensemble: 'two-point', mean: 4, variance: 10, width: 4, length: 24 },
    claim: ({ four, many }) => Math.abs(four.localization - many.localization) < 1e-3,
  },
  {
    id: 'many',
    figure: 'lead',
    name: '256 eigenvalues',
    text: 'With the same traces as the four eigenvalues, the circles lie on the line.',
    state: { ensemble: 'two-point', mean: 0.0625, variance: 0.402, width: 256, length: 24 },
    claim: ({ four, many }) => Math.abs(four.localization - many.localization) < 1e-3,
  },
];

/** Settings of which the prose of this view tells numbers, beside those of the presets. */
export const localizeFacts: readonly Fact<State, Localized>[] = [
  {
    id: 'limit',
    state: { variance: 100 },
    claim: ({ limit, large }) => Math.abs(limit.localization - large.localization) < 0.01,
  },
  {
    id: 'short',
    state: { mean: 0.001, variance: 10, length: 24 },
    claim: ({ short, limit }) => short.localization > 0.05 && short.localization < 0.8 * limit.localization,
  },
  {
    id: 'shorter',
    state: { variance: 10, length: 24 },
    claim: ({ shorter, short, limit }) =>
      shorter.localization > short.localization && shorter.localization < limit.localization,
  },
  {
    id: 'steep',
    state: { mean: 1, variance: 10, length: 24 },
    claim: ({ steep, limit }) => steep.localization > 3 * limit.localization,
  },
];
