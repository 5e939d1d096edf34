import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import operations from '../../web/generated/operations.json';
import type { PublishedResults } from '../../web/chapters/train/published-results';
import { claimText, byLoss, METHOD_NAMES, methodsOf } from '../../web/chapters/train/published-rows';
import { differencesText, sensitivityText } from '../../web/chapters/train/rates-rows';
import { verdictOf, type JudgedRun } from '../../web/chapters/train/verdict';
import type { Row, Shown } from '../../web/chapters/train/log-rows';

function row(step: number, value: Partial<Record<Shown, number>>): Row {
  return { step, value: value as Row['value'], heads: [] };
}

const baseline: JudgedRun = {
  kind: 'none',
  name: 'Baseline',
  rows: [
    row(0, { bits_per_byte: 8, entropy: 1, variance_frobenius: 0.1 }),
    row(50, { bits_per_byte: 4, entropy: 0.9, variance_frobenius: 5 }),
    row(100, { bits_per_byte: 3.5, entropy: 0.8, variance_frobenius: 9 }),
  ],
};

describe('the verdict of a comparison', () => {
  test('says what was expected and whether it was seen, at the last common step', () => {
    const locater: JudgedRun = {
      kind: 'locater',
      name: 'LocAteR',
      rows: [
        row(0, { bits_per_byte: 8, entropy: 1, variance_frobenius: 0.1 }),
        row(50, { bits_per_byte: 3.97, entropy: 0.86, variance_frobenius: 5.6e5 }),
      ],
    };
    expect(verdictOf([baseline, locater])).toBe(
      'LocAteR against Baseline at step 50: loss −0.03 bits per byte, entropy −0.04; ' +
        'the paper expects a lower loss (seen) and a higher entropy (not seen). ' +
        'Warning: the norm of W_QK in LocAteR diverged (Frobenius variance 5.6·10⁵).',
    );
  });

  test('says where the scale of W_QK grew although it is to shrink, and what is penalized', () => {
    const grown = (kind: JudgedRun['kind'], to: number, trace = 0.01): JudgedRun => ({
      ...{ kind, name: 'LocAteR' },
      rows: [
        row(0, { bits_per_byte: 8, entropy: 1, variance_frobenius: 0.5, variance: 0.02 }),
        row(100, { bits_per_byte: 3.5, entropy: 0.8, variance_frobenius: to, variance: trace }),
      ],
    });
    const rose = ' LocAteR should shrink W_QK, but the Frobenius variance rose 3 times, ' + 'to 1.5 (Baseline: 9)';
    expect(verdictOf([baseline, grown('locater', 1.5)])).toContain(
      `${rose}; the trace variance, which it penalizes, went from 0.02 to 0.01.`,
    );
    expect(verdictOf([baseline, grown('locater', 1.5, 0.03)])).toContain(
      `${rose}; the trace variance, which it penalizes, went from 0.02 to 0.03.`,
    );
    expect(verdictOf([baseline, grown('locater-frobenius', 1.5)])).toContain(`${rose}, which it penalizes.`);
    expect(verdictOf([baseline, grown('locater', 0.6)])).not.toContain('rose');
    expect(verdictOf([baseline, grown('qk-decay', 1.5)])).not.toContain('rose');
  });

  test('names the runs above the loss of a bigram table, and none where it is unknown', () => {
    const at = (name: string, loss: number, bigram: number): JudgedRun => ({
      ...{ kind: 'none', name },
      rows: [row(0, { bits_per_byte: 8, bigram_bits: bigram }), row(50, { bits_per_byte: loss, bigram_bits: bigram })],
    });
    const sentence =
      'Above the loss of a bigram table on the same text (3.48 bits per byte), which needs no attention: high.';
    expect(verdictOf([at('low', 3.4, 3.48), at('high', 3.5, 3.48)])).toContain(sentence);
    expect(verdictOf([at('low', 3.4, 3.48)])).toBe('');
    expect(verdictOf([at('high', 3.5, NaN)])).toBe('');
  });

  test('names no difference that another seed makes', () => {
    const alike: JudgedRun = { ...baseline, kind: 'locater', name: 'LocAteR' };
    expect(verdictOf([baseline, alike])).toContain('a lower loss (no clear difference)');
  });

  test('says nothing of expectations where the paper has none, and nothing before the first step', () => {
    const decay: JudgedRun = { ...baseline, kind: 'qk-decay', name: 'QK decay' };
    expect(verdictOf([baseline, decay])).toBe(
      'QK decay against Baseline at step 100: loss 0 bits per byte, entropy 0.',
    );
    const fresh = { ...decay, rows: decay.rows.slice(0, 1) };
    expect(verdictOf([baseline, fresh])).toBe('');
    expect(verdictOf([decay])).toBe('');
  });
});

