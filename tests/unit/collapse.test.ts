import { describe, expect, test } from 'vitest';
import type { Collapsed } from '../../web/engine/protocol';
import { layerAxis, rankDomain } from '../../web/chapters/collapse/depth/figure';
import { decades } from '../../web/charts/format';
import { levelPlaces } from '../../web/charts/level-labels';
import type { Quality } from '../../web/ui/figure';
import { cellAt, CELLS, centres, planeOf, stages, standIn, widened } from '../../web/chapters/collapse/cells/cells';
import { claimText } from '../../web/chapters/collapse/depth/words';
import { pooled } from '../../web/chapters/collapse/depth/curves';
import { pointsOf, StackCurves, stacksOf, type Curve } from '../../web/chapters/collapse/depth/curves';
import { collapseView, variancesOf, type FigureContext, type State } from '../../web/chapters/collapse/state';
import { limitsOf } from '../../web/state/control';

describe('the plane of the maps', () => {
  test('holds the present point, whatever the state', () => {
    const changes: Partial<State>[] = [
      {},
      { mean: -3, variance: 1e-9 },
      { mean: 1e6, variance: 1e12, temperature: 1e6 },
      { layer_norm: 'none', width: 4096, length: 2048 },
      { mean: 0, variance: 0, temperature: 1e-6 },
    ];
    for (const change of changes) {
      const state = { ...collapseView.defaults, ...change };
      const { x, y } = planeOf(state);
      expect(x[0]).toBe(state.mean < 0 ? -x[1] : 0);
      expect(Math.abs(state.mean)).toBeLessThanOrEqual(x[1]);
      expect(state.variance).toBeLessThanOrEqual(y[1]);
      if (state.variance > 0) expect(y[0]).toBeLessThanOrEqual(state.variance);
      expect(y[0]).toBeLessThan(y[1]);
    }
  });

  test('does not change while the point moves inside it', () => {
    const plane = planeOf(collapseView.defaults);
    expect(planeOf({ ...collapseView.defaults, mean: plane.x[1], variance: plane.y[1] })).toEqual(plane);
    expect(planeOf({ ...collapseView.defaults, mean: 0, variance: plane.y[0] })).toEqual(plane);
  });

  test('has cells whose middles lie in them', () => {
    const plane = planeOf(collapseView.defaults);
    const { means, variances } = centres(plane);
    expect([means.length, variances.length]).toEqual([CELLS, CELLS]);
    variances.forEach((variance, row) =>
      means.forEach((mean, column) => {
        expect(cellAt(plane, mean, variance)).toBe(row * CELLS + column);
      }),
    );
    expect(cellAt(plane, -1e9, 0)).toBe(0);
    expect(cellAt(plane, 1e9, 1e12)).toBe(CELLS * CELLS - 1);
  });

  test('is widened by one cell on every side, but not beyond what the library allows', () => {
    const plane = planeOf(collapseView.defaults);
    const inner = centres(plane);
    const outer = centres(widened(plane), CELLS + 2);
    inner.means.forEach((mean, i) => expect(outer.means[i + 1]).toBeCloseTo(mean, 9));
    inner.variances.forEach((it, i) => expect(outer.variances[i + 1] / it).toBeCloseTo(1, 9));
    const far = planeOf({ ...collapseView.defaults, mean: 1e6, variance: 1e12 });
    const { means, variances } = centres(widened(far), CELLS + 2);
    expect(Math.max(...means)).toBe(limitsOf('mean').maximum);
    expect(Math.max(...variances)).toBe(limitsOf('variance').maximum);
  });
});

describe('the refinement', () => {
  test('asks for every cell once: 36, then those that make 144, then all', () => {
    expect(stages().map((cells) => cells.length)).toEqual([36, 108, 432]);
    expect(new Set(stages().flat()).size).toBe(CELLS * CELLS);
  });

  test('shows every cell as soon as the coarse ones are known, and its own value in the end', () => {
    const known = new Set<number>();
    expect(standIn(0, (at) => known.has(at))).toBe(-1);
    for (const [i, stage] of stages().entries()) {
      stage.forEach((at) => known.add(at));
      const reach = [4, 2, 1][i];
      for (let at = 0; at < CELLS * CELLS; at++) {
        const other = standIn(at, (it) => known.has(it));
        expect(known.has(other)).toBe(true);
        expect(Math.abs((other % CELLS) - (at % CELLS))).toBeLessThan(reach);
        expect(Math.abs(Math.floor(other / CELLS) - Math.floor(at / CELLS))).toBeLessThan(reach);
      }
    }
  });
});

