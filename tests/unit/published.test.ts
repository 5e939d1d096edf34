import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import operations from '../../web/generated/operations.json';
import { count } from '../../web/charts/format';
import { colourOfMethod, looksOf, METHOD_NAMES } from '../../web/chapters/train/method-lines';
import { regularizers } from '../../web/chapters/train/methods';
import { resultsOf, type PublishedResults, type ResultsFile } from '../../web/chapters/train/experiments/results';
import { claimText, isInsignificant, methodsOf, runsText } from '../../web/chapters/train/experiments/rows';
import { spreadsOf, type SeedSpread } from '../../web/chapters/train/race/words';
import { comparisonText, verdictsOf, warningsText, type JudgedRun } from '../../web/chapters/train/race/words';
import type { Row, Shown } from '../../web/chapters/train/runs/log';
import { referTo } from '../../web/ui/registry';

function row(step: number, value: Partial<Record<Shown, number>>): Row {
  return { step, value: value as Row['value'], heads: [], signals: {} };
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

describe('the text of a comparison', () => {
  test('compares one seed with the published seeds and what was expected, at the last common step', () => {
    const locater: JudgedRun = {
      kind: 'locater',
      name: 'LocAteR',
      rows: [
        row(0, { bits_per_byte: 8, entropy: 1, variance_frobenius: 0.1 }),
        row(50, { bits_per_byte: 3.97, entropy: 0.86, variance_frobenius: 5.6e5 }),
      ],
    };
    const one =
      'LocAteR against Baseline at step 50, one seed: loss −0.03 bits per byte, entropy −0.04; ' +
      'the paper expects a lower loss and a higher entropy.';
    const warning = 'Warning: with this seed the norm of W_QK in LocAteR diverged (Frobenius variance 5.6·10⁵).';
    expect(comparisonText([baseline, locater])).toBe(one);
    expect(warningsText([baseline, locater])).toBe(warning);
    const seeds =
      ` Over 5 seeds of ${referTo('published')} (${count(1000)} steps on Moby Dick, own settings) they range from ` +
      '−0.02 to +0.01 and from 0 to +0.2.';
    const spread: SeedSpread = { seeds: 5, steps: 1000, loss: [-0.02, 0.01], entropy: [0, 0.2] };
    const spreads = new Map([['locater', spread]]);
    expect(comparisonText([baseline, locater], spreads)).toBe(one + seeds);
    const verdict = 'LocAteR minus baseline at step 50, the last that both have, one seed: −0.03 bits per byte';
    const band = `; band: 5 seeds of ${referTo('published')}`;
    expect(verdictsOf([baseline, locater], new Map())[0]!.text).toBe(verdict);
    expect(verdictsOf([baseline, locater], spreads)[0]!.text).toBe(`${verdict}${band}`);
    const [level] = verdictsOf([baseline, { ...locater, rows: baseline.rows }], spreads);
    expect(level!.text).toBe(`LocAteR minus baseline at step 100, one seed: 0 bits per byte${band}`);
  });

  test('says where the scale of W_QK grew although it is to shrink, and what is penalized', () => {
    const grown = (kind: JudgedRun['kind'], to: number, trace = 0.01): JudgedRun => ({
      kind,
      name: 'LocAteR',
      rows: [
        row(0, { bits_per_byte: 8, entropy: 1, variance_frobenius: 0.5, variance: 0.02 }),
        row(100, { bits_per_byte: 3.5, entropy: 0.8, variance_frobenius: to, variance: trace }),
      ],
    });
    const rose =
      'LocAteR should shrink W_QK, but with this seed the Frobenius variance rose 3 times, to 1.5 (Baseline: 9)';
    expect(warningsText([baseline, grown('locater', 1.5)])).toContain(
      `${rose}; the trace variance, which it penalizes, changed from 0.02 to 0.01.`,
    );
    expect(warningsText([baseline, grown('locater', 1.5, 0.03)])).toContain(
      `${rose}; the trace variance, which it penalizes, changed from 0.02 to 0.03.`,
    );
    expect(warningsText([baseline, grown('locater-frobenius', 1.5)])).toContain(`${rose}, which it penalizes.`);
    expect(warningsText([baseline, grown('locater', 0.6)])).not.toContain('rose');
    expect(warningsText([baseline, grown('qk-decay', 1.5)])).not.toContain('rose');
  });

  test('names the runs above the loss of a bigram table, and none where it is unknown', () => {
    const at = (name: string, loss: number, bigram: number): JudgedRun => ({
      kind: 'none',
      name,
      rows: [row(0, { bits_per_byte: 8, bigram_bits: bigram }), row(50, { bits_per_byte: loss, bigram_bits: bigram })],
    });
    const sentence =
      'A table of bigrams, which has no attention, reaches 3.48 bits per byte on the same text; ' +
      'the loss of high is above that.';
    expect(warningsText([at('low', 3.4, 3.48), at('high', 3.5, 3.48)])).toContain(sentence);
    expect(warningsText([at('low', 3.4, 3.48)])).toBe('');
    expect(warningsText([at('high', 3.5, NaN)])).toBe('');
  });

  test('says nothing of expectations where the paper has none, and nothing before the first step', () => {
    const decay: JudgedRun = { ...baseline, kind: 'qk-decay', name: 'QK decay' };
    expect(comparisonText([baseline, decay])).toBe(
      'QK decay against Baseline at step 100, one seed: loss 0 bits per byte, entropy 0.',
    );
    const fresh = { ...decay, rows: decay.rows.slice(0, 1) };
    expect(comparisonText([baseline, fresh])).toBe('');
    expect(comparisonText([decay])).toBe('');
  });
});

describe('the published comparison', () => {
  const measure = (mean: number | null, rest = {}) => ({ runs: 4, mean, deviation: 0.2, ...rest });
  const results = {
    summary: [
      {
        axes: { method: 'none', learning_rate: '0.02' },
        runs: 4,
        failures: 0,
        bits_per_byte: measure(4),
        entropy: measure(0.2),
      },
      {
        axes: { method: 'frobenius-m1', learning_rate: '0.02' },
        runs: 4,
        failures: 1,
        bits_per_byte: measure(3.7, { pairs: 4, difference: -0.3, low: -0.5, high: -0.1, holm: 0.01 }),
        entropy: measure(0.5, { pairs: 4, difference: 0.3, low: -0.1, high: 0.7, holm: 0.2 }),
      },
      {
        axes: { method: 'locater-m1', learning_rate: '0.02' },
        runs: 4,
        failures: 4,
        bits_per_byte: { ...measure(null), runs: 0 },
        entropy: measure(null),
      },
      {
        axes: { method: 'none', learning_rate: '0.003' },
        runs: 4,
        failures: 0,
        bits_per_byte: measure(3),
        entropy: measure(0.7),
      },
    ],
  } as unknown as PublishedResults;

  test('has the methods of one learning rate with standard errors and tests', () => {
    const [baseline, method, ...others] = methodsOf(results, '0.02');
    expect(others).toEqual([]); // one has no run that ended
    expect([baseline!.name, method!.name]).toEqual(['baseline', 'LocAteR, Frobenius, m* = 1']);
    expect(method!.loss.error).toBeCloseTo(0.1, 12);
    expect([baseline!.loss, method!.loss, method!.entropy].map(isInsignificant)).toEqual([false, false, true]);
  });

  test('gives the differences with intervals, and what the paper expects', () => {
    expect(claimText(methodsOf(results, '0.02'), 'frobenius-m1')).toBe(
      'LocAteR, Frobenius, m* = 1 against the baseline, 4 runs: ' +
        'loss −0.300 (95% interval −0.500 to −0.100, Holm’s p = 0.010) bits per byte, ' +
        'attention entropy +0.300 (95% interval −0.100 to +0.700, Holm’s p = 0.20). ' +
        'The paper expects a lower loss and a higher entropy.',
    );
    expect(claimText(methodsOf(results, '0.003'), 'frobenius-m1')).toBe('');
  });
});

test('the spread over seeds is that of the paired differences', () => {
  const columns = {
    labels: { method: ['none', 'locater'] },
    axes: { method: [0, 0, 1, 1, 1] },
    seed: [1, 2, 1, 2, 3],
    failures: {},
    initial: {},
    below: {},
    curve: {},
    final: { bits_per_byte: [3, 4, 2.5, 4.25, 9], entropy: [0.5, 0.5, 0.75, 0.25, 1] },
  };
  const grid = { settings: { steps: 300 }, axes: { method: { none: {}, locater: {} } } };
  const spreads = spreadsOf(resultsOf({ columns, grid } as unknown as ResultsFile));
  const [loss, entropy] = [
    [-0.5, 0.25],
    [-0.25, 0.25],
  ]; // the third seed has no baseline
  expect([...spreads]).toEqual([['locater', { seeds: 2, steps: 300, loss, entropy }]]);
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
  expect(partial).toHaveLength(5);
  for (const [method, own] of partial) {
    const part = own.target_heads ? `${own.target_heads} of ${heads} heads` : `steps 1–${own.target_steps}`;
    expect(METHOD_NAMES[method]).toContain(part);
  }
});

const coloursOf = (methods: string[]) => looksOf(methods).map(({ colour }) => colour);

test('a method has one colour in every figure, its variants have it too, and no two lines of a figure are alike', () => {
  const kinds = Object.keys(regularizers);
  const strengths = ['none', 'locater', 'locater-frobenius', 'locater-effective', 'no-attention'];
  const paths = ['metric-k2', 'metric-k0', 'metric-k4', 'frobenius-k2', 'effective-k2', 'temperature'];
  const rates = ['none', 'frobenius-m1', 'initial-m1', 'initial-m1-half', 'warmup-clip'];
  const chosen = Object.keys(METHOD_NAMES).filter((method) => !rates.includes(method));
  for (const drawn of [kinds, strengths, paths, ...chosen.map((method) => [...rates, method])]) {
    const looks = looksOf(drawn).map(({ colour, dash }) => `${colour} ${dash}`);
    expect(new Set(looks).size, drawn.join()).toBe(drawn.length);
    expect(drawn.map(colourOfMethod)).toEqual(coloursOf(drawn)); // all have a family
  }
  expect(new Set(coloursOf(kinds)).size).toBe(kinds.length);
  expect(coloursOf(paths)).toEqual([
    ...Array.from({ length: 3 }, () => colourOfMethod('locater-covariance')),
    ...coloursOf(['locater-frobenius', 'locater-effective', 'no-attention']),
  ]);
  expect(colourOfMethod('initial-m1-half')).toBe(colourOfMethod('initial-m1'));
  expect(colourOfMethod('muted')).toBeUndefined();
});

test('numbers of runs have commas between thousands', () => {
  expect([1, 5, 1512].map(runsText)).toEqual(['1 run', '5 runs', '1,512 runs']);
});
