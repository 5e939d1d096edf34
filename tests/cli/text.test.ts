import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { expectRefused, json, MINILM, pages, run, temporaryFolder } from './eigenscope.ts';

const folder = temporaryFolder();

/** A file with a text for a few passages. */
function prose(): string {
  const path = join(folder, 'prose.txt');
  writeFileSync(path, pages());
  return path;
}

/** A file that is not UTF-8. */
function noText(): string {
  const path = join(folder, 'bytes.txt');
  writeFileSync(path, Buffer.from([0x61, 0x62, 0xff]));
  return path;
}

describe('eigenscope attend', () => {
  test('measures every head and layer on a sentence, with the matrices on request', () => {
    const { passages, layers, heads, weights } = json('attend', { text: 'The whale swam.' }, MINILM, '--weights');
    expect(passages).toHaveLength(1);
    expect(passages[0].tokens).toEqual(['[CLS]', 'the', 'whale', 'swam', '.', '[SEP]']);
    expect(layers).toHaveLength(6);
    expect(heads).toHaveLength(72);
    for (const head of heads) {
      expect(head.entropy).toBeGreaterThanOrEqual(0);
      expect(head.entropy).toBeLessThanOrEqual(1);
      expect(head.sink).toBeCloseTo(head.sink_first + head.sink_separator, 9);
    }
    expect(weights).toHaveLength(72);
    const [row] = weights[40].weights;
    expect(row).toHaveLength(6);
    expect(row.reduce((sum: number, p: number) => sum + p, 0)).toBeCloseTo(1, 5);
  });

  test('takes a file in passages, as CSV', () => {
    const ran = run('attend', { file: prose(), length: 32, passages: 2 }, MINILM, '--csv');
    expect(ran.status).toBe(0);
    expect(ran.stdout.trim().split('\n')).toHaveLength(73);
    expect(ran.stderr).toMatch(/of \d+ passages the first 2 are measured/);
  });

  test('refuses what it cannot use, by name', () => {
    const refusals: [Record<string, unknown>, number, RegExp][] = [
      [{}, 2, /^eigenscope: --text must have /],
      [{ text: 'a', length: 513 }, 2, /--length must be at most 512, .*: found 513/],
      [{ text: 'a', length: 2 }, 2, /--length must be .*: found 2/],
      [{ text: 'a', passages: 0 }, 2, /--passages must be .*: found 0/],
      [{ file: join(folder, 'none') }, 1, /none: /],
      [{ file: noText() }, 2, /--file must be UTF-8: byte 3 is not/],
      [{ text: 'a', tokenizer: prose() }, 1, /must be JSON in UTF-8; the text is not, at line 1, column 1$/m],
    ];
    for (const [options, status, message] of refusals) {
      const ran = run('attend', options, MINILM);
      expect(ran.stderr).toMatch(message);
      expect(ran.status).toBe(status);
    }
  });

  test('refuses a config.json of another width', () => {
    const config = join(folder, 'wide.json');
    const own = JSON.parse(readFileSync(`${MINILM}/config.json`, 'utf8'));
    writeFileSync(config, JSON.stringify({ ...own, hidden_size: 512 }));
    const refused = `query.weight: its width is 384, but 'hidden_size' in ${config} is 512`;
    expectRefused(run('attend', { text: 'The whale swam.', config }, MINILM), refused, 1);
  });

  test('refuses a tokenizer of another model by its token', () => {
    const tokenizer = join(folder, 'tokenizer.json');
    const own = JSON.parse(readFileSync(`${MINILM}/tokenizer.json`, 'utf8'));
    writeFileSync(
      tokenizer,
      JSON.stringify({ ...own, model: { ...own.model, vocab: { ...own.model.vocab, the: 999_999 } } }),
    );
    expectRefused(
      run('attend', { text: 'The whale swam.', tokenizer }, MINILM),
      "tokenizer.json: it must be that of the model, which has 30522 tokens: its token 'the' is number 999999",
      1,
    );
  });
});

