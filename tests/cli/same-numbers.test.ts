// The same seed must give the same numbers in a terminal and in a browser tab.
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Ensemble, LayerMeasure, NativeEngine, Setting, Stack, TokenProcess } from '../../web/engine/protocol.ts';
import { BOOK, engine, finish, json, MINILM, optionsOf, root, run, temporaryFolder } from './eigenscope.ts';

const samples = 300;
const base: Setting = {
  mean: 0.2,
  variance: 0.4,
  width: 40,
  head_width: 20,
  length: 33,
  temperature: 6,
  tokens: 'random-walk',
  correlation: 0.8,
  ensemble: 'normal',
  eigenvalues: [],
  seed: 11,
};

let native: NativeEngine;
beforeAll(async () => {
  native = await engine();
});

/** Equal to rounding: the libraries' exp and pow may differ in the last place. */
function expectSame(wasm: ArrayLike<number>, terminal: number[]) {
  expect(wasm.length).toBe(terminal.length);
  expect(wasm.length).toBeGreaterThan(0);
  terminal.forEach((x, i) => expect(Math.abs(wasm[i]! - x)).toBeLessThan(1e-11 * (1 + Math.abs(x))));
}

/** The same of columns of the rows of a result; null is 0. */
function expectSameColumns<Row extends object>(
  wasm: Row[],
  terminal: Record<string, number>[],
  columns: (keyof Row & string)[],
) {
  for (const name of columns) {
    const [own, others] = [wasm.map((row) => Number(row[name])), terminal.map((row) => Number(row[name]))];
    expectSame(own, others);
  }
}

const ensembles: Ensemble[] = ['normal', 'two-point', 'uniform', 'power-law', 'shifted-gaussian', 'factored'];
const processes: TokenProcess[] = ['random-walk', 'normalized-walk', 'ar1'];

test.each(ensembles.flatMap((e) => processes.map((p) => [e, p] as const)))(
  '%s ensemble, %s tokens',
  (ensemble, tokens) => {
    const setting = { ...base, ensemble, tokens };
    const terminal = json('simulate', { ...optionsOf(setting), samples });
    const sampled = finish(native, 'simulate', { ...setting, samples });
    const theory = finish(native, 'propagation', setting);
    for (const name of ['mean', 'std', 'rho'] as const) {
      expectSame(theory[name], terminal.theory[name]);
      expectSame(sampled.theory[name], terminal.theory[name]);
      expectSame(sampled[name], terminal[name]);
      expectSame(sampled[`${name}_error`], terminal[`${name}_error`]);
    }
    expectSame(sampled.sensitivity, terminal.sensitivity);
    for (const name of ['localization', 'entropy', 'participation'] as const) {
      const own = [sampled[name]!, sampled[`${name}_error`]!];
      expectSame(own, [terminal[name], terminal[`${name}_error`]]);
    }
    expect(sampled.regime).toBe(terminal.regime);
  },
);

test('a list of eigenvalues and a sweep', () => {
  const list = { ...base, ensemble: 'list' as const, eigenvalues: [1, 2, 6, -1] };
  const simulated = json('simulate', { ...optionsOf(list), samples });
  expectSame(finish(native, 'simulate', { ...list, samples }).rho, simulated.rho);

  const { mean: _, variance: __, ...common } = base;
  const grid = { means: [0.1, 0.3], variances: [0.1, 1], samples };
  const found = finish(native, 'sweep', { ...common, ...grid }).rows;
  const { rows } = json('sweep', { ...optionsOf(common), ...optionsOf(grid) });
  expectSameColumns(found, rows, ['entropy', 'theory_localization', 'theory_entropy', 'theory_entropy_error']);
});

