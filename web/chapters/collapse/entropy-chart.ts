import type { Markish } from '@observablehq/plot';
import { tick } from '../../charts/format';
import type { Entry } from '../../charts/legend';
import type { Mark } from '../../charts/mark-tip';
import type { Chart } from '../../charts/plot';
import type { LayerMeasure } from '../../engine/protocol';
import { curveMarks, depthChart, endsText, thinMarks, tipsOf } from './depth-chart';
import { pointsOf, type Curve, type StackCurves } from './stack-curves';
import type { State } from './state';

const RANGE = [0, 1] as const;

/** What is drawn below the mean, each through marks of its own shape. */
const MINIMUM = { measure: 'entropy_minimum', name: 'smallest row', symbol: 'triangle' } as const;
const BOUND = { measure: 'entropy_bound', name: 'lower bound', symbol: 'times' } as const;
type Extreme = typeof MINIMUM | typeof BOUND;

/** Whether only the queries of the last block are shown, which see all the others. */
function onlyLast({ mask, rows }: Readonly<State>): boolean {
  return mask === 'blocks' && rows === 'last';
}

function meanOf(state: Readonly<State>): LayerMeasure {
  return onlyLast(state) ? 'entropy_final' : 'entropy';
}

/** They are known for all rows together only; the bound holds for the exact softmax. */
function extremesOf(state: Readonly<State>): Extreme[] {
  if (onlyLast(state)) return [];
  return state.softmax === 'exact' ? [MINIMUM, BOUND] : [MINIMUM];
}

/** What of the attention's entropy is shown: the mean over rows, then the smallest row and the bound. */
export function entropyMeasures(state: Readonly<State>): LayerMeasure[] {
  return [meanOf(state), ...extremesOf(state).map(({ measure }) => measure)];
}

/** How the attention's entropy changes along the layers, with its lower bound; and what its marks say. */
export function entropyChart(
  curves: StackCurves,
  state: Readonly<State>,
  size: { width: number; height: (legend: number) => number },
): readonly [Mark[], Chart] {
  const label = 'attention entropy, 0 to 1';
  const y = { domain: RANGE, label, ticks: 6, tickFormat: tick };
  const mean: Entry = { text: 'mean of the rows', kind: 'ring', colours: ['var(--ink)'] };
  const others = extremesOf(state).map(({ name, symbol }): Entry => ({
    text: name,
    kind: symbol === 'times' ? 'cross' : symbol,
    colours: ['var(--ink)'],
  }));
  const marks = (curve: Curve): Markish[] => {
    const fresh = curves.isFresh(curve);
    return [
      ...extremesOf(state).flatMap(({ measure, ...look }) => thinMarks(curve, pointsOf(curve, measure), look, fresh)),
      ...curveMarks(curve, pointsOf(curve, meanOf(state)), RANGE, fresh),
    ];
  };
  const { known } = curves;
  const drawn = depthChart(known, { label, ...size, y, entries: [mean, ...others] }, known.map(marks));
  const lines = [{ measure: meanOf(state), name: 'mean attention entropy' }, ...extremesOf(state)];
  const tips = known.flatMap((curve) =>
    lines.flatMap(({ measure, name }) => tipsOf(curve, pointsOf(curve, measure), name)),
  );
  return [tips, drawn];
}

/** The mean entropy in the last layer, in a sentence; '' where there is none. */
export function entropyText(curves: readonly Curve[], state: Readonly<State>): string {
  const ends = endsText(curves, meanOf(state));
  const whose = onlyLast(state) ? ' of the queries of the last block' : '';
  return ends && `In the last layer the mean entropy${whose} is ${ends}.`;
}
