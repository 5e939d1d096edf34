// Tables and numbers that scripts write into pages.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
// @ts-expect-error a script without types
import { keptNumber } from '../../web/results/long-calls.mjs';
// @ts-expect-error a script without types
import { claimed, jsonLines, withNumbers, withTables } from '../../web/results/tables.mjs';

const numbers = {
  half: (value: string) => (Number(value) / 2).toFixed(2),
  p: (value: string) => (Number(value) < 0.001 ? 'p < 0.001' : `p ${value}`),
  share: () => '16 of 20',
  word: () => 'eight',
};

test('numbers behind comments are made anew, and nothing else', () => {
  const page = (...found: string[]) =>
    `Ends <!--=half -3-->${found[0]} lower (<!--=p 0.0001-->${found[1]}), ` +
    `<!--=p 0.2-->${found[2]}, <!--=share-->${found[3]} of <!--=word-->${found[4]} runs.`;
  const made = page('-1.50', 'p < 0.001', 'p 0.2', '16 of 20', 'eight');
  expect(withNumbers(page('7', 'p 0.31', 'p < 0.001', '3 of 4', 'two'), numbers)).toBe(made);
  expect(withNumbers(made, numbers)).toBe(made);
});

test('a verdict takes the place of another one, and a claim that fails is refused', () => {
  const decided = { verdict: () => 'refuted', holds: () => claimed(true, 'a'), fails: () => claimed(false, 'a falls') };
  for (const old of ['confirmed', 'not confirmed', 'refuted', 'open']) {
    expect(withNumbers(`It is <!--=verdict-->${old} here.`, decided)).toBe('It is <!--=verdict-->refuted here.');
  }
  expect(withNumbers('<!--=holds-->A falls.', decided)).toBe('<!--=holds-->A falls.');
  expect(() => withNumbers('<!--=fails-->A falls.', decided)).toThrow('the results no longer say that a falls');
});

test('a comment without its number, or of a number that there is not, is refused', () => {
  expect(() => withNumbers('<!--=half 3-->as much', numbers)).toThrow("a text like '1.50'");
  expect(() => withNumbers('<!--=third 3-->1', numbers)).toThrow("no number 'third'");
});

test('tables stand between their comments', () => {
  const page = (table: string) => `A\n<!-- of runs -->\n\n${table}\n\n<!-- end -->\nB`;
  expect(withTables(page('old\n\nrows'), { 'of runs': 'new' })).toBe(page('new'));
  expect(() => withTables(page('old'), {})).toThrow("no table for 'of runs'");
  // Without its end a table would take the next one with it.
  const open = '<!-- of heads -->\n\nold\n';
  for (const text of [`${open}${page('old')}`, `${page('old')}\n${open}`]) {
    const both = { 'of runs': 'new', 'of heads': 'new' };
    expect(() => withTables(text, both)).toThrow("'<!-- of heads -->' must be followed by '<!-- end -->'");
  }
});

test('a number of a long call is kept only while the files that the call reads are the same', () => {
  const kept = JSON.parse(readFileSync('web/results/long-calls.json', 'utf8'));
  const call = Object.keys(kept).find((it) => it.startsWith('parallel-contexts'))!;
  const [path, value] = Object.entries(kept[call].numbers)[0];
  const compute = () => {
    throw new Error('computed');
  };
  const words = ['parallel-contexts'];
  expect(keptNumber(call, words, path, compute)).toBe(value);
  expect(() => keptNumber(call, [...words, 'LICENSE'], path, compute)).toThrow(`is of other files for ${call}`);
  expect(() => keptNumber(call, words, 'no.path', compute)).toThrow(`has no no.path of ${call}`);
});

test('JSON with a line for each row holds the same', () => {
  const value = { runs: [{ name: 'a', rows: [{ x: 1 }, { x: null }] }], text: 'b' };
  expect(JSON.parse(jsonLines(value))).toEqual(value);
  expect(jsonLines(value).split('\n')).toContain('{"x":1},');
});
