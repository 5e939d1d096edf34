import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import operations from '../../web/generated/operations.json';
import { escapesOf, sumOf } from '../../web/chapters/train/escape-rows';
import type { Comparison, PublishedResults } from '../../web/chapters/train/published-results';
import {
  claimText,
  byLoss,
  METHOD_NAMES,
  methodsOf,
  pText,
} from '../../web/chapters/train/published-rows';
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
    const rose =
      ' LocAteR should shrink W_QK, but the Frobenius variance rose 3 times, ' +
      'to 1.5 (Baseline: 9)';
    expect(verdictOf([baseline, grown('locater', 1.5)])).toContain(
      `${rose}; the trace variance, which it penalizes, went from 0.02 to 0.01.`,
    );
    expect(verdictOf([baseline, grown('locater', 1.5, 0.03)])).toContain(
      `${rose}; the trace variance, which it penalizes, went from 0.02 to 0.03.`,
    );
    expect(verdictOf([baseline, grown('locater-frobenius', 1.5)])).toContain(
      `${rose}, which it penalizes.`,
    );
    expect(verdictOf([baseline, grown('locater', 0.6)])).not.toContain('rose');
    expect(verdictOf([baseline, grown('qk-decay', 1.5)])).not.toContain('rose');
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

const docs = (name: string) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');

describe('the comparison at tuned settings', () => {
  const tuned = JSON.parse(docs('experiments/regularizers.results.json')) as PublishedResults & {
    missing: unknown[];
  };
  const rows = methodsOf(tuned);

  test('is complete, and the table of docs/results.md has its numbers', () => {
    expect(tuned.missing).toEqual([]);
    const table = /^\| regularizer \|.*\n\|[-|]+\|\n((?:\|.*\n)+)/m.exec(docs('results.md'))?.[1];
    const lines = table!.trim().split('\n');
    expect(lines).toHaveLength(rows.length);
    lines.forEach((line, i) => {
      const cells = line.split('|').map((cell) => cell.trim());
      const summary = tuned.summary[i]! as unknown as Record<string, Comparison>;
      const shown = (measure: string, digits: number) => {
        const { mean, deviation, p } = summary[measure]!;
        const test = p === null || p === undefined ? '' : ` (p ${pText(p)})`;
        return `${mean!.toFixed(digits)} ± ${deviation!.toFixed(digits)}${test}`;
      };
      expect(cells[1]).toBe(i === 0 ? 'none' : rows[i]!.method);
      expect(cells[2]).toBe(shown('bits_per_byte', 3));
      expect(cells[3]).toBe(shown('entropy', 3));
      expect(cells[4]).toBe(shown('mean', 4));
      expect(cells[5]).toBe(shown('variance', 3));
      expect(cells[6]).toBe(shown('variance_frobenius', 3));
      expect(cells[8]).toBe(shown('localization', 4));
      expect(cells[9]).toBe(shown('residual', 3));
    });
  });

  test('docs/results.md says of it what its numbers say', () => {
    const text = docs('results.md');
    const of = (method: string) =>
      tuned.summary.find(({ axes }) => axes.method === method) as unknown as Record<
        string,
        Comparison
      >;
    const mean = (method: string, measure: string, digits: number) =>
      of(method)[measure]!.mean!.toFixed(digits);
    const tests = tuned.summary.flatMap((row) =>
      Object.values(row).filter((it) => typeof (it as Comparison | undefined)?.p === 'number'),
    );
    expect(text).toContain(`${tests.length} tests without correction`);
    const settings = tuned.grid.axes.method as Record<string, Record<string, number>>;
    expect(text).toContain(
      `Tuned values: learning rate ${tuned.grid.settings.learning_rate} ` +
        `(${settings['sigma-reparam']!.learning_rate} for sigmaReparam, the edge of its grid), c_scale ` +
        `${settings.locater!.scale_weight} with tr(W²) and ` +
        `${settings['locater-frobenius']!.scale_weight} with Frobenius, QK decay ${settings['qk-decay']!.qk_decay}.`,
    );
    const entropy = (method: string) => mean(method, 'entropy', 2);
    const spread = (method: string) => mean(method, 'variance_frobenius', 2);
    expect(text).toContain(
      `yes in its Frobenius form (${entropy('none')} to ${entropy('locater-frobenius')}), ` +
        `no with tr(W²) (${entropy('locater')})`,
    );
    expect(of('locater').variance!.mean).toBeLessThan(0);
    expect(text).toContain(
      `the Frobenius variance grows from ${spread('none')} to ${spread('locater')}; ` +
        `the Frobenius form shrinks it to ${spread('locater-frobenius')}`,
    );
    const forms = ['locater', 'locater-frobenius'];
    for (const form of forms) {
      expect(Math.abs(of(form).bits_per_byte!.difference!)).toBeLessThan(0.004);
      const { deviation } = of(form).bits_per_byte!;
      expect(Math.abs(deviation! - 0.02)).toBeLessThan(0.006);
    }
    expect(text).toContain(
      `(p ${forms.map((it) => pText(of(it).bits_per_byte!.p)).join(' and ')})`,
    );
    expect(text).toContain(
      `the baseline shows neither collapse (entropy ${entropy('none')}, residual ${mean('none', 'residual', 2)})`,
    );
    expect(text).toContain(
      `${mean('locater-frobenius', 'mean', 3)} and ${mean('locater', 'mean', 3)} of 0.125`,
    );
    const { difference, p } = of('qk-decay').bits_per_byte!;
    expect(text).toContain(
      `raises the entropy (${entropy('qk-decay')}), without the mean, and costs ` +
        `${difference!.toFixed(3)} bits per byte (p ${pText(p)})`,
    );
    expect(text).toContain(
      `sigmaReparam is ${of('sigma-reparam').bits_per_byte!.difference!.toFixed(2)} bits per byte worse`,
    );
    const floors = [...text.matchAll(/^\| (?!regularizer).* \| (0\.0\d{3}) \| \S+ ± /gm)];
    expect(floors.map(([, floor]) => floor)).toEqual(
      tuned.summary.map((row) => {
        const { mean } = (row as unknown as Record<string, Comparison>).mean!;
        return (3 * mean! * mean!).toFixed(4);
      }),
    );
  });

  test('says of the claims what the table says', () => {
    expect(claimText(rows, METHOD_NAMES['locater-frobenius']!)).toBe(
      'LocAteR, Frobenius, 5 runs: a lower loss is not significant (−0.004 bits per byte, p = 0.56); ' +
        'a higher attention entropy is seen (+0.130, p < 0.001).',
    );
    const readme = docs('../README.md');
    const [none, , frobenius] = rows;
    expect(readme).toContain(
      `entropy ${none!.entropy.mean.toFixed(2)} to ${frobenius!.entropy.mean.toFixed(2)}; ` +
        `${none!.loss.mean.toFixed(3)} bits per byte without, ${frobenius!.loss.mean.toFixed(3)} with ` +
        `(p ${frobenius!.loss.p}, 5 seeds)`,
    );
  });
});

