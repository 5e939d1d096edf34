// What is said of the passages on which a head has its largest weights.
import type { Corpus } from '../reading/measurements';

/** Passages that are listed for each head. */
export const LISTED = 4;

/** Tokens that are shown on both sides of query and key; where these are farther apart the tokens between are left out. */
const AROUND = 7;

export type Weight = Corpus['largest_weights'][number];

/** A piece of a passage as it is read: text, the query, the key, or what is left out. */
interface Piece {
  text: string;
  role: 'text' | 'query' | 'key' | 'gap';
}

/** The tokens around the query and the key of a weight, joined as their tokenizer cut them. */
export function piecesOf(tokens: readonly string[], { query, key }: Pick<Weight, 'query' | 'key'>): Piece[] {
  const near = (at: number) => [query, key].some((place) => Math.abs(at - place) <= AROUND);
  const hasSpaces = tokens.some((token) => /[Ġ▁]/.test(token));
  const isWords = tokens.some((token) => token.length > 1);
  const pieces: Piece[] = [];
  tokens.forEach((token, at) => {
    if (!near(at)) {
      if (pieces.at(-1)?.role !== 'gap') pieces.push({ text: ' … ', role: 'gap' });
      return;
    }
    const role = at === query ? 'query' : at === key ? 'key' : 'text';
    const isPart = hasSpaces || !isWords || token.startsWith('##');
    const text = hasSpaces ? token.replace(/[Ġ▁]/g, ' ') : token.replace(/^##/, '');
    if (!isPart || (text.startsWith(' ') && text.trim() !== '')) pieces.push({ text: ' ', role: 'text' });
    pieces.push({ text: text.trim() || text, role });
  });
  return pieces;
}
