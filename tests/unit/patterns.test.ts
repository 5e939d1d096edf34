// What heads attend to, from weights made by hand and from those of the sample's sentences.
import { describe, expect, test } from 'vitest';
import { EXAMPLES } from '../../web/chapters/model/patterns/patterns.ts';
import { excess, KINDS, Patterns, type KindName } from '../../web/chapters/model/patterns/patterns.ts';
import { piecesOf } from '../../web/chapters/model/passages/words.ts';
import { briefOf, wordsOf } from '../../web/chapters/model/patterns/words.ts';
import texts from '../../web/generated/sample-texts.json' with { type: 'json' };

const TOKENS = ['[CLS]', 'no', 'whale', ',', 'no', 'ship', '.', '[SEP]'];

/** Weights that are 1 for the keys that `key` names, else equal. */
const weights = (key: (query: number) => number) =>
  Float32Array.from(
    TOKENS.flatMap((_, query) =>
      TOKENS.map((_, at) => (key(query) < 0 ? 1 / TOKENS.length : Number(at === key(query)))),
    ),
  );
const main = (key: (query: number) => number) => new Patterns(TOKENS).main(weights(key));

test.each<[KindName, (query: number) => number]>([
  ['previous', (query) => Math.max(0, query - 1)],
  ['next', (query) => Math.min(7, query + 1)],
  ['itself', (query) => query],
  ['first', () => 0],
  ['separator', () => 7],
  ['repeated', (query) => (query === 1 ? 4 : query === 4 ? 1 : -1)],
  ['punctuation', (query) => (query < 3 ? 3 : 6)],
])('a head that attends to %s is found, by the share of its attention', (kind, key) => {
  expect(main(key)).toMatchObject({ kind, share: 1 });
  expect(main(() => -1)).toBe(null); // equal weights are no pattern
});

test('special tokens are no queries, and a kind needs two queries that have such a key', () => {
  // All words but the second attend to the previous token; the special tokens do not count.
  const found = new Patterns(TOKENS).of(weights((query) => (query === 2 ? 5 : query % 7 ? query - 1 : 3)));
  const share = (kind: KindName) => found.find((it) => it.kind === kind)?.share;
  expect(share('previous')).toBeCloseTo(5 / 6, 6);
  const words = new Patterns(['a', 'whale', 'swam']).of(new Float32Array(9));
  expect(words.map(({ kind }) => kind)).toEqual(['previous', 'next', 'itself', 'first']);
});

describe.each(EXAMPLES)('“$reading”', ({ find, reading }) => {
  const { heads, weights, passages } = texts[reading as keyof typeof texts];
  const patterns = new Patterns(passages[0]!.tokens);
  const found = weights.map(({ layer, head, weights }) => {
    const own = Float32Array.from(weights.flat());
    const { entropy } = heads.find((it) => it.layer === layer && it.head === head)!;
    return { place: `${layer}.${head}`, entropy, pattern: patterns.main(own), all: patterns.of(own) };
  });

  test(`has a head that shows what its button says: ${find}`, () => {
    if (find === 'all') return expect(Math.max(...found.map(({ entropy }) => entropy))).toBeGreaterThan(0.9);
    const share = ({ all }: (typeof found)[0]) => excess(all.find(({ kind }) => kind === find)!);
    const best = found.reduce((a, b) => (share(a) >= share(b) ? a : b));
    expect(best.pattern?.kind).toBe(find);
    if (find === 'previous') expect(best).toMatchObject({ place: '0.2', entropy: expect.closeTo(0, 1) });
  });
});

test('the sentences of the examples show different things', () => {
  expect(new Set(EXAMPLES.map(({ find }) => find)).size).toBe(EXAMPLES.length);
  expect(new Set(EXAMPLES.map(({ reading }) => reading)).size).toBe(EXAMPLES.length);
});

test('what a head does is told in words, by its pattern and its measured entropy', () => {
  const pattern = { kind: 'previous', share: 0.874, uniform: 0.125 } as const;
  const words = (entropy: number, of: typeof pattern | null, passages = entropy) =>
    wordsOf({ entropy, distance: 1.2 }, of, passages);
  expect(words(0.93, null)).toBe(
    'On this text the head is nearly uniform: each query spreads its attention over nearly all keys (entropy 0.93).',
  );
  expect(words(0.05, pattern)).toMatch(/^87% of its attention goes to the previous token \(equal weights: 13%\)\. On/);
  expect(words(0.05, pattern)).toMatch(
    /nearly one-hot: each query attends to about one key, on average 1.2 tokens away \(/,
  );
  expect(words(0.7, null, 0.95)).toMatch(/broad: .* On the passages of figure \d+ it is nearly/);
  expect(words(0.7, null, NaN)).not.toMatch(/passages/);
  expect(words(NaN, null)).toBe('');
  expect(briefOf(0.3, pattern)).toBe(KINDS.previous.brief);
  expect(briefOf(0.95, null)).toBe('nearly uniform');
});

test('a passage is shown around query and key, joined as its tokenizer cut it', () => {
  const read = (tokens: string[], query: number, key: number) =>
    piecesOf(tokens, { query, key })
      .map(({ text, role }) => (role === 'query' ? `_${text}_` : role === 'key' ? `*${text}*` : text))
      .join('');
  expect(read(['[CLS]', 'in', '##fall', '##ibly', 'lead'], 4, 2)).toBe(' [CLS] in*fall*ibly _lead_');
  expect(read(['the', 'Ġwhale', 'Ġsw', 'am'], 3, 1)).toBe('the *whale* sw_am_');
  expect(read([...'a whale'], 3, 2)).toBe('a *w*_h_ale');
  const long = Array.from({ length: 40 }, (_, i) => `t${i}`);
  expect(read(long, 38, 1)).toBe(' t0 *t1* t2 t3 t4 t5 t6 t7 t8 …  t31 t32 t33 t34 t35 t36 t37 _t38_ t39');
});
