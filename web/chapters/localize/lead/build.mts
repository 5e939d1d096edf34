// The first picture, which the page shows before the engine is there, and the numbers in the sentences of the presets.
import type { BuildTools } from '../../../build-tools.mts';
import { meansOf, settingOf } from '../../../state/setting';
import { localizeFacts } from '../facts';
import { domainOf, FINE, lineVariances, otherTokens, sweepVariances } from '../localization-questions';
import { localizePresets } from '../presets';

/** Sequences behind each point of the first picture; the page goes on from there. */
const FIRST_SAMPLES = 400;

export async function build(tools: BuildTools): Promise<void> {
  const { eigenscope, rounded, run, sample } = tools;
  const state = tools.defaults('localize');
  const presets = [...localizePresets, ...localizeFacts];
  tools.values(
    'localize',
    await tools.ofPresets('localize', presets, (own) => {
      const setting = settingOf(own);
      const { localization, rho_mean } = run('propagation', setting);
      const { entropy } = run('simulate', { ...setting, samples: own.samples });
      return { localization, rho_mean, entropy };
    }),
  );

  const tokens = ['--length', state.length, '--tokens', state.tokens];
  const { heads } = await eigenscope('heads', sample, '--eigenvalues', ...tokens);
  const domain = domainOf(state, heads);
  const means = meansOf(state);
  const sweep = async (variances: readonly number[], samples: number, own = means, process = state.tokens) => {
    const swept = ['--means', own.join(), '--variances', variances.join(), '--samples', samples];
    const ensemble = ['--ensemble', state.ensemble, '--width', state.width, '--head-width', state.head_width];
    const rest = ['--temperature', state.temperature, '--seed', state.seed, '--length', state.length];
    const sequence = ['--tokens', process, '--correlation', state.correlation];
    return (await eigenscope('sweep', ...swept, ...ensemble, ...rest, ...sequence)).rows as Swept[];
  };
  const variances = lineVariances(domain, FINE);
  const theory = async (own = means, process = state.tokens) =>
    (await sweep(variances, 2, own, process)).map((row) => row.theory_localization);
  const others = otherTokens(state).map(async (process) => ({
    tokens: process,
    value: rounded(await theory(means.slice(0, 1), process), 6),
  }));
  const spectrum = ['--ensemble', state.ensemble, '--width', state.width, '--seed', state.seed];
  const at = ['--mean', state.mean, '--variance', state.variance];
  const temperature = ['--temperature', state.temperature];
  const found = await eigenscope('attention', ...spectrum, ...at, ...tokens, ...temperature);
  const { eigenvalues, ...moments } = await eigenscope('spectrum', ...spectrum, ...at);
  tools.write('first.json', {
    point: {
      spectrum: { ...moments, eigenvalues: rounded(eigenvalues.flat(), 5) },
      attention: {
        length: found.length,
        entropy: rounded(found.entropy, 4),
        weights: found.weights.flat().map((weight: number) => Number(weight.toFixed(3))),
      },
      theory: rounded(await eigenscope('propagation', ...spectrum, ...at, ...tokens, ...temperature), 6),
    },
    domain,
    means,
    variances: rounded(variances, 10),
    value: rounded(await theory(), 6),
    others: await Promise.all(others),
    points: rounded(await sweep(sweepVariances(domain), FIRST_SAMPLES), 6),
  });
}

interface Swept {
  theory_localization: number;
}