describe('eigenscope predict', () => {
  const options = { length: 64, passages: 2, queries: 50, resamples: 100 };

  test('goes from level to level, the same for the same seed', { timeout: 60_000 }, () => {
    const found = json('predict', { ...options, file: prose() }, MINILM);
    expect(found.layer).toHaveLength(72);
    for (const row of found.entropy) expect(row).toHaveLength(11);
    const names = found.summary.map((row: { name: string }) => row.name);
    expect(names).toEqual([...found.name, 'ceiling', 'null']);
    const [, spectrum, , , sink] = found.summary;
    expect(sink.entropy_rank_correlation).toBeGreaterThan(0.9);
    expect(sink.entropy_rank_correlation).toBeGreaterThan(spectrum.entropy_rank_correlation);
    expect(sink.entropy_rank_correlation_low).toBeLessThanOrEqual(sink.entropy_rank_correlation);
    const again = json('predict', { ...options, file: prose() }, MINILM, '--summary');
    expect(again).toMatchObject({ summary: found.summary, layer: [], entropy: [] });
    for (const row of found.summary) expect(row.entropy_pairs).toBe(72);
    // Statistics and measurement are of one text: its other passages are the ceiling.
    const [sequences, ceiling, constant] = found.summary.slice(-3);
    expect(ceiling.entropy_mean_absolute_error).toBe(sequences.entropy_mean_absolute_error);
    expect(ceiling.entropy_mean_absolute_error).toBeLessThan(constant.entropy_mean_absolute_error);
    expect(constant.entropy_rank_correlation).toBeNull();
  });

  test('predicts without text, and measures on a text that is named', { timeout: 180_000 }, () => {
    const alone = json('predict', options, MINILM);
    expect(alone.summary).toEqual([]);
    expect(alone.layer).toHaveLength(72);
    expect(alone.measured_entropy[3]).toBeNull();
    const texts = { 'measure-file': prose(), 'transfer-file': prose() };
    const found = json('predict', { ...options, ...texts }, MINILM);
    const entropy = found.entropy[3][7];
    expect(entropy).toBe(alone.entropy[3][7]); // the text does not enter
    expect(found.measured_entropy[3]).toBeGreaterThan(0);
    const last = found.summary.slice(-3);
    expect(last.map(({ name }: { name: string }) => name)).toEqual(['ceiling', 'transfer', 'null']);
    // The same text gives the same passages, whose transfer is perfect.
    expect(last[1].entropy_mean_absolute_error).toBe(0);
    expect(last[1].entropy_rank_correlation).toBe(1);
    expect(last[2].entropy_mean_absolute_error).toBeGreaterThan(0);
    // The metric of random tokens orders the heads better than W_QK alone.
    type Expected = { metric: string; quantity: string; rank_correlation: number };
    const rank = (metric: string) =>
      found.expectations.find((it: Expected) => it.metric === metric && it.quantity === 'spread').rank_correlation;
    expect(rank('weighted')).toBeLessThan(-0.75);
    expect(rank('bare')).toBeGreaterThan(-0.6);
    const keys = found.summary.find(({ name }: { name: string }) => name === 'keys');
    expect(keys.entropy_rank_correlation).toBeGreaterThan(0.9);
    const uniform = json('predict', { ...options, 'tokens-law': 'uniform' }, MINILM);
    expect(uniform.entropy[3][7]).not.toBe(entropy);
  });

  test('its CSV has a row for each head and level, or the summary alone', { timeout: 60_000 }, () => {
    const asked = { ...options, queries: 2, resamples: 1, file: prose() };
    const [header, ...rows] = run('predict', asked, MINILM, '--csv').stdout.trim().split('\n');
    expect(header).toMatch(/^layer,head,level,name,entropy,measured_entropy,participation,/);
    expect(rows).toHaveLength(72 * 11);
    expect(rows[12]).toMatch(/^0,1,1,spectrum,/);
    const summary = run('predict', asked, MINILM, '--summary', '--csv').stdout.trim().split('\n');
    expect(summary).toHaveLength(14);
    expect(summary[0]).toMatch(/^level,name,heads,entropy_pairs,entropy_rank_correlation,/);
    expect(summary[13]).toMatch(/^,null,72,72,,,,0\./);
  });

  test('refuses laws that there are not, by name', () => {
    const refusals: [Record<string, unknown>, RegExp][] = [
      [{ 'tokens-law': 'normal' }, /--tokens-law must be .*: found 'normal'/],
      [{ 'tokens-order': 'alphabet' }, /--tokens-order must be .*: found 'alphabet'/],
      [{ 'zipf-exponent': -1 }, /--zipf-exponent must be a number from 0 to 10: found -1/],
      [{ 'zipf-offset': 1e6 }, /--zipf-offset must be .*: found 1000000/],
      [{ 'transfer-file': prose() }, /--transfer-file .*--measure-file/],
      [{ 'measure-file': noText() }, /--measure-file must be UTF-8: byte 3 is not/],
    ];
    for (const [wrong, message] of refusals) {
      expectRefused(run('predict', { ...options, ...wrong }, MINILM), message);
    }
  });

  test('has a summary only of what is measured', () => {
    expectRefused(
      run('predict', options, MINILM, '--summary'),
      '--summary must be given with `file` or `measure_file`',
    );
  });

  test('refuses a text that is too short for the passages', () => {
    expectRefused(
      run('predict', { ...options, passages: 1000, file: prose() }, MINILM),
      /--passages must be at most those of the text: it has \d+ of 64 tokens, and 2000 are needed/,
    );
  });
});