test('contours are named on their lines, away from the edges and each other', () => {
  const [columns, rows] = [11, 9];
  const value = Float64Array.from({ length: columns * rows }, (_, at) => (at % columns) / 10);
  const places = levelPlaces({ columns, rows, value }, [0.25, 0.5, 0.75, 2], [3, 2]);
  expect(places.map(({ level }) => level)).toEqual([0.25, 0.5, 0.75]);
  for (const { level, column } of places) expect(column / 10).toBeCloseTo(level, 9);
  places.forEach((a, i) =>
    places.slice(i + 1).forEach((b) => {
      expect(Math.abs(a.column - b.column) > 3 || Math.abs(a.row - b.row) > 2).toBe(true);
    }),
  );
  const holes = value.map((it, at) => (at < columns ? it : NaN));
  expect(levelPlaces({ columns, rows, value: holes }, [0.5], [3, 2])[0].row).toBe(0);
});

describe('the axes over depth', () => {
  const points = (...values: number[]) => values.map((value, layer) => ({ layer, value, error: 0, samples: 1 }));

  test('hold residuals from 1 down to rounding in whole decades', () => {
    expect(rankDomain('residual', points(1, 0.5))).toEqual([0.1, 1]);
    expect(rankDomain('residual', points(1, 3e-9))[0]).toBeCloseTo(1e-9, 20);
    expect(rankDomain('residual', points(1, 1e-300))[0]).toBeCloseTo(1e-17, 25);
    expect(decades([0.01, 1])).toEqual([1, 0.1, 0.01]);
    expect(decades([1e-16, 1])).toEqual([1, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12, 1e-14, 1e-16]);
  });

  test('hold ranks from zero, and cosines below zero where there are', () => {
    expect(rankDomain('stable_rank', points(1, 20))[1]).toBeGreaterThan(20);
    expect(rankDomain('cosine', points(0.5, 1))).toEqual([0, 1]);
    expect(rankDomain('cosine', points(-0.2, 1))[0]).toBeLessThan(-0.2);
  });

  test('count whole layers, and a few of them', () => {
    expect(layerAxis(0).domain).toEqual([0, 1]);
    expect(layerAxis(3).ticks).toEqual([0, 1, 2, 3]);
    for (const depth of [24, 100, 512]) expect(layerAxis(depth).ticks.length).toBeLessThan(15);
  });
});

/** An answer with the same at each point: so many samples in each layer. */
function collapsed(samples: number[], overflow = 0, points = 1): Collapsed {
  const all = Array.from({ length: points }, () => samples).flat();
  const layerOf = (at: number) => at % samples.length;
  const residual = Float64Array.from(all, (it, at) => (it > 0 ? 1 / (layerOf(at) + 1) : NaN));
  const places = new Float64Array(points);
  return {
    mean: places,
    variance: places,
    layer: Float64Array.from(samples.keys()),
    residual,
    residual_error: residual,
    refused: all.map(() => ''),
    samples: Float64Array.from(all),
    overflow: new Float64Array(points).fill(overflow),
  } as Collapsed;
}

test('what two workers found makes the mean and the error of all samples', () => {
  const draws = [1, 4, 2, 8, 5, 7];
  const of = (list: number[]): Collapsed => {
    const mean = list.reduce((a, b) => a + b) / list.length;
    const variance = list.reduce((a, x) => a + (x - mean) ** 2, 0) / list.length;
    const error = list.length > 1 ? Math.sqrt(variance / (list.length - 1)) : NaN;
    const samples = Float64Array.of(list.length);
    const measured = { residual: Float64Array.of(mean), residual_error: Float64Array.of(error) };
    return { layer: Float64Array.of(0), refused: [''], overflow: samples, samples, ...measured } as Collapsed;
  };
  const whole = of(draws);
  for (const cut of [1, 2, 5]) {
    const found = pooled([of(draws.slice(0, cut)), of(draws.slice(cut))]);
    expect(found.samples[0]).toBe(6);
    expect(found.residual[0]).toBeCloseTo(whole.residual[0], 12);
    expect(found.residual_error[0]).toBeCloseTo(whole.residual_error[0], 12);
  }
});

test('a curve has points where there are values, and the stacks that went through', () => {
  const output = collapsed([3, 3, 2, 0]);
  const curve = { place: 0, variance: 1, key: '', output, wanted: 4 };
  expect(pointsOf(curve, 'residual').map(({ layer }) => layer)).toEqual([0, 1, 2]);
  expect(stacksOf(output)).toBe(0);
  expect(stacksOf(collapsed([4, 4, 3, 0], 3))).toBe(3);
});