test.each([
  ['one query', { query: 9 }, ['--query=9']],
  ['the mean over queries', { all_queries: true }, ['--all-queries']],
] as const)('the theory, a simulation and a sweep of %s', (_, query, flags) => {
  const theory = json('propagation', optionsOf(base), ...flags);
  const found = finish(native, 'propagation', { ...base, ...query });
  expectSame(found.rho, theory.rho);
  expectSame([found.rho_mean!], [theory.rho_mean]);
  expect(found.signal).toBe(theory.signal);
  const simulated = json('simulate', { ...optionsOf(base), samples }, ...flags);
  const sampled = finish(native, 'simulate', { ...base, ...query, samples });
  expectSame([sampled.rho_mean!, sampled.entropy!], [simulated.rho_mean, simulated.entropy]);
  const { mean: __, variance: ___, ...common } = base;
  const grid = { means: [0.1, 0.3], variances: [0.1, 1] };
  const { rows } = json('sweep', { ...optionsOf({ ...common, ...grid }), samples }, ...flags);
  const { value } = finish(native, 'lines', { ...common, ...grid, ...query, measure: 'rho_mean' });
  expectSame(
    value,
    rows.map((row: Record<string, number>) => row.theory_rho_mean),
  );
});

test('rows of independent logits, one row with its clipped softmax, and a rank correlation', () => {
  const rows = { lengths: [8, 32], logit_stds: [0.5, 2], samples: 200, seed: 9 };
  const drawn = json('row-entropy', optionsOf(rows)).rows as Record<string, number>[];
  const entropies = finish(native, 'row-entropy', rows).rows;
  expectSameColumns(entropies, drawn, ['limit_entropy', 'theory_entropy', 'entropy', 'entropy_error']);
  const row = { logits: [12, -3, 0, 2, -11], temperature: 4 };
  const softmax = json('softmax-row', { temperature: 4 }, `--logits=${row.logits.join()}`);
  const one = finish(native, 'softmax-row', row);
  for (const name of ['centred', 'weight', 'gradient', 'clipped', 'clipped_gradient'] as const) {
    expectSame(one[name], softmax[name]);
  }
  const lists = { a: [1, 2, 3, 4], b: [2, 1, 4, 8] };
  expectSame(
    [finish(native, 'rank-correlation', lists).rank_correlation!],
    [json('rank-correlation', optionsOf(lists)).rank_correlation],
  );
});

test('the labs', () => {
  const position = { samples_over_width: [0.5, 1.5], token_width: 30, datasets: 2, seed: 5 };
  const minima = json('position-meaning', optionsOf(position));
  const found = finish(native, 'position-meaning', position);
  expect(found.theory_crossing).not.toBeNull();
  expectSameColumns(found.rows, minima.rows, [
    'difference',
    'difference_error',
    'theory_difference',
    'random_loss',
    'meaning_meaning_overlap',
  ]);
  const latent = { repeats: 3, seed: 5, norms: 'corrected' } as const;
  const classes = json('latent-classes', optionsOf(latent)).rows as Record<string, number>[];
  const own = finish(native, 'latent-classes', latent).rows;
  expectSameColumns(own, classes, ['variance', 'loss', 'tuned_loss', 'shuffled_tuned_loss', 'entropy_error']);
  const settings = { ...latent, angles: 2, harmonics: 3, relevant: 1, spectrum_variance: 0.5, lengths: [16, 64] };
  const values = json('latent-values', optionsOf(settings));
  const read = finish(native, 'latent-values', settings);
  expectSameColumns(read.points, values.points, ['error']);
  expectSame(
    [read.error_slope!, read.error_slope_error!, read.posterior_slope!],
    [values.error_slope, values.error_slope_error, values.posterior_slope],
  );
});

test('the lab of attention priors, to the last digit of its trained weights', () => {
  const settings = { examples: [20, 60], trainings: 2, steps: 60, head_width: 6, seed: 5 };
  const terminal = json('attention-prior', optionsOf(settings));
  const found = finish(native, 'attention-prior', settings);
  expectSameColumns(found.rows, terminal.rows, [
    'accuracy',
    'gain',
    'target_weight',
    'entropy_error',
    'mean',
    'variance',
  ]);
  expectSame([found.mean_correlation!, found.mean_error!], [terminal.mean_correlation, terminal.mean_error]);
});

