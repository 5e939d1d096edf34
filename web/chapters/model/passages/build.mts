// The passages of the page's own text on which each head of the sample has its largest weights.
import type { BuildTools } from '../../../build-tools.mts';
import { LISTED } from './words';

export async function build({ eigenscope, passages, rounded, sample, text, write }: BuildTools): Promise<void> {
  const asked = ['--file', text, ...passages, '--largest-weights', LISTED];
  const answer = await eigenscope('attend', sample, ...asked);
  const tokens = answer.passages.map(({ tokens }: { tokens: string[] }) => ({ ids: [], tokens }));
  write('sample-passages.json', { passages: tokens, largest_weights: rounded(answer.largest_weights, 3), heads: [] });
}