describe('the published comparison', () => {
  const measure = (mean: number | null, rest = {}) => ({ runs: 4, mean, deviation: 0.2, ...rest });
  const results = {
    summary: [
      {
        ...{ axes: { method: 'none', learning_rate: '0.02' }, runs: 4, failures: 0 },
        ...{ bits_per_byte: measure(4), entropy: measure(0.2) },
      },
      {
        ...{ axes: { method: 'frobenius-m1', learning_rate: '0.02' }, runs: 4, failures: 1 },
        bits_per_byte: measure(3.7, { pairs: 4, difference: -0.3, p: 0.01 }),
        entropy: measure(0.5, { pairs: 4, difference: 0.3, p: 0.2 }),
      },
      {
        ...{ axes: { method: 'locater-m1', learning_rate: '0.02' }, runs: 4, failures: 4 },
        ...{ bits_per_byte: { ...measure(null), runs: 0 }, entropy: measure(null) },
      },
      {
        ...{ axes: { method: 'none', learning_rate: '0.003' }, runs: 4, failures: 0 },
        ...{ bits_per_byte: measure(3), entropy: measure(0.7) },
      },
    ],
  } as unknown as PublishedResults;

  test('has the methods of one learning rate, the lowest loss first, with standard errors', () => {
    const rows = byLoss(methodsOf(results, '0.02'));
    expect(rows.map(({ method }) => method)).toEqual(['LocAteR, Frobenius, m* = 1', 'baseline']);
    expect(rows[0].loss.error).toBeCloseTo(0.1, 12);
    expect(rows[0].loss.p).toBe('0.010');
    expect(rows[1].loss.p).toBe('');
  });

  test('says first which claim was not seen', () => {
    expect(claimText(methodsOf(results, '0.02'), METHOD_NAMES['frobenius-m1']!)).toBe(
      'LocAteR, Frobenius, m* = 1, 4 runs: a higher attention entropy is not significant (+0.300, p = 0.20); ' +
        'a lower loss is seen (−0.300 bits per byte, p = 0.010).',
    );
    expect(claimText(methodsOf(results, '0.003'), METHOD_NAMES['frobenius-m1']!)).toBe('');
  });
});

test('the caption of the learning rates has those named, the best of all, and differences', () => {
  const row = (method: string, mean_excess: number, best: number, largest_stable: number | null) => ({
    ...{ method, values: 2, mean_excess, best, largest_stable, points: [] },
  });
  const cell = (method: string, learning_rate: string, difference: number) => ({
    ...{ axes: { method, learning_rate }, runs: 4, failures: 0, entropy: {} },
    bits_per_byte: { runs: 4, mean: 3, deviation: 0.2, pairs: 4, difference, p: 0.01 },
  });
  const rates = ['0.003', '0.02'];
  const results = {
    grid: { axes: { method: { none: {}, 'frobenius-m1': {} }, learning_rate: rates } },
    analysis: [
      {
        ...{ kind: 'sensitivity', tolerance: 0.25 },
        rows: [row('none', 0.5, 3, 0.02), row('frobenius-m1', 0.2, 3.1, null), row('x', 0.3, 2.9, 1)],
      },
    ],
    summary: rates.map((rate, at) => cell('frobenius-m1', rate, at - 0.5)),
  } as unknown as PublishedResults;
  expect(sensitivityText(results, ['none', 'frobenius-m1'], (method) => `<${method}>`)).toBe(
    'Mean excess of the loss over the method’s own best, in bits per byte: 0.500 (<none>), ' +
      '0.200 (<frobenius-m1>); the smallest is 0.200 (<frobenius-m1>). Lowest loss over the learning rates: ' +
      '3.000 (<none>), 3.100 (<frobenius-m1>); the lowest is 2.900 (<x>). ' +
      'Largest learning rate within 0.25 of it: 0.02 (<none>), none (<frobenius-m1>).',
  );
  const name = METHOD_NAMES['frobenius-m1']!;
  expect(differencesText(results, [name], rates)).toBe(
    `Difference from no regularizer in bits per byte at 0.003 and 0.02: ${name} −0.500 (p = 0.010), ` +
      '+0.500 (p = 0.010).',
  );
});

const docs = (name: string) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');

test('every method of the published experiments has a name of the page', () => {
  for (const name of ['regularizers', 'learning-rate']) {
    const grid = JSON.parse(docs(`experiments/${name}.grid.json`));
    for (const method of Object.keys(grid.axes.method)) {
      expect(METHOD_NAMES, method).toHaveProperty([method]);
    }
  }
});

test('names of methods that act on some heads or steps say on how many', () => {
  const grid = JSON.parse(docs('experiments/learning-rate.grid.json'));
  const heads = operations.train.defaults.heads; // the grid does not change it
  expect(grid.settings).not.toHaveProperty('heads');
  interface Own {
    target_heads?: number;
    target_steps?: number;
  }
  const partial = Object.entries<Own>(grid.axes.method).filter(([, own]) => own.target_heads || own.target_steps);
  expect(partial).toHaveLength(4);
  for (const [method, own] of partial) {
    const part = own.target_heads ? `${own.target_heads} of ${heads} heads` : `steps 1–${own.target_steps}`;
    expect(METHOD_NAMES[method]).toContain(part);
  }
});