test('the lab of token priors, to the last digit of its trained weights', () => {
  const { text } = published('', []);
  const settings = { positions: 'learned', bytes: [1000, 5000], trainings: 2, steps: 20, seed: 5 } as const;
  const terminal = json('token-prior', optionsOf(settings));
  const found = finish(native, 'token-prior', { ...settings, text });
  expectSameColumns(found.rows, terminal.rows, [
    'loss',
    'loss_error',
    'added',
    'added_error',
    'largest_weight',
    'mean_weight',
  ]);
});

test.each([
  { learning: 'imitation', slots: 'fixed' },
  { learning: 'policy-gradient', slots: 'shuffled' },
] as const)('the lab of distractors, to the last digit of its trained weights: %o', (choices) => {
  const sizes = { distractors: [0, 5], demonstrations: 50, trainings: 2, steps: 60, feature_width: 6, seed: 5 };
  const settings = { ...sizes, ...choices };
  const terminal = json('agent-attention', optionsOf(settings));
  const found = finish(native, 'agent-attention', settings);
  expectSameColumns(found.rows, terminal.rows, ['accuracy', 'gain', 'accuracy_error', 'relevant_share']);
  expectSameColumns(found.eigenvectors, terminal.eigenvectors, ['share']);
  expectSame([found.most_frequent!], [terminal.most_frequent]);
});

test('a list with a default is not empty', () => {
  const job = (given: object) => () => native.createJob('row-entropy', { samples: 2, ...given });
  expect(job({ lengths: [] })).toThrow('lengths must have an entry');
  expect(run('row-entropy', { lengths: '' }).stderr).toContain('--lengths must be');
  expect(finish(native, 'row-entropy', { samples: 2, lengths: [8] }).rows).toEqual(
    finish(native, 'row-entropy', { samples: 2 }).rows.filter(({ length }) => length === 8),
  );
});

/** Published models of a lab, and the text that they were trained on. */
function published(lab: string, models: string[]) {
  const names = models.map((name) => `web/models/${lab}/${name}.safetensors`);
  const runs = names.map((name) => {
    const bytes = readFileSync(root + name);
    return { name, size: bytes.length, read: (at: number, length: number) => bytes.subarray(at, at + length) };
  }) as unknown as File[];
  return { names, runs, text: readFileSync(BOOK) };
}

test('the lab of hard retrieval, from its published models', () => {
  const { names, runs, text } = published('hard-retrieval', ['softmax-seed1', 'softmax-seed3', 'hard-seed1']);
  const settings = { sequences: 16, peak_weight: 0.6, seed: 4 };
  const terminal = json('hard-retrieval', settings, ...names);
  const found = finish(native, 'hard-retrieval', { ...settings, runs, text });
  // Folders of runs, beside whose checkpoint there are copies of the weights.
  const folders = names.map((name) => {
    const folder = temporaryFolder(onTestFinished);
    for (const file of ['model.safetensors', 'weights.safetensors']) copyFileSync(root + name, join(folder, file));
    return folder;
  });
  expect(json('hard-retrieval', settings, ...folders)).toEqual(terminal);
  expectSameColumns(found.heads, terminal.heads, ['predicted', 'measured', 'hard', 'hard_error', 'uniform', 'random']);
  expectSameColumns(found.correlations, terminal.correlations, ['cost', 'share', 'null', 'null_low', 'p']);
  expectSame(
    [found.agreement!, found.soft!, found.read_hard!, found.trained_hard!],
    [terminal.agreement, terminal.soft, terminal.read_hard, terminal.trained_hard],
  );
});

test('the lab of parallel contexts, from its published models', () => {
  const { names, runs, text } = published('parallel-contexts', ['seed1', 'seed4']);
  const settings = { sequences: 16, kept_blocks: 3, shared_prefix: 5, seed: 4 };
  const terminal = json('parallel-contexts', settings, ...names);
  const found = finish(native, 'parallel-contexts', { ...settings, runs, text });
  expectSameColumns(found.rows, terminal.rows, [
    'loss',
    'added',
    'added_error',
    'added_early',
    'entropy',
    'last_layer_added',
    'factor',
  ]);
  expectSameColumns(found.passages, terminal.passages, ['correlation', 'null_low', 'p']);
  expectSameColumns(found.properties, terminal.properties, ['correlation', 'null_low', 'p']);
  expectSameColumns(found.heads, terminal.heads, ['mean', 'variance', 'entropy_added']);
});