describe('the curves over depth', () => {
  /** A figure's question, whose jobs are answered by hand. */
  function asking(state: State, quality: Quality = 'full') {
    const controller = new AbortController();
    const { signal } = controller;
    const jobs: { answer: () => void }[] = [];
    const run = () =>
      new Promise((resolve, reject) => {
        jobs.push({ answer: () => resolve(collapsed([4, 4], 0, 3)) });
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
    const context = { state, quality, signal, workers: 2, run, show: () => {} } as unknown as FigureContext;
    return { context, jobs, controller };
  }

  test('have the stacks of all workers at the variances that are compared', async () => {
    const curves = new StackCurves();
    const { context, jobs } = asking(collapseView.defaults);
    const answer = curves.ask(context);
    expect(jobs.length).toBe(2); // workers
    jobs.forEach((job) => job.answer());
    await answer;
    expect(curves.known.map(({ variance }) => variance)).toEqual(variancesOf(collapseView.defaults));
    expect(curves.known.map(({ output }) => stacksOf(output))).toEqual([8, 8, 8]);
    expect(curves.known.every((curve) => curves.isFresh(curve))).toBe(true);
  });

  test('lag behind a new question until it is answered', async () => {
    const curves = new StackCurves();
    const first = asking(collapseView.defaults);
    const answer = curves.ask(first.context);
    first.jobs.forEach((job) => job.answer());
    await answer;
    expect(curves.known.map(({ output }) => stacksOf(output))).toEqual([8, 8, 8]);
    const next = asking({ ...collapseView.defaults, residual_weight: 1 });
    const second = curves.ask(next.context);
    expect(curves.known.map((curve) => curves.isFresh(curve))).toEqual([false, false, false]);
    next.jobs[1].answer();
    await Promise.resolve();
    next.controller.abort();
    await expect(second).rejects.toThrow();
    expect(curves.known.map((curve) => curves.isFresh(curve))).toEqual([true, true, true]);
    expect(curves.known.map(({ output }) => stacksOf(output))).toEqual([4, 4, 4]);
  });
});

describe('the verdict on the paper’s claim', () => {
  /** A curve of one layer with such an end: means and a standard error of both measures. */
  function curve(variance: number, residual: number, entropy: number, error = 0.01): Curve {
    const list = (value: number) => Float64Array.of(1, value);
    const output = {
      layer: Float64Array.of(0, 1),
      samples: Float64Array.of(8, 8),
      residual: list(residual),
      residual_error: list(error),
      entropy: Float64Array.of(NaN, entropy),
      entropy_error: list(error),
    } as Collapsed;
    return { place: 0, variance, key: '', output, wanted: 8 };
  }

  test('says that it fails, and which collapse happens with the smallest variance', () => {
    const text = claimText([curve(1, 0.5, 0.6), curve(0.01, 1e-9, 0.99)], 0.25, 0.2);
    expect(text).toMatch(/fails in this stack: with v = 0\.01 .* there is rank collapse \(/);
    expect(text).toMatch(/The larger v = 1 \(residual 0\.5, entropy 0\.6\) prevents both\.$/);
    const both = claimText([curve(0.01, 0.1, 0.1), curve(1, 0.5, 0.1)], 0.25, 0.2);
    expect(both).toMatch(/there is rank collapse and entropy collapse/);
    expect(both).toMatch(/No larger variance shown clearly prevents both\.$/);
  });

  test('says that it holds where only a larger variance brings a collapse', () => {
    const text = claimText([curve(100, 0.5, 0.05), curve(0.01, 0.5, 0.9)], 1, 0.2);
    expect(text).toMatch(/holds in this stack: v = 0\.01/);
    expect(text).toMatch(/With v = 100 \(residual 0\.5, entropy 0\.05\): entropy collapse\.$/);
  });

  test('does not call it true where every variance prevents both, nor within the errors', () => {
    const kept = [curve(0.01, 0.5, 0.9), curve(1, 0.4, 0.8)];
    expect(claimText(kept, 1, 0.2)).toMatch(/cannot be tested/);
    expect(claimText(kept, 1, 0.45)).toMatch(/holds/);
    const open = [curve(0.01, 0.5, 0.9), curve(1, 0.21, 0.8, 0.1)];
    expect(claimText(open, 1, 0.2)).toMatch(/cannot be judged in this stack: v = 1 /);
  });

  test('is about a mean away from zero, and needs two variances', () => {
    const curves = [curve(0.01, 1e-9, 0.99), curve(1, 0.5, 0.6)];
    expect(claimText(curves, 0, 0.2)).toMatch(/mean away from zero; here m = 0.* rank collapse/);
    expect(claimText(curves.slice(1), 1, 0.2)).toBe('');
  });
});
