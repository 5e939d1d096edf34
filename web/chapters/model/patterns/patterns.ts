// What a head attends to on a text, from its weights: the previous token, the first one, the same word, and so on.
import type { Attended } from '../../../engine/protocol';

/** A kind of key to which a head may give its attention. */
interface Kind {
  /** What "attends to" is followed by, and a word or two for buttons. */
  keys: string;
  brief: string;
  /** Whether a key is of the kind for a query; both are numbers of tokens. */
  is(query: number, key: number, tokens: readonly string[]): boolean;
}

const PUNCTUATION = /^\p{P}+$/u;
/** Tokens that a tokenizer adds: [CLS], <s>, <|endoftext|>. */
const SPECIAL = /^(\[[A-Z]+\]|<.+>)$/;

export const KINDS = {
  previous: { keys: 'the previous token', brief: 'previous token', is: (query, key) => key === query - 1 },
  next: { keys: 'the next token', brief: 'next token', is: (query, key) => key === query + 1 },
  itself: { keys: 'the token itself', brief: 'itself', is: (query, key) => key === query },
  first: { keys: 'the first token, an attention sink', brief: 'first token', is: (_, key) => key === 0 },
  separator: {
    keys: 'the last special token, an attention sink',
    brief: 'separator',
    is: (_, key, tokens) => key > 0 && key === tokens.length - 1 && SPECIAL.test(tokens[key]),
  },
  repeated: {
    keys: 'other places of the same token',
    brief: 'repeated words',
    is: (query, key, tokens) => key !== query && tokens[key] === tokens[query],
  },
  punctuation: { keys: 'the punctuation', brief: 'punctuation', is: (_, key, tokens) => PUNCTUATION.test(tokens[key]) },
} as const satisfies Record<string, Kind>;
export type KindName = keyof typeof KINDS;

/** The mean weight that the queries of a head give to keys of a kind, and what equal weights would give. */
export interface Pattern {
  kind: KindName;
  share: number;
  uniform: number;
}

/** A head attends to a kind of keys if these get so much of its attention, and so much more than by equal weights. */
const LEAST = 0.4;
const MORE = 0.3;
/** Fewer queries with such keys are an accident of the text. */
const QUERIES = 2;

/** The keys of every kind for the queries of a text; special tokens are no queries. */
export class Patterns {
  private keys: { kind: KindName; ofQueries: { query: number; keys: number[] }[] }[];

  constructor(private tokens: readonly string[]) {
    const places = [...tokens.keys()];
    const queries = places.filter((it) => !SPECIAL.test(tokens[it]));
    this.keys = (Object.keys(KINDS) as KindName[]).map((kind) => {
      const keysOf = (query: number) => places.filter((key) => KINDS[kind].is(query, key, tokens));
      const all = queries.map((query) => ({ query, keys: keysOf(query) }));
      return { kind, ofQueries: all.filter(({ keys }) => keys.length > 0) };
    });
  }

  /** What a head gives to each kind, by its weights, row by row; kinds that too few queries have are left out. */
  of(weights: Float32Array): Pattern[] {
    const { length } = this.tokens;
    return this.keys
      .filter(({ ofQueries }) => ofQueries.length >= QUERIES)
      .map(({ kind, ofQueries }) => {
        const mean = (value: (query: number, key: number) => number) =>
          ofQueries.reduce((sum, { query, keys }) => keys.reduce((own, key) => own + value(query, key), sum), 0) /
          ofQueries.length;
        const share = mean((query, key) => weights[query * length + key]);
        return { kind, share, uniform: mean(() => 1 / length) };
      });
  }

  /** What a head attends to: the kind that exceeds equal weights most; null where that is little. */
  main(weights: Float32Array): Pattern | null {
    const found = this.of(weights).filter((it) => it.share >= LEAST && excess(it) >= MORE);
    return found.sort((a, b) => excess(b) - excess(a))[0] ?? null;
  }
}

/** How much more than by equal weights a kind of keys gets. */
export const excess = ({ share, uniform }: Pattern) => share - uniform;

/** The tokens of the one passage that is read. */
export function tokensOf({ passages: [passage] }: Attended): readonly string[] {
  return passage?.tokens ?? [];
}

export interface Example {
  /** What its button says. */
  name: string;
  /** The kind of keys that the head attends to; 'all' where its attention is the most uniform. */
  find: KindName | 'all';
  reading: string;
}

/** Sentences for a model to read, each with what one head of the sample does on it; tests/unit/patterns.test.ts. */
export const EXAMPLES: readonly Example[] = [
  { name: 'Previous token', find: 'previous', reading: 'When does attention localize?' },
  { name: 'Next token', find: 'next', reading: 'To be, or not to be, that is the question.' },
  { name: 'Repeated words', find: 'repeated', reading: 'New York is not Boston, and Boston is not New York.' },
  { name: 'Attention sink', find: 'first', reading: 'The quick brown fox jumps over the lazy dog.' },
  { name: 'Punctuation', find: 'punctuation', reading: 'A small whale followed the ship; the ship did not stop.' },
  { name: 'All keys alike', find: 'all', reading: 'It was the best of times, it was the worst of times.' },
];