test('the lab on attention entries, from its published models', () => {
  const kinds = ['all-seed1', 'all-seed3', 'without0-seed1', 'penalty0.002-seed3'];
  const { names, runs, text } = published(
    'attention-entries',
    kinds.map((kind) => `next-without-skip-${kind}`),
  );
  const settings = { objective: 'next', attention_skip: 'without', sequences: 16, seed: 4 } as const;
  const terminal = json('attention-entries', settings, ...names);
  const found = finish(native, 'attention-entries', { ...settings, runs, text });
  expectSameColumns(found.rows, terminal.rows, ['ablated', 'ablated_error', 'over_diagonal', 'trained', 'entries']);
  expectSameColumns(found.learned, terminal.learned, ['kept', 'penalty']);
  expectSameColumns(found.masks, terminal.masks, ['entries', 'added', 'trained']);
  expectSameColumns(found.heads, terminal.heads, ['trace', 'excess', 'mass', 'bias_mass', 'predicted']);
  expectSameColumns(found.correlations, terminal.correlations, ['correlation', 'null_low', 'p']);
  expectSame([found.loss!, found.trace_difference!], [terminal.loss, terminal.trace_difference]);
});

test('numbers in messages, which the page writes by the host', () => {
  const bounds = [
    ['mean', 'propagation'],
    ['variance', 'propagation'],
    ['seed', 'simulate'],
    ['temperature', 'propagation'],
  ] as const;
  for (const [field, operation] of bounds) {
    const [, allowed] = /must be (.*): found/.exec(run(operation, { [field]: 'x' }).stderr)!;
    const job = () => native.createJob(operation, { [field]: NaN });
    expect(job).toThrow(`${field} must be ${allowed}: found nan`);
  }
  const texts: (readonly [number, string])[] = [
    ...([
      [2.5, '2.5'],
      [1 / 3, '0.3333333333333333'],
      [1e-4, '0.0001'],
    ] as const),
    ...([
      [-1.5e-5, '-1.5e-05'],
      [123456.5, '123456.5'],
      [1e7, '1e+07'],
    ] as const),
    ...([
      [12345678, '12345678'],
      [-1e300, '-1e+300'],
      [2 ** 53, '9007199254740992'],
    ] as const),
    [Infinity, 'inf'],
    [-Infinity, '-inf'],
  ];
  for (const [length, text] of texts) {
    expect(() => native.createJob('propagation', { length })).toThrow(
      `length must be an integer from 2 to 2048: found ${text}`,
    );
  }
});

const softmaxMeasures = ['entropy', 'participation', 'sensitivity_localization'] as const;

test('the theory of the exact softmax, with gaps, beside a sweep', () => {
  const { mean: _, variance: __, ...common } = base;
  const setting = { ...common, ensemble: 'factored' as const, temperature: 3, samples };
  const grid = { means: [0.1, 0.5], variances: [0.01, 1, 10] };
  const { rows } = json('sweep', { ...optionsOf(setting), ...optionsOf(grid), samples });
  for (const measure of softmaxMeasures) {
    const { value, error } = finish(native, 'lines', { ...setting, ...grid, measure });
    rows.forEach((row: Record<string, number | null>, i: number) => {
      const [found, spread] = [row[`theory_${measure}`]!, row[`theory_${measure}_error`]!];
      if (row.refused) expect([found, spread, value[i], error[i]]).toEqual([null, null, NaN, NaN]);
      else expectSame([value[i]!, error[i]!], [found, spread]);
    });
  }
  expect(rows[3].refused).not.toBe('');
  expect(rows[4].refused).toBe('');
});

