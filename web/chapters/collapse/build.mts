// The numbers in the sentences of presets and prose.
import type { BuildTools } from '../../build-tools.mts';
import { collapseFacts, collapsePresets } from './presets';
import { stackOf } from './state';

export async function build(tools: BuildTools): Promise<void> {
  tools.values(
    'collapse',
    await tools.ofPresets('collapse', [...collapsePresets, ...collapseFacts], (state) => {
      const at = { means: [state.mean], variances: [state.variance], layers: 'all' as const, first_stack: 0 };
      const found = tools.run('collapse', { ...stackOf(state), ...at });
      const measures = Object.entries(found).filter(([name]) => `${name}_error` in found);
      return Object.fromEntries(measures.map(([name, values]) => [name, [...(values as Float64Array)]]));
    }),
  );
}
