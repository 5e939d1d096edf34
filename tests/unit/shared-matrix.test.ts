// The attention matrix of a sentence in its link.
import { expect, test } from 'vitest';
import { readMatrix, writeMatrix } from '../../web/chapters/model/head-text/shared-matrix.ts';
import { modelView } from '../../web/chapters/model/state.ts';
import { VIEWS } from '../../web/chapters/views.ts';
import { readLink, writeLink } from '../../web/state/link.ts';

const tokens = ['[CLS]', 'whale.', '▁schwimmt', '🐋'];
const weights = Float32Array.from([0.1, 0.2, 0.3, 0.4, 0, 0, 1, 0, 0.25, 0.25, 0.25, 0.25, 0.7, 0.1, 0.1, 0.1]);

/** Half a level of the square root around it, as a level of the weight. */
const expectNear = (found: Float32Array, given: Float32Array) =>
  found.forEach((it, i) => expect(Math.abs(Math.sqrt(it) - Math.sqrt(given[i]))).toBeLessThanOrEqual(0.5001 / 63));

test('a matrix goes through a link, weights to within half a level', () => {
  const link = writeLink('model', modelView, { ...modelView.defaults, matrix: writeMatrix({ tokens, weights }) });
  const { state, refused } = readLink(link, VIEWS, () => modelView.defaults);
  expect(refused.size).toBe(0);
  const found = readMatrix(String(state.matrix))!;
  expect(found.tokens).toEqual(tokens);
  expectNear(found.weights, weights);
});

test('a causal matrix is written without the keys after the query', () => {
  const causal = weights.map((weight, at) => (at % 4 <= Math.floor(at / 4) ? weight : 0));
  const text = writeMatrix({ tokens, weights: causal });
  expect(text.indexOf('.')).toBe(10);
  expectNear(readMatrix(text)!.weights, causal);
});

test('matrices that are too large for a link, and tokens that it cannot carry, are not written', () => {
  const of = (length: number, token: string) => ({
    tokens: Array.from({ length }, () => token),
    weights: new Float32Array(length ** 2).fill(1 / length),
  });
  expect(writeMatrix(of(32, 'a')).length).toBeLessThan(1200);
  expectNear(readMatrix(writeMatrix(of(32, 'a')))!.weights, of(32, 'a').weights);
  for (const it of [of(33, 'a'), of(1, 'a'), of(3, 'line\nbreak'), of(3, '\u202e'), of(3, 'a'.repeat(41)), of(3, '')])
    expect(writeMatrix(it)).toBe('');
});

test.each([
  ['no tokens', 'AAAA'],
  ['too few weights', 'AA.a\nb'],
  ['too many weights', 'AAAAA.a\nb'],
  ['no weights', '.a\nb'],
  ['another character', 'AA<A.a\nb'],
  ['a row above 1', '____.a\nb'],
  ['an empty token', 'AAAA.a\n'],
  ['a character that turns the text', 'AAAA.a\n\u202eb'],
  ['a megabyte', `${'A'.repeat(1e6)}.a\nb`],
])('a link with %s is refused', (_, text) => {
  expect(readMatrix(text)).toBeNull();
  const link = `#model?matrix=${encodeURIComponent(text)}`;
  const { state, refused } = readLink(link, VIEWS, () => modelView.defaults);
  expect([...refused.keys()]).toEqual(['matrix']);
  expect(state.matrix).toBe('');
});
