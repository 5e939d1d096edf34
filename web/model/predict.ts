import type { Ask } from '../figures/part';
import type { Models } from './models';

/** Asks what the theory predicts of every head at the page's length and tokens. */
export async function askPredictions(ask: Ask, models: Models): Promise<void> {
  const { length, tokens, correlation, measure, seed } = ask.state;
  const heads = models.heads('shown'); // hidden ones too: they may be shown again
  if (heads.length === 0) return;
  const traces = heads.map(({ xi, eta_s, eta_f, head_width }) => ({
    xi,
    eta_s,
    eta_f,
    temperature: Math.sqrt(head_width),
  }));
  const samples = ask.quality === 'quick' ? 100 : 1000;
  const common = { length, tokens, correlation, measure, seed, samples };
  const { value } = await ask.run('predict', { ...common, heads: traces });
  models.predict({ measure, value: new Map(heads.map((head, i) => [head.id, value[i]])) });
}
