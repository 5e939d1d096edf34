// The attention matrix of a sentence inside its link, so that the link opens before any model is loaded.

/** Most tokens of a matrix in a link: with more, links are cut by chats and mail. */
const MOST_TOKENS = 32;
/** Most characters of a token. */
const MOST_LETTERS = 40;
/** A weight is written as one of 64 levels of its square root, each a character. */
const LEVELS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const TOP = LEVELS.length - 1;
/** Rounding to the levels adds at most so much to the sum of a row, which is at most 1. */
const ROUNDING = 0.1;
/** Between the weights and the tokens, and between two tokens. */
const [AFTER_WEIGHTS, BETWEEN] = ['.', '\n'];

export interface SharedMatrix {
  tokens: readonly string[];
  /** Row by row, a row for each query. */
  weights: Float32Array;
}

const isToken = (token: string) => /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+$/u.test(token) && token.length <= MOST_LETTERS;

/** The places of a matrix of `length` tokens that are written: without the keys after the query where it is causal. */
function placesOf(length: number, isCausal: boolean): number[] {
  const places = Array.from({ length: length ** 2 }, (_, at) => at);
  return isCausal ? places.filter((at) => at % length <= Math.floor(at / length)) : places;
}

/** The matrix as a value of a link; '' where it has too many tokens, or one that a link cannot carry. */
export function writeMatrix({ tokens, weights }: SharedMatrix): string {
  const { length } = tokens;
  if (length < 2 || length > MOST_TOKENS || !tokens.every(isToken)) return '';
  const isCausal = weights.every((weight, at) => weight === 0 || at % length <= Math.floor(at / length));
  const levels = placesOf(length, isCausal).map((at) => LEVELS[Math.round(Math.sqrt(weights[at]) * TOP)]);
  return levels.join('') + AFTER_WEIGHTS + tokens.join(BETWEEN);
}

/** The matrix that a link has; null for a text that is none. */
export function readMatrix(text: string): SharedMatrix | null {
  const longest = MOST_TOKENS ** 2 + MOST_TOKENS * (MOST_LETTERS + 1);
  const end = text.length > longest ? -1 : text.indexOf(AFTER_WEIGHTS);
  const tokens = text.slice(end + 1).split(BETWEEN);
  const { length } = tokens;
  if (end < 0 || length < 2 || length > MOST_TOKENS || !tokens.every(isToken)) return null;
  const isCausal = end === (length * (length + 1)) / 2;
  if (!isCausal && end !== length ** 2) return null;
  const weights = new Float32Array(length ** 2);
  for (const [i, at] of placesOf(length, isCausal).entries()) {
    const level = LEVELS.indexOf(text[i]);
    if (level < 0) return null;
    weights[at] = (level / TOP) ** 2;
  }
  const sumOf = (query: number) => weights.subarray(query * length, (query + 1) * length).reduce((a, b) => a + b, 0);
  return tokens.every((_, query) => sumOf(query) <= 1 + ROUNDING) ? { tokens, weights } : null;
}
