import type { FigureContext } from '../ui/figure';
import type { HeadRegistry } from './registry';
import { traced } from './traces';
import type { Measure } from '../engine/protocol';
import type { Covariance } from '../state/heads';
import { queryOf, type QueryState, type SettingState } from '../state/setting';

type AskedState = SettingState & QueryState & { measure: Measure; sigma: Covariance };

/** A measure that the theory predicts of every head, by the head's id, at the page's length and tokens. */
export async function askTheory(
  context: FigureContext<AskedState>,
  registry: HeadRegistry,
  measure: Measure,
): Promise<Map<string, number>> {
  const { length, tokens, correlation, sigma, seed } = context.state;
  const heads = traced(registry.heads('shown'), sigma); // hidden ones too: they may be shown again
  const traces = {
    xi: heads.map(({ traces }) => traces.xi),
    eta_s: heads.map(({ traces }) => traces.eta_s),
    eta_f: heads.map(({ traces }) => traces.eta_f),
    temperature: heads.map(({ head }) => Math.sqrt(head.head_width)),
  };
  const samples = context.quality === 'quick' ? 100 : 1000;
  const query = queryOf(context.state);
  const common = { length, tokens, correlation, measure, seed, samples, ...query };
  const { value } =
    heads.length > 0 ? await context.run('head-theory', { ...common, ...traces }) : { value: [] as number[] };
  return new Map(heads.map(({ head }, i) => [head.id, value[i]]));
}

/** Asks what the theory predicts of every head of the page's measure. */
export async function askPredictions(context: FigureContext<AskedState>, registry: HeadRegistry): Promise<void> {
  const { measure, sigma } = context.state;
  registry.predict({ measure, covariance: sigma, value: await askTheory(context, registry, measure) });
}
