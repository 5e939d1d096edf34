import { describe, expect, test } from 'vitest';
import { LOGIT_PARTS, type Row } from '../../web/chapters/train/runs/log';
import { pileOf, pilesRange, sharesOf } from '../../web/chapters/train/run-logits/words';
import { logitsText } from '../../web/chapters/train/run-logits/words';
import type { JudgedRun } from '../../web/chapters/train/race/words';

/** A row whose logits vary by the sum of these parts, in the order of LOGIT_PARTS. */
function row(step: number, parts: number[], self = { self_mass: 0.2, self_reference: 0.1 }): Row {
  const logit_variance = parts.reduce((sum, part) => sum + part, 0);
  const named = Object.fromEntries(LOGIT_PARTS.map((part, i) => [part, parts[i]]));
  return { step, heads: [], signals: {}, value: { ...named, logit_variance, ...self } as Row['value'] };
}

const run = (kind: JudgedRun['kind'], ...rows: Row[]): JudgedRun => ({ kind, name: kind, rows });

describe('the shares of the logits’ variance', () => {
  test('add up to 1, and pile up with what is negative below zero', () => {
    const mixed = row(7, [2, -1, 0.5, 2.5, 0]);
    expect(sharesOf(mixed)).toEqual([0.5, -0.25, 0.125, 0.625, 0]);
    const { step, above, below } = pileOf(mixed);
    expect(step).toBe(7);
    expect(above.map(([, high]) => high)).toEqual([0.5, 0.5, 0.625, 1.25, 1.25]);
    expect(below.map(([low]) => low)).toEqual([0, -0.25, -0.25, -0.25, -0.25]);
    [above, below].forEach((side) =>
      side.forEach(([low, high], i) => {
        const share = sharesOf(mixed)[i]!;
        const own = (side === above) === share > 0 ? Math.abs(share) : 0;
        expect(high - low).toBeCloseTo(own, 12);
      }),
    );
  });

  test('are nothing where the logits hardly vary', () => {
    expect(sharesOf(row(0, [1e-9, 0, 0, 0, 0])).every(Number.isNaN)).toBe(true);
    expect(pilesRange([pileOf(row(0, [0, 0, 0, 0, 0]))])).toEqual([0, 1]);
  });

  test('have an axis from 0 to 1, further where parts cancel, and not without end', () => {
    const range = (...rows: number[][]) => pilesRange(rows.map((parts) => pileOf(row(0, parts))));
    expect(range()).toEqual([0, 1]);
    expect(range([0.1, 0.2, 0.3, 0.3, 0.1])).toEqual([0, 1]);
    expect(range([1, 0, 0, 0, 0], [1.15, -0.15, 0, 0, 0])).toEqual([-0.2, 1.2]);
    expect(range([9, -8, 0, 0, 0])).toEqual([-1, 2]);
  });
});

describe('the sentence on a run’s logits', () => {
  const baseline = run('none', row(0, [1, 0, 0, 0, 0]), row(50, [3, 0.5, 0.5, 0, 0]));

  test('says which part carries most, and the variance of the baseline at the same step', () => {
    expect(logitsText(baseline, baseline)).toBe(
      'none, step 50: variance of the logits 4, 75% of it from content–content; ' + 'self-mass 0.2 (reference 0.1).',
    );
    const early = run('locater', row(50, [1, 0, 0, 0, 0]), row(60, [0, 0, 2, 0, 0]));
    expect(logitsText(early, baseline)).toMatch(/logits 2, 100% of it from position–position;/);
  });

  test('says that the query bias escaped a regularizer of W, where it did', () => {
    const escaped = row(50, [0.1, 0.02, 0, 0.84, 0.04]);
    for (const kind of ['locater', 'locater-frobenius', 'qk-decay', 'sigma-reparam'] as const) {
      expect(logitsText(run(kind, escaped), baseline)).toContain(
        'logits 1 (none: 4), 84% of it from the query bias, which this regularizer leaves free;',
      );
    }
    for (const kind of ['none', 'locater-effective', 'locater-covariance'] as const) {
      expect(logitsText(run(kind, escaped), baseline)).toMatch(/84% of it from the query bias;/);
    }
  });

  test('claims no escape where the bias carries less than half, or is not there', () => {
    const of = (...parts: number[]) => logitsText(run('locater', row(50, parts)), undefined);
    expect(of(0.2, 0.2, 0.1, 0.4, 0.1)).toContain('logits 1, 40% of it from the query bias; ');
    expect(of(0.9, 0, 0, 0.1, 0)).toContain('90% of it from content–content and 10% from the query');
    expect(of(0.997, 0, 0, 0.003, 0)).toContain('and less than 1% from the query bias;');
    expect(of(1.2, 0, 0, -0.2, 0)).toContain('120% of it from content–content and −20% from the');
    expect(of(0, 0, 0, 0, 1)).toContain('100% of it from the first token;');
  });

  test('says nothing of the parts of nothing, and nothing of a run without rows', () => {
    const flat = logitsText(run('locater', row(50, [0, 0, 0, 1e-8, 0])), undefined);
    expect(flat).toContain('logits 1·10⁻⁸, too small to be divided into parts; self-mass');
    const broken = logitsText(run('none', row(50, [NaN, 0, 0, 0, 0])), undefined);
    expect(broken).toContain('variance of the logits none; self-mass');
    expect(logitsText(run('locater'), baseline)).toBe('');
  });
});