test('every method of the published experiments has a name of the page', () => {
  for (const name of ['regularizers', 'learning-rate']) {
    const { grid } = JSON.parse(docs(`experiments/${name}.results.json`));
    for (const method of Object.keys(grid.axes.method)) {
      expect(METHOD_NAMES, method).toHaveProperty([method]);
    }
  }
});

test('names of methods that act on some heads or steps say on how many', () => {
  const { grid } = JSON.parse(docs('experiments/learning-rate.results.json'));
  const heads = operations.train.defaults.heads; // the grid does not change it
  expect(grid.settings).not.toHaveProperty('heads');
  interface Own {
    target_heads?: number;
    target_steps?: number;
  }
  const partial = Object.entries<Own>(grid.axes.method).filter(
    ([, own]) => own.target_heads || own.target_steps,
  );
  expect(partial).toHaveLength(4);
  for (const [method, own] of partial) {
    const part = own.target_heads
      ? `${own.target_heads} of ${heads} heads`
      : `steps 1–${own.target_steps}`;
    expect(METHOD_NAMES[method]).toContain(part);
  }
});

test('the front page has the numbers of the high learning rate', () => {
  const results = JSON.parse(docs('experiments/learning-rate.results.json')) as PublishedResults;
  const said = (method: string, unit: string, rate = '0.02') => {
    const rows = methodsOf(results, rate);
    const { runs, loss } = rows.find((row) => row.method === METHOD_NAMES[method])!;
    return `${loss.difference.toFixed(3)}${unit} (p ${loss.p}, ${runs} seeds)`;
  };
  const readme = docs('../README.md');
  expect(readme).toContain(`${said('frobenius-m1', ' bits per byte')}; ${said('warmup-clip', '')}`);
  const half = 'initial-m1-half';
  expect(readme).toContain(
    `half of the heads: ${said(half, ' bits per byte at 0.02')}, ${said(half, ' at 0.003', '0.003')}, ` +
      `${said(half, ' at 0.0015', '0.0015')}; all: ${said('initial-m1', '')}, ` +
      `${said('initial-m1', '', '0.003')}, ${said('initial-m1', '', '0.0015')}`,
  );
});