test('the theory of the exact softmax for trained heads', () => {
  const tokens = { tokens: 'ar1' as const, correlation: 0.7, length: 40, samples: 200, seed: 9 };
  const { heads } = json('heads', tokens, MINILM, '--measures');
  type Row = Record<'xi' | 'eta_s' | 'eta_f' | 'head_width' | (typeof softmaxMeasures)[number], number>;
  const traced = {
    xi: heads.map(({ xi }: Row) => xi),
    eta_s: heads.map(({ eta_s }: Row) => eta_s),
    eta_f: heads.map(({ eta_f }: Row) => eta_f),
    temperature: heads.map(({ head_width }: Row) => Math.sqrt(head_width)),
  };
  for (const measure of softmaxMeasures) {
    const { value, error } = finish(native, 'head-theory', { ...tokens, ...traced, measure });
    expectSame(
      value,
      heads.map((head: Row) => head[measure]),
    );
    expectSame(
      error,
      heads.map((head: Record<string, number>) => head[`${measure}_error`]),
    );
  }
});

test('a spectrum, an attention matrix and a phase map', () => {
  const own = { ...base, ensemble: 'uniform' as const };
  const { tokens, correlation, length, temperature, ...spectral } = own;
  const drawn = optionsOf(spectral);
  const spectrum = json('spectrum', drawn);
  const { eigenvalues } = finish(native, 'spectrum', spectral);
  const real = (pairs: number[][]) => pairs.map(([re]) => re!).sort((a, b) => a - b);
  expectSame(
    [...eigenvalues].filter((_, i) => i % 2 === 0).sort((a, b) => a - b),
    real(spectrum.eigenvalues),
  );

  const kind = { softmax: 'exact', mask: 'blocks', window: 8, blocks: 3, prefix: 2 } as const;
  const setting = { ...drawn, tokens, correlation, length, temperature, ...kind, selected: 1 };
  const terminal = json('attention', setting);
  const attention = finish(native, 'attention', { ...own, ...kind, selected: 1 });
  expect(attention.entropy[0]).toBeNaN(); // one key
  expectSame(attention.entropy.slice(1), terminal.entropy.slice(1));
  expect(attention.weights).toHaveLength(terminal.weights.flat().length);
  terminal.weights.flat().forEach((weight: number, i: number) => {
    expect(Math.abs(attention.weights[i]! - weight)).toBeLessThan(1e-7);
  });

  const head = finish(native, 'random-head', { ...own, ...kind, selected: 1, query: 20 });
  const terminalHead = json('random-head', { ...setting, query: 20 });
  expect(head.eigenvalues).toEqual(eigenvalues);
  expect(head.weights).toEqual(attention.weights);
  expect(terminalHead.moments).toEqual(spectrum.moments);
  expect(terminalHead.weights).toEqual(terminal.weights);
  const theory = json('propagation', { ...drawn, tokens, correlation, length, temperature, query: 20 });
  for (const name of ['mean', 'std', 'rho'] as const) {
    expect(terminalHead[name]).toEqual(theory[name]);
    expectSame(head[name], theory[name]);
  }
  expectSame([head.localization!], [theory.localization]);
  expect(head.regime).toBe(theory.regime);

  const terminalMap = json('map', { length: 24, asymmetry: 0.3, x_count: 5, y_count: 5 });
  const map = finish(native, 'map', {
    length: 24,
    tokens: 'random-walk' as const,
    correlation: 0,
    asymmetry: 0.3,
    x_count: 5,
    y_count: 5,
  });
  expect(map.localization).toHaveLength(terminalMap.localization.flat().length);
  terminalMap.localization.flat().forEach((index: number | null, i: number) => {
    expect(Number.isNaN(map.localization[i])).toBe(index === null);
    if (index !== null) expect(Math.abs(map.localization[i]! - index)).toBeLessThan(1e-6);
  });
  const regimes = ['uniform', 'late', 'middle', 'early', 'none'];
  expect([...map.regime].map((i) => regimes[i])).toEqual(terminalMap.regime.flat());
});

