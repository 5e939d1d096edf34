// The first picture, which the page shows before the engine is there (of the curves that of the present mean alone), and
// the numbers in the sentences of the presets.
import type { BuildTools } from '../../../build-tools.mts';
import { meansOf, settingOf } from '../../../state/setting';
import { domainOf, FINE, lineVariances } from '../answers';
import { median, onText } from '../heads/build.mts';
import { OPENING } from '../state';
import { localizeFacts, localizePresets } from './words';

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

  const measured: number[] = (await onText(tools)).measured.map((row) => row.localization);
  const tokens = ['--length', state.length, '--tokens', state.tokens];
  const { heads } = await eigenscope('heads', sample, '--eigenvalues', ...tokens);
  // The step of the tour that shows trained heads has no point of its own.
  const predicted: number[] = heads.map((row: { localization: number }) => row.localization);
  tools.values('localize', {
    finding: { predicted: Math.max(...predicted), measured: Math.max(...measured), median: median(measured) },
  });
  const domain = domainOf(state, heads);
  const [mean] = meansOf(state);
  const variances = lineVariances(domain, FINE);
  const swept = ['--means', mean, '--variances', variances.join(), '--samples', 2];
  const ensemble = ['--ensemble', state.ensemble, '--width', state.width, '--head-width', state.head_width];
  const rest = ['--temperature', state.temperature, '--seed', state.seed, '--correlation', state.correlation];
  const { rows } = await eigenscope('sweep', ...swept, ...ensemble, ...rest, ...tokens);
  const theory: number[] = rows.map((row: { theory_localization: number }) => row.theory_localization);
  const spectrum = ['--ensemble', state.ensemble, '--width', state.width, '--seed', state.seed];
  const temperature = ['--temperature', state.temperature];
  const points = [OPENING.from, state.variance, OPENING.to].map(async (variance) => {
    const at = [...spectrum, '--mean', state.mean, '--variance', variance];
    const { moments, eigenvalues, entropy, weights, ...keys } = await eigenscope(
      'random-head',
      ...at,
      ...tokens,
      ...temperature,
    );
    const head = {
      ...rounded(keys, 5),
      moments,
      eigenvalues: rounded(eigenvalues.flat(), 5),
      entropy: rounded(entropy, 4),
      weights: weights.flat().map((weight: number) => Number(weight.toFixed(3))),
    };
    return { variance, head };
  });
  tools.write('first.json', {
    points: await Promise.all(points),
    domain,
    variances: rounded(variances, 10),
    value: rounded(theory, 5),
  });
}
