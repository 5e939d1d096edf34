// docs/without-text.md must say what its results file holds.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { limitsOf } from '../../web/state/table';
// @ts-expect-error a script without types
import { page, results, tables } from '../../docs/results/without-text.mjs';
// @ts-expect-error a script without types
import { rewritten } from '../../docs/results/tables.mjs';

interface Row {
  name: string;
  level: number | null;
  entropy_rank_correlation: number;
  entropy_mean_absolute_error: number;
}
const BOOK = 'Moby Dick',
  ADDRESSES = 'State of the Union',
  BIBLE = 'King James Bible';

/** What a run found, by the name of the level. */
function levelsOf(source: string, measured: string): Record<string, Row> {
  const { summary } = results().runs.find(
    (run: { source: string; measured: string }) =>
      run.source === source && run.measured === measured,
  );
  return Object.fromEntries((summary as Row[]).map((row) => [row.name, row]));
}

/** The mean absolute error of the entropy. */
const error = (source: string, measured: string, level = 'keys') =>
  levelsOf(source, measured)[level]!.entropy_mean_absolute_error;

test('every table of the page is that of the results', () => {
  expect(rewritten(page(), tables(results()))).toBe(page());
});

test('goals are reached on Moby Dick and missed on the addresses, as the page says', () => {
  const rows = (tables(results()).goals as string).split('\n').slice(2);
  expect(rows).toHaveLength(7);
  for (const row of rows) {
    const [, measured, goal, , found, verdict] = row.split(' | ').map((it) => it.trim());
    const numbers = (text: string) => text.split(' / ').map(Number);
    const [[rank, error], [least, most]] = [numbers(found), numbers(goal)];
    expect(verdict).toBe(rank >= least && error <= most ? 'reached' : 'missed');
    expect(verdict).toBe(measured === 'Moby Dick' ? 'reached' : 'missed');
  }
});

test('even the head itself, run on Moby Dick, misses the goal on the addresses', () => {
  const { sequences } = levelsOf(BOOK, ADDRESSES);
  expect(sequences!.entropy_rank_correlation).toBeLessThan(0.99);
});

test('other addresses reach the error asked with text, and miss the rank correlation', () => {
  const { keys } = levelsOf('its other passages', ADDRESSES);
  expect(keys!.entropy_mean_absolute_error).toBeLessThanOrEqual(0.02);
  expect(keys!.entropy_rank_correlation).toBeLessThan(0.99);
});

test('a changed number changes a table', () => {
  const changed = structuredClone(results());
  changed.runs[0].summary[4].entropy_mean_absolute_error += 0.1;
  expect(tables(changed)).not.toEqual(tables(results()));
});

test('without text a level reaches what is claimed, and a text that is known better', () => {
  const text = levelsOf(BOOK, BOOK),
    zipf = levelsOf('Zipf, order of the embeddings', BOOK);
  expect(text.keys.entropy_rank_correlation).toBeGreaterThan(0.99);
  expect(text.keys.entropy_mean_absolute_error).toBeLessThan(0.02);
  expect(zipf.sequences.entropy_rank_correlation).toBeGreaterThan(0.98);
  expect(zipf.sequences.entropy_mean_absolute_error).toBeLessThan(0.03);
  expect(zipf['mean-field'].entropy_rank_correlation).toBeGreaterThan(0.98);
  expect(zipf['mean-field'].entropy_mean_absolute_error).toBeLessThan(0.03);
  const other = levelsOf('Zipf, order of the embeddings', ADDRESSES);
  expect(other.keys.entropy_mean_absolute_error).toBeLessThan(0.03);
  expect(other.keys.entropy_mean_absolute_error).toBeGreaterThan(0.028); // only just
  const ranks = Object.values(other)
    .filter(({ level }) => level !== null)
    .map((row) => row.entropy_rank_correlation);
  expect(Math.max(...ranks)).toBeLessThan(0.98); // as the page says
});

test('a text’s own words in random order predict it as well as the page says', () => {
  const ordered = 'Zipf, order of the embeddings',
    shuffled = 'its words in random order',
    texts = [BOOK, ADDRESSES, BIBLE];
  for (const text of texts) expect(error(ordered, text)).toBeLessThan(error('Zipf', text));
  const disorder = texts.map(
    (text) => error(shuffled, text) - error(text === BOOK ? BOOK : 'its other passages', text),
  );
  expect(page()).toContain(`with errors at most ${Math.max(...disorder).toFixed(3)} larger`);
  for (const text of [ADDRESSES, BIBLE]) {
    expect(error(shuffled, text)).toBeLessThan(error(BOOK, text));
  }
  const missing = texts.map((text) => error(ordered, text) - error(shuffled, text));
  const [least, most] = [Math.min(...missing), Math.max(...missing)].map((it) => it.toFixed(3));
  expect(page()).toContain(`lie ${least} to ${most} of the error`);
});

