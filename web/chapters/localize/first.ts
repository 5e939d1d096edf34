import type { Regime, Signal } from '../../engine/protocol';
import { loadJson } from '../../engine/shipped';
import first from '../../generated/first.json';
import type sample from '../../generated/sample.json';
import asset from '../../generated/sample.json?shipped';
import { withConjugates } from '../../heads/conjugates';
import type { HeadRegistry, KnownHead } from '../../heads/registry';
import { tracesFrom } from '../../heads/traces';
import { MASKING, QUERY, SETTING } from '../../state/setting';
import type { FirstResult, RandomHead } from './answers';
import { type State, type Store, localizeView } from './state';

/** What the sample is called on the page. */
const SAMPLE_NAME = 'all-MiniLM-L6-v2';

/** Adds the heads of the sample, computed when the page was built, with what was predicted of them. Throws as `loadJson`. */
export async function addSample(registry: HeadRegistry, store: Store): Promise<void> {
  const heads = await loadJson<typeof sample>({ ...asset, name: 'file of the sample' });
  registry.add('sample', SAMPLE_NAME, heads.map(known));
  if (!isAsBuilt(store.state)) return;
  const value = new Map(registry.heads('shown').map((head) => [head.id, head.localization ?? NaN]));
  registry.predict({ measure: 'localization', covariance: 'identity', value });
}

/** Whether a state differs from the one of the build in nothing but the variance and what is shown. */
function isAsBuilt(state: Readonly<State>): boolean {
  const asked = [...SETTING, ...QUERY, ...MASKING, 'samples', 'measure', 'sigma'] as const;
  return asked.every((name) => name === 'variance' || state[name] === localizeView.defaults[name]);
}

function known(head: (typeof sample)[number]): KnownHead {
  return {
    ...head,
    regime: head.regime as Regime,
    signal: head.signal as Signal,
    traces: {
      embeddings: tracesFrom(head.traces.embeddings, head),
      layer: tracesFrom(head.traces.layer, head),
      random: tracesFrom(head.traces.random, head),
    },
    eigenvalues: withConjugates(head.eigenvalues),
  };
}

/** The first screen of a state that the build computed; null for any other. */
export function firstResult(state: Readonly<State>): FirstResult | null {
  const point = first.points.find(({ variance }) => variance === state.variance);
  if (!point || !isAsBuilt(state)) return null;
  const { domain, variances, value } = first;
  const numbers = (list: readonly (number | null)[]) => Float64Array.from(list, (it) => it ?? NaN);
  const lines = {
    means: [state.mean],
    variances,
    measure: 'localization' as const,
    value: numbers(value),
    error: new Float64Array(value.length),
    tokens: state.tokens,
    others: [],
  };
  const { head } = point;
  const randomHead = {
    ...head,
    eigenvalues: numbers(head.eigenvalues),
    weights: Float32Array.from(head.weights),
    entropy: numbers(head.entropy),
    mean: numbers(head.mean),
    std: numbers(head.std),
    rho: numbers(head.rho),
  } as RandomHead;
  return {
    point: { mean: state.mean, variance: state.variance, head: randomHead },
    curves: { lines, points: [], domain: [domain[0], domain[1]], key: '', wanted: 0, fresh: false },
  };
}