test('the front page has the numbers of the escape from rank collapse', () => {
  const points = escapesOf(JSON.parse(docs('experiments/rank-escape.results.json')));
  const at = (depth: number, alpha: number) =>
    points.find((it) => it.depth === depth && it.scale === 2 && it.alpha === alpha)!;
  const [largest, none] = [at(8, 1), at(8, 0)];
  expect(largest.mean.toFixed(2)).toBe('1.00');
  const depths = [4, 8, 16].map((depth) => points.filter((it) => it.depth === depth));
  const escaped = depths.map((own) => sumOf(own, 'below'));
  const [runs, ...others] = depths.map((own) => sumOf(own, 'runs'));
  for (const other of others) expect(other).toBe(runs);
  const tested = points.filter(({ p }) => p !== null);
  expect(tested.filter(({ p }) => p! < 0.05 / tested.length)).toEqual([largest]);
  expect(docs('../README.md')).toContain(
    `at depth 8 ${largest.below} of ${largest.runs} runs against ${none.below} of ${none.runs} with mean 0, ` +
      `final loss ${largest.difference!.toFixed(3)} bits per byte (p ${pText(largest.p)}; one of ` +
      `${tested.length} tests, the only one below 0.05 / ${tested.length}); ${escaped[0]}, ` +
      `${escaped[1]} and ${escaped[2]} of ${runs} runs at depths 4, 8 and 16`,
  );
});

test('the front page has the numbers of the map and of the plateaus', () => {
  type Rows = { axes: Record<string, string>; predictor: string; driver: string }[];
  const rowsOf = <Row>(name: string, kind: string) => {
    const { analysis } = JSON.parse(docs(`experiments/${name}.results.json`)) as PublishedResults;
    return analysis.find((it) => it.kind === kind)!.rows as (Rows[0] & Row)[];
  };
  const predictors = rowsOf<{ cells: number; rank_correlation: number }>(
    'trainability-map',
    'predictors',
  );
  const of = (norm: string, predictor: string) =>
    predictors.find(
      ({ axes, ...row }) =>
        axes.layer_norm === norm && axes.depth === '2' && row.predictor === predictor,
    )!.rank_correlation;
  const { stages } = JSON.parse(docs('experiments/trainability-map.grid.json'));
  const { seeds } = stages.at(-1);
  expect(docs('../README.md')).toContain(
    `pre-norm ${of('pre', 'entropy').toFixed(2)} (entropy) and ` +
      `${of('pre', 'localization').toFixed(2)} (localization), post-norm ` +
      `${of('post', 'entropy').toFixed(2)} and ${of('post', 'localization').toFixed(2)} ` +
      `(${predictors[0]!.cells} cells, ${seeds} seeds)`,
  );
  expect(Math.abs(of('pre', 'localization'))).toBeLessThan(Math.abs(of('pre', 'entropy')));
  expect(Math.abs(of('post', 'localization'))).toBeLessThan(Math.abs(of('post', 'entropy')));
  const plateaus = rowsOf<{ runs: number; rank_correlation: number }>('rank-escape', 'plateau');
  const [sensitivity, gradient] = ['sensitivity', 'gradient_query_key'].map((driver) =>
    plateaus.find((row) => row.axes.depth === '8' && row.driver === driver)!,
  );
  expect(docs('../README.md')).toContain(
    `with its length ${gradient!.rank_correlation.toFixed(2)} (gradient) and ` +
      `${sensitivity!.rank_correlation.toFixed(2)} (sensitivity) in post-norm models of depth 8 ` +
      `(${gradient!.runs} runs)`,
  );
});

test('the front page has the numbers of the paper’s setting', () => {
  const { summary } = JSON.parse(docs('experiments/paper-setting.results.json')) as {
    summary: (Record<string, Comparison> & { axes: Record<string, string> })[];
  };
  const of = (method: string, biases: string) =>
    summary.find(({ axes }) => axes.method === method && axes.query_key_bias === biases)!;
  const change = (measure: string, biases: string, digits: number) =>
    ['none', 'frobenius-1']
      .map((method) => of(method, biases)[measure]!.mean!.toFixed(digits))
      .join(' to ');
  const said = (biases: string) => {
    const { runs, p } = of('frobenius-1', biases).perplexity!;
    return `perplexity ${change('perplexity', biases, 1)} (p ${pText(p)}, ${runs} seeds)`;
  };
  expect(docs('../README.md')).toContain(
    `Frobenius variance ${change('variance_frobenius', 'with', 1)}, attention entropy ` +
      `${change('entropy', 'with', 3)}, ${said('with')}; without biases entropy ` +
      `${change('entropy', 'without', 3)}, ${said('without')}`,
  );
});