test('the byte model’s own text predicts its heads as well as the book, independent bytes do not', () => {
  const error = (source: string, level: string) => {
    const { summary } = results().sampled.find((run: { source: string }) => run.source === source);
    const rows = summary as Row[];
    return rows.find(({ name }) => name === level)!.entropy_mean_absolute_error;
  };
  for (const level of ['keys', 'mean-field', 'sequences']) {
    expect(error('the model’s own text', level)).toBeLessThan(error('Moby Dick', level) + 0.01);
    for (const source of ['uniform', 'Zipf, order of the embeddings']) {
      expect(error(source, level)).toBeGreaterThan(error(source, 'null'));
    }
  }
});

test('the front page has the numbers of random words and of the book', () => {
  const random = numbersOf('Zipf', BOOK, 'mean-field'),
    book = numbersOf(BOOK, BOOK, 'keys'),
    other = numbersOf('Zipf', ADDRESSES, 'mean-field');
  expect(readFileSync(new URL('../../README.md', import.meta.url), 'utf8')).toContain(
    `rank correlation ${random.rank}, error ${random.error}, against ${book.both} (MiniLM on Moby Dick); ` +
      `on another text ${other.both}`,
  );
});

/** Rank correlation and error, or one of them, of a measure as prose writes them. */
function numbersOf(source: string, measured: string, level: string, measure = 'entropy') {
  const row = levelsOf(source, measured)[level]! as unknown as Record<string, number>;
  const [rank, error] = ['rank_correlation', 'mean_absolute_error'].map((it) =>
    row[`${measure}_${it}`]!.toFixed(3),
  );
  return { rank, error, both: `${rank} and ${error}` };
}
/** The text of the page's chapter on checkpoints, without line breaks. */
const chapter = () =>
  readFileSync(new URL('../../web/chapters/model/view.html', import.meta.url), 'utf8').replace(
    /\s+/g,
    ' ',
  );

test('distance, decay and sensitivity are predicted as well as the page and the figure say', () => {
  const ranks = (measured: string) =>
    ['distance', 'decay', 'sensitivity_localization'].map(
      (measure) => numbersOf('Zipf', measured, 'keys', measure).rank,
    );
  const listed = ([first, second, third]: (string | undefined)[]) =>
    `${first}, ${second} and ${third}`;
  const entropy = [BOOK, ADDRESSES].map((it) => numbersOf('Zipf', it, 'keys').rank);
  expect(page()).toContain(
    `rank correlations of ${listed(ranks(BOOK))} on Moby Dick and of ${listed(ranks(ADDRESSES))} on ` +
      `the addresses; by entropy they are ${entropy.join(' and ')}.`,
  );
  expect(chapter()).toContain(
    `(rank correlations ${listed(ranks(BOOK))} on Moby Dick, ${limitsOf('queries').default} drawn rows a head) about as well as by entropy (${entropy[0]})`,
  );
  for (const { summary } of results().runs) {
    const sink = (summary as Record<string, number | string>[]).find(
      ({ name }) => name === 'sink',
    )!;
    expect(sink.distance_rank_correlation).toBeLessThan(0.5);
    expect(sink.decay_rank_correlation).toBeLessThan(0);
  }
});

test('the page says which goals are reached and which are missed', () => {
  const numbers = (source: string, measured: string, level: string) =>
    numbersOf(source, measured, level).both;
  const text = chapter();
  expect(text).toContain(
    `reach it (mean field: ${numbers('Zipf', BOOK, 'mean-field')}); on the State of the Union addresses they ` +
      `miss it (${numbers('Zipf', ADDRESSES, 'mean-field')})`,
  );
  expect(text).toContain(
    `level 8 reaches it on the book (${numbers(BOOK, BOOK, 'keys')}) and misses it on the addresses ` +
      `(${numbers(BOOK, ADDRESSES, 'keys')})`,
  );
});

test('“nearly as well” on Moby Dick and “less good” on the addresses say what the numbers are', () => {
  // Nearly as well: the errors of random words and of the mean field are nearer to the book's than to the null's.
  for (const level of ['keys', 'mean-field', 'sequences']) {
    for (const source of ['Zipf', 'Zipf, order of the embeddings']) {
      const own = error(source, BOOK, level);
      expect(own - error(BOOK, BOOK, 'keys')).toBeLessThan(0.1 * error(source, BOOK, 'null'));
      expect(error(source, ADDRESSES, level)).toBeGreaterThan(own);
    }
    expect(error('uniform', BOOK, level)).toBeGreaterThan(3 * error('Zipf', BOOK, level));
  }
  expect(error(BOOK, ADDRESSES, 'keys') - error(BOOK, ADDRESSES, 'ceiling')).toBeGreaterThan(
    error(BOOK, BOOK, 'keys') - error(BOOK, BOOK, 'ceiling'),
  );
});
