import first from '../../generated/first.json';
import sample from '../../generated/sample.json';
import type { Regime, Signal, SweepPoint, TokenProcess } from '../../engine/protocol';
import { withConjugates } from '../../heads/conjugates';
import type { HeadRegistry, KnownHead } from '../../heads/registry';
import { tracesFrom } from '../../heads/traces';
import { MASKING, QUERY, SETTING } from '../../state/setting';
import { questionOf, type FirstResult } from './localization-answers';
import type { Point } from './point';
import { type State, localizeView } from './state';

/** What the sample is called on the page. */
export const SAMPLE_NAME = 'all-MiniLM-L6-v2';

/** The heads of the sample, computed when the page was built. */
export function sampleHeads(): KnownHead[] {
  return sample.map((head) => ({
    ...head,
    regime: head.regime as Regime,
    signal: head.signal as Signal,
    traces: {
      embeddings: tracesFrom(head.traces.embeddings, head),
      layer: tracesFrom(head.traces.layer, head),
      random: tracesFrom(head.traces.random, head),
    },
    eigenvalues: withConjugates(head.eigenvalues),
  }));
}

/** The first screen of the default state, from the build; null for any other state. */
export function firstResult(state: Readonly<State>, registry: HeadRegistry): FirstResult | null {
  const plain = localizeView.defaults;
  const asked = [...SETTING, ...QUERY, ...MASKING, 'samples', 'measure', 'sigma'] as const;
  if (asked.some((name) => state[name] !== plain[name])) return null;
  const { domain, means, variances, value, others } = first;
  const numbers = (list: readonly (number | null)[]) => Float64Array.from(list, (it) => it ?? NaN);
  const heads = registry.heads('shown');
  registry.predict({
    measure: 'localization',
    covariance: 'identity',
    value: new Map(heads.map((head) => [head.id, head.localization ?? NaN])),
  });
  const lines = {
    means,
    variances,
    measure: 'localization' as const,
    value: numbers(value),
    error: new Float64Array(value.length),
    tokens: state.tokens,
    others: others.map((it) => ({ tokens: it.tokens as TokenProcess, value: numbers(it.value) })),
  };
  const curves = {
    lines,
    points: first.points as SweepPoint[],
    domain: [domain[0], domain[1]] as const,
    key: questionOf(state),
    wanted: state.samples,
    fresh: true,
  };
  return { point: pointOf(state), curves };
}

/** The point of the default state. */
function pointOf({ mean, variance }: Readonly<State>): Point {
  const { spectrum, attention, theory } = first.point;
  const numbers = (list: readonly (number | null)[]) => Float64Array.from(list, (value) => value ?? NaN);
  return {
    mean,
    variance,
    spectrum: { ...spectrum, eigenvalues: numbers(spectrum.eigenvalues) },
    attention: {
      length: attention.length,
      weights: Float32Array.from(attention.weights),
      entropy: numbers(attention.entropy),
    },
    theory: {
      ...theory,
      mean: numbers(theory.mean),
      std: numbers(theory.std),
      rho: numbers(theory.rho),
    } as Point['theory'],
  };
}
