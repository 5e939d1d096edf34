import { count, short } from '../../charts/format';
import type { Measure } from '../../engine/protocol';
import { settingControls } from '../../state/setting';
import { entryOf } from '../../ui/registry';
import { fewest, type Curves } from './localization-answers';
import type { Lines } from './localization-questions';

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
    return `${short(Math.max(...[...value].filter(Number.isFinite)))} (${settingControls.tokens.choices[tokens]})`;
  });
  return `With other tokens L is at most ${largest.join(' and ')} at m = ${short(means[0])}.`;
}

/** What the figure is called: the index falls, as the paper says, or it does not. */
export function titleOf(lines: Lines): string {
  if (lines.measure !== 'localization') {
    const axis = AXES[lines.measure];
    return `${axis[0].toUpperCase()}${axis.slice(1)} against the variance`;
  }
  if (fails(lines)) return 'Here localization rises with the variance';
  if (lines.tokens === USUAL_TOKENS) return entryOf('lead').title;
  const known = [...lines.value.slice(0, lines.variances.length)].filter(Number.isFinite);
  const falls = known[0] - (known.at(-1) ?? NaN) >= VISIBLE;
  return falls ? 'Localization falls with the variance' : 'Here attention does not localize';
}