test.each(['normal', 'factored'] as Ensemble[])('stacks, %s ensemble', (ensemble) => {
  const stack: Stack = {
    ...base,
    ensemble,
    depth: 4,
    heads: 2,
    residual_weight: 0.5,
    stacks: 3,
    shear: 8,
    mlp_ratio: 1.5,
    layer_norm: 'post',
    norm: 'rms-norm',
    values: 'orthogonal',
    weights: 'fresh',
    softmax: 'exact',
    mask: 'window',
    window: 5,
    blocks: 4,
    prefix: 0,
    selected: 256,
  };
  const { mean, variance, ...common } = stack;
  const terminal = json('collapse', optionsOf(stack));
  const points = { means: [1, mean], variances: [2, variance] };
  const found = finish(native, 'collapse', { ...common, ...points });
  const last = finish(native, 'collapse', { ...common, ...points, layers: 'last' });
  expect([...found.layer]).toEqual([0, 1, 2, 3, 4]);
  const measures = Object.keys(terminal).filter((name) => `${name}_error` in terminal);
  expect(measures).toHaveLength(10);
  for (const name of measures as LayerMeasure[]) {
    const column = (key: string): number[] => terminal[key][0].map((value: number | null) => value ?? Number.NaN);
    const own = (table: Float64Array) => [...table.subarray(5)];
    const same = (a: number[], b: number[]) => {
      expect(a).toHaveLength(b.length);
      a.forEach((x, i) => expect(x).toSatisfy((y) => near(y as number, b[i]!)));
    };
    same(own(found[name]), column(name));
    same(own(found[`${name}_error`]), column(`${name}_error`));
    expect(near(last[name][1]!, found[name][9]!)).toBe(true);
  }
  const input = finish(native, 'cosines', { ...withoutStacks(stack), layer: 0 });
  expect(input.length).toBe(base.length);
  for (let i = 0; i < base.length; i++) expect(input.cosines[i * base.length + i]).toBeCloseTo(1, 6);
  const one = withoutStacks(stack);
  const printed = json('token-plane', optionsOf(one));
  const plane = finish(native, 'token-plane', one);
  expect([...plane.layer]).toEqual(printed.layer);
  for (const name of ['residual', 'entropy', 'x', 'y', 'key', 'weight'] as const) {
    const numbers = (printed[name] as (number | null)[] | (number | null)[][]).flat();
    expect(plane[name]).toHaveLength(numbers.length);
    plane[name].forEach((value, i) => expect(value).toSatisfy((it) => near(it as number, numbers[i] ?? NaN)));
  }
});

function withoutStacks({ stacks: _, ...rest }: Stack) {
  return rest;
}

/** Equal to rounding, which depth amplifies; NaN equals NaN. */
function near(a: number, b: number): boolean {
  return Number.isNaN(a) ? Number.isNaN(b) : Math.abs(a - b) < 1e-8 * (1 + Math.abs(b));
}

// The modules read numbers by the host's conversion, the terminal by the C library's.
test.each(['1e-3', '-.5', '+5.', '0.1000000000000000055511151231257827', '1e400', '4.9e-324'])(
  'a number is read alike: %s',
  (text) => {
    const check = () => finish(native, 'check', { operation: 'propagation', field: 'mean', text }) as object;
    const { status, stderr } = run('propagation', { mean: text });
    if (status === 0) expect(check()).toEqual({});
    else expect(check).toThrow(stderr.trim().replace(/^eigenscope: --/, ''));
    const mean = Number(text);
    if (status === 0) expect(json('propagation', { mean: text }).moments.mean).toBeCloseTo(mean, 12);
  },
);

test.each(['', '0x10', '1,5', 'inf', 'nan', '1e', '1 2', ' 1', '--1', 'x'.repeat(200_000)])(
  'what is no number is refused alike: %j',
  (text) => {
    const check = () => finish(native, 'check', { operation: 'propagation', field: 'mean', text });
    expect(check).toThrow(/^mean must be a number from .*: found/);
  },
);
