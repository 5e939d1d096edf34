// What docs/experiments says of its results files is what they hold.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { run } from '../cli/eigenscope';

const folder = new URL('../../docs/experiments/', import.meta.url);
const text = (name: string) => readFileSync(new URL(name, folder), 'utf8');

test('the state of an experiment names the cells that its results file has', () => {
  const [, state] = text('README.md').split('## State');
  const files = readdirSync(folder).filter((name) => name.endsWith('.results.json'));
  expect(files.length).toBeGreaterThan(0);
  for (const name of files) {
    const { cells, missing, grid } = JSON.parse(text(name));
    const line = state.split('\n').find((row) => row.includes(`\`${name}\``));
    expect(line, name).toContain(`${cells.length} of ${cells.length + missing.length}`);
    expect(grid, name).toEqual(JSON.parse(text(name.replace('.results.', '.grid.'))));
  }
});

test.each(readdirSync(folder).filter((name) => name.endsWith('.results.json')))(
  '%s is what collect makes of its cells',
  (name) => {
    const cells = mkdtempSync(join(tmpdir(), 'eigenscope-restored-'));
    const grid = fileURLToPath(new URL(name.replace('.results.', '.grid.'), folder));
    const restore = fileURLToPath(new URL(name, folder));
    const restored = run('collect', { cells, restore }, grid);
    expect(restored.status).toBe(0);
    expect(readdirSync(cells)).toHaveLength(JSON.parse(text(name)).cells.length);
    expect(restored.stdout === text(name)).toBe(true);
    expect(run('collect', { cells }, grid).stdout === text(name)).toBe(true);
    rmSync(cells, { recursive: true });
  },
  120_000, // thousands of files, each safe on the disk
);

/** The rows of the table under a heading of the page: cells without their backquotes. */
function tableUnder(heading: string): string[][] {
  const [, part] = text('README.md').split(`\n### ${heading}\n`);
  if (part === undefined) throw new Error(`docs/experiments/README.md has no part '${heading}'`);
  const lines = part.split(/\n##+ /)[0]!.split('\n');
  return lines
    .filter((line) => line.startsWith('| '))
    .slice(1)
    .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')))
    .map((cells) => cells.slice(1, -1));
}

const results = (name: string) => JSON.parse(text(`${name}.results.json`));
const shown = (value: number | null | undefined, digits: number) =>
  value === null || value === undefined ? '' : value.toFixed(digits);

test('the tables are those that npm run experiments writes', () => {
  const script = fileURLToPath(new URL('write-tables.mjs', folder));
  expect(execFileSync('node', [script, '--print'], { encoding: 'utf8' })).toBe(text('README.md'));
});

test('the table of methods is the results file at the learning rate of the primary metric', () => {
  interface Row {
    axes: { method: string; learning_rate: string };
    bits_per_byte: { runs: number; mean: number; difference?: number; p?: number | null };
    entropy: { mean: number };
  }
  const rows = (results('learning-rate').summary as Row[])
    .filter(({ axes }) => axes.learning_rate === '0.02')
    .sort((a, b) => a.bits_per_byte.mean - b.bits_per_byte.mean)
    .map(({ axes, bits_per_byte: loss, entropy }) => [
      ...[axes.method, String(loss.runs), shown(loss.mean, 3), shown(loss.difference, 3)],
      ...[shown(loss.p, 3), shown(entropy.mean, 2)],
    ]);
  expect(tableUnder('a. At learning rate 0.02')).toEqual(rows);
});

test('the table of predictors is the results file of the map', () => {
  interface Row {
    axes: { layer_norm: string; depth: string };
    predictor: string;
    cells: number;
    rank_correlation: number | null;
    area_under_curve: number | null;
  }
  const { analysis } = results('trainability-map') as { analysis: { rows: Row[] }[] };
  const rows = analysis[0]!.rows.map((row) => [
    ...[`${row.axes.layer_norm}-norm, depth ${row.axes.depth}`, String(row.cells), row.predictor],
    ...[shown(row.rank_correlation, 2), shown(row.area_under_curve, 2)],
  ]);
  expect(tableUnder('d. What predicts the final loss')).toEqual(rows);
});

test('what the page says of the high learning rate holds', () => {
  const { summary } = results('learning-rate');
  const a = new Map(tableUnder('a. At learning rate 0.02').map((row) => [row[0], row.map(Number)]));
  const gain = (method: string) => -a.get(method)![3]!;
  const p = (method: string) => a.get(method)![4]!;
  const entropy = (method: string) => a.get(method)![5]!;
  for (const form of ['locater-m1', 'frobenius-m1', 'effective-m1']) {
    for (const method of ['warmup-clip', 'capped-growth'])
      expect(gain(method), form).toBeGreaterThan(1.9 * gain(form));
    expect(gain('initial-m1')).toBeGreaterThan(gain(form));
  }
  const [, part] = text('README.md').split('\n### a. At learning rate 0.02\n') as [string, string];
  const fewest = Math.min(...[...a.values()].map((row) => row[1]!));
  expect(part).toContain(`of the hypothesis is confirmed for ${fewest} seeds.`);
  for (const form of ['frobenius', 'effective']) {
    const gains = ['-1', '0', '0.5', '1'].map((target) => gain(`${form}-m${target}`));
    expect(gains, form).toEqual([...gains].sort((a, b) => a - b));
    expect(p(`${form}-m1`)).toBeLessThan(0.001);
    expect(part).toContain(
      `${gains.map((it) => it.toFixed(3)).join(', ')} in its ${form} form`.replace(
        'frobenius',
        'Frobenius',
      ),
    );
  }
  expect(Math.abs(gain('frobenius-m0') - gain('random-m1'))).toBeLessThan(0.02);
  for (const method of ['effective-m0', 'qk-decay-1'])
    expect(gain(method)).toBeGreaterThan(gain('effective-m1') / 2);
  expect(part).toContain(
    `with m\\* = 0 in its effective form ${gain('effective-m0').toFixed(3)}, a QK decay of 1 ` +
      `${gain('qk-decay-1').toFixed(3)}`,
  );
  expect(p('qk-decay-4')).toBeGreaterThan(0.05);
  expect(part).toContain(`raises the loss by ${(-gain('locater-m0')).toFixed(3)}`);
  const spread = (
    summary as { axes: Record<string, string>; variance_frobenius: { mean: number } }[]
  ).find(({ axes }) => axes.method === 'locater-m0' && axes.learning_rate === '0.02')!;
  expect(spread.variance_frobenius.mean).toBeGreaterThan(1e6);
  const [frobenius, effective] = ['frobenius-m0', 'effective-m0'].map((it) => gain(it).toFixed(3));
  expect(text('README.md')).toContain(`its smaller gain (${frobenius} and ${effective} at 0.02)`);
  for (const method of ['frobenius-m1', 'frobenius-m-1'])
    expect(entropy(method)).toBeGreaterThan(entropy('none') + 0.1);
  expect(Math.abs(entropy('frobenius-m1') - entropy('frobenius-m-1'))).toBeLessThan(0.05);
  expect(part).toContain(
    `at an entropy of ${entropy('initial-m1').toFixed(2)}, below the baseline's ${entropy('none').toFixed(2)}.`,
  );
  expect(entropy('initial-m1')).toBeLessThan(entropy('none'));
});

/** Small numbers as the page writes them. */
const words = (count: number) =>
  ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'][count - 1]!;

test('what the page says of the learning rates holds', () => {
  const rows = new Map(tableUnder('a. Over learning rates').map((row) => [row[0]!, row]));
  const rates: number[] = results('learning-rate').grid.axes.learning_rate;
  const after = 1 + rates.length; // the columns behind those of the rates
  const losses = (method: string) => rows.get(method)!.slice(1, after).map(Number);
  const at = (method: string, rate: number) => losses(method)[rates.indexOf(rate)]!;
  const excess = (method: string) => Number(rows.get(method)![after]);
  const stable = (method: string) => Number(rows.get(method)![after + 1]);
  const best = (method: string) => Math.min(...losses(method));
  const forms = ['locater-m1', 'frobenius-m1', 'effective-m1'];
  const locaters = [...rows.keys()].filter((method) =>
    /^(locater|frobenius|effective)-m[-.\d]+$/.test(method),
  );
  expect(locaters).toHaveLength(12);
  for (const method of [...forms, 'sigma-reparam']) {
    expect(excess(method), method).toBeLessThan(excess('none'));
    expect(best(method), method).toBeGreaterThan(best('none') + 0.1);
  }
  for (const method of locaters) {
    for (const rate of rates.filter((it) => it <= 0.02))
      expect(at('warmup-clip', rate), `${method} ${rate}`).toBeLessThan(at(method, rate));
  }
  for (const method of forms) {
    if (method !== 'locater-m1') expect(excess(method)).toBeLessThan(excess('warmup-clip'));
    expect(stable(method) === 0.048, method).toBe(method === 'effective-m1');
  }
  expect(at('effective-m1', 0.048)).toBeLessThan(at('warmup-clip', 0.048) + 0.05);
  const known = [...rows.keys()].filter((method) => rows.get(method)![after] !== '');
  expect(Math.min(...known.map(excess))).toBe(excess('capped-growth'));
  expect(best('capped-growth')).toBeLessThan(best('none') - 0.05);
  expect(Math.abs(best('capped-growth') - best('warmup-clip'))).toBeLessThan(0.05);
  interface Row {
    axes: { learning_rate: string };
    runs: number;
  }
  const { summary, cells } = results('learning-rate');
  const counts = (summary as Row[]).map(({ runs }) => runs);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  const range = least === most ? words(most) : `${words(least)} to ${words(most)}`;
  expect(text('README.md')).toContain(`Every number is a mean of ${range} runs.`);
  interface Cell {
    axes: { method: string; learning_rate: string };
    seed: number;
    final: { bits_per_byte: number };
  }
  const first = (method: string) =>
    (cells as Cell[])
      .filter(({ axes, seed }) => axes.method === method && seed === 1)
      .map(({ axes, final }) => [Number(axes.learning_rate), final.bits_per_byte] as const);
  const lowest = (method: string) => Math.min(...first(method).map(([, loss]) => loss));
  for (const method of forms) expect(lowest(method)).toBeGreaterThan(lowest('none') + 0.2);
  const highest = first('effective-m1').find(([rate]) => rate === 0.048)![1];
  expect(highest).toBeGreaterThan(lowest('effective-m1') + 0.25);
  const baseline = (cells as Cell[])
    .filter(({ axes }) => axes.method === 'none' && axes.learning_rate === '0.006')
    .map(({ final }) => final.bits_per_byte);
  expect(text('README.md')).toContain(`its ${words(baseline.length)} runs at 0.006`);
  expect(Math.max(...baseline) - Math.min(...baseline)).toBeGreaterThan(0.2);
});

test('what the page says of the differences at other learning rates holds', () => {
  const rows = new Map(
    tableUnder('a. Differences from `none` at the other learning rates').map((row) => [
      row[0],
      row,
    ]),
  );
  const rates = (results('learning-rate').grid.axes.learning_rate as number[]).filter(
    (rate) => rate !== 0.02,
  );
  const at = (method: string, rate: number) => {
    const cell = rows.get(method)![1 + rates.indexOf(rate)]!;
    const [, difference, p] = /^(\S+) \((\S+)\)$/.exec(cell)!;
    return { difference: Number(difference), p: Number(p) };
  };
  const spread = (methods: string[]) => {
    const differences = methods.map((method) => at(method, 0.003).difference.toFixed(2));
    return `${differences.sort()[0]} to ${differences.at(-1)}`;
  };
  const targets = (...wanted: string[]) =>
    ['locater', 'frobenius', 'effective'].flatMap((form) => wanted.map((it) => `${form}-m${it}`));
  const positive = [...targets('0.5', '1'), 'initial-m1'];
  const others = [...targets('-1'), 'random-m1'];
  for (const method of [...positive, ...others])
    expect(at(method, 0.003).p, method).toBeLessThan(0.05);
  const readme = text('README.md');
  expect(readme).toContain(`ends ${spread(positive)} bits per byte above the baseline`);
  expect(readme).toContain(`cost ${spread(others)} too`);
  for (const method of targets('0')) {
    expect(Math.abs(at(method, 0.003).difference)).toBeLessThan(0.01);
  }
  const high = (method: string) => (-at(method, 0.048).difference).toFixed(3);
  expect(readme).toContain(
    `end ${high('frobenius-m1')} and ${high('effective-m1')} bits per byte lower (p < 0.001 each), ` +
      `warm-up with clipping ${high('warmup-clip')}. With m\\* = -1 the two forms end ` +
      `${high('frobenius-m-1')} and ${high('effective-m-1')} lower, towards a random matrix ` +
      `${high('random-m1')}. That the form with tr(W²) helps is not seen (p ${at('locater-m1', 0.048).p})`,
  );
  for (const method of ['frobenius-m1', 'effective-m1'])
    expect(at(method, 0.048).p).toBeLessThan(0.001);
  for (const method of ['frobenius-m-1', 'effective-m-1', 'random-m1']) {
    expect(at(method, 0.048).difference, method).toBeLessThan(0);
    expect(at(method, 0.048).p, method).toBeLessThan(0.05);
  }
  expect(at('locater-m1', 0.048).p).toBeGreaterThan(0.05);
});

test('what the page says of a mean in some heads or some steps holds', () => {
  interface Row {
    axes: { method: string; learning_rate: string };
    bits_per_byte: { mean: number; difference: number; p: number };
    self_mass: { mean: number };
    mean: { mean: number };
  }
  const { summary, grid } = results('learning-rate') as {
    summary: Row[];
    grid: { axes: { learning_rate: number[] } };
  };
  const of = (method: string, rate: number) =>
    summary.find(({ axes }) => axes.method === method && axes.learning_rate === String(rate))!;
  const loss = (method: string, rate: number) => of(method, rate).bits_per_byte;
  const lower = (method: string) => (-loss(method, 0.02).difference).toFixed(3);
  const other = (method: string) => loss(method, 0.003).difference.toFixed(3);
  const p = (method: string) => `p ${loss(method, 0.003).p.toFixed(3)}`;
  const lowest = (method: string) =>
    grid.axes.learning_rate
      .map((rate) => ({ rate, mean: loss(method, rate).mean }))
      .reduce((a, b) => (b.mean < a.mean ? b : a));
  const said = (value: number) => value.toFixed(value < 1 ? 2 : 3);
  const readme = text('README.md');
  const [half, none] = [lowest('initial-m1-half'), lowest('none')];
  const self = (method: string) => said(of(method, 0.003).self_mass.mean);
  for (const sentence of [
    `heads of each layer ends ${lower('initial-m1-half')} bits per byte lower at 0.02 (p < 0.001), and at ` +
      `0.003 it differs by ${other('initial-m1-half')} (${p('initial-m1-half')}), where in all heads it ` +
      `costs ${other('initial-m1')}. Its lowest loss, ${said(half.mean)} at ${half.rate}, is below the ` +
      `baseline's, ${said(none.mean)}.`,
    `In one head of four it gains ${lower('initial-m1-one')} at 0.02 (p < 0.001) and differs by ` +
      `${other('initial-m1-one')} at 0.003 (${p('initial-m1-one')}).`,
    `a weight of ${self('none')} without a mean, ${self('initial-m1-half')} with the mean in half of the ` +
      `heads, ${self('initial-m1')} in all`,
    `on half of the heads it gains ${lower('frobenius-m1-half')} at 0.02 and costs ` +
      `${other('frobenius-m1-half')} at 0.003 (${p('frobenius-m1-half')}), less than the ` +
      `${other('frobenius-m1')} on all`,
    `what it does throughout (${lower('frobenius-m1-early')} and ${other('frobenius-m1-early')})`,
  ])
    expect(readme).toContain(sentence);
  expect(half.mean).toBeLessThan(none.mean);
  const slow = (method: string) => loss(method, 0.0015).difference.toFixed(3);
  expect(readme).toContain(
    `it ends ${slow('initial-m1-half')} higher (p < 0.001; ${slow('initial-m1')} in all heads)`,
  );
  expect(loss('initial-m1-half', 0.0015).p).toBeLessThan(0.001);
  for (const kind of ['initial-m1', 'frobenius-m1'])
    expect(loss(kind, 0.003).p).toBeLessThan(0.05 / 8);
  for (const method of [
    'initial-m1-half',
    'initial-m1-one',
    'frobenius-m1-half',
    'frobenius-m1-early',
  ])
    expect(loss(method, 0.02).p, method).toBeLessThan(0.001);
  // Of eight tests.
  for (const method of ['initial-m1-half', 'initial-m1-one'])
    expect(loss(method, 0.003).p, method).toBeGreaterThan(0.05);
  for (const method of ['frobenius-m1-half', 'frobenius-m1-early'])
    expect(loss(method, 0.003).p, method).toBeLessThan(0.05 / 8);
  for (const rate of [0.003, 0.02]) {
    const [early, whole] = [loss('frobenius-m1-early', rate), loss('frobenius-m1', rate)];
    expect(Math.abs(early.difference - whole.difference)).toBeLessThan(0.01);
    expect(Math.abs(of('frobenius-m1-early', rate).mean.mean - 1)).toBeLessThan(0.05);
  }
});

/** Runs of one initialization that escape from rank collapse, as the results file has them. */
interface Share {
  axes: { depth: string; init_scale: string; alpha: string };
  runs: number;
  below: number;
  share: number;
  low: number;
  high: number;
}

test('the table of escapes is the results file: a row for each depth, scale and alpha with runs', () => {
  const { analysis, cells } = results('rank-escape');
  const rows = (analysis[0].rows as Share[])
    .map(({ axes, ...row }) => [
      ...[axes.depth, axes.init_scale, axes.alpha, String(row.runs), String(row.below)],
      ...[shown(row.share, 2), `${shown(row.low, 2)} to ${shown(row.high, 2)}`],
    ])
    .sort((a, b) => [0, 1, 2].map((at) => Number(a[at]) - Number(b[at])).find(Boolean)!);
  const counted = tableUnder('b. Share of runs that escape').map((row) => row.slice(0, 7));
  expect(counted).toEqual(rows);
  expect(rows.reduce((sum, row) => sum + Number(row[3]), 0)).toBe(cells.length);
});

test('what the page says of the escape from rank collapse holds', () => {
  const { analysis, summary, cells } = results('rank-escape');
  const shares: Share[] = analysis[0].rows;
  interface Tested {
    axes: Share['axes'];
    bits_per_byte: { difference?: number; p?: number; pairs?: number };
  }
  const tested = (summary as Tested[])
    .filter(({ axes }) => axes.alpha !== '0')
    .map(
      ({ axes, bits_per_byte }) =>
        ({ axes, ...bits_per_byte }) as Required<Tested>['bits_per_byte'] & Tested,
    );
  const has = (depth: string, scale: string, alpha: string) => (it: { axes: Share['axes'] }) =>
    it.axes.depth === depth && it.axes.init_scale === scale && it.axes.alpha === alpha;
  const counted = (own: Share[]) => {
    const sum = (of: 'below' | 'runs') => own.reduce((total, row) => total + row[of], 0);
    return `${sum('below')} of ${sum('runs')}`;
  };
  const said = (depth: string, scale: string, alpha: string) => {
    const { difference, p, pairs } = tested.find(has(depth, scale, alpha))!;
    const escaped = counted(shares.filter(has(depth, scale, alpha)));
    return { difference: difference!, p: shown(p, 3), pairs, escaped };
  };
  const readme = text('README.md');
  const plan = results('rank-escape').grid.stages.at(-1).seeds;
  for (const { runs } of shares) expect(runs).toBe(plan);

  const means = (cells as { axes: Share['axes']; initial: { mean: number } }[])
    .filter(has('8', '2', '1'))
    .map(({ initial }) => initial.mean);
  const mean = (means.reduce((a, b) => a + b) / means.length).toFixed(2);
  const largest = said('8', '2', '1');
  expect(readme).toContain(
    `with s = 2 and alpha = 1, a mean of the eigenspectrum of ${mean} at initialization, the final loss at ` +
      `depth 8 is ${shown(-largest.difference, 3)} bits per byte below that with alpha = 0 ` +
      `(p ${largest.p}, ${largest.pairs} pairs), and ${largest.escaped} runs leave the plateau against ` +
      `${counted(shares.filter(has('8', '2', '0')))}. Of the ${tested.length} paired tests`,
  );
  const found = tested.filter(({ p }) => p! < 0.05 / tested.length);
  expect(found.map(({ axes }) => axes)).toEqual([{ depth: '8', init_scale: '2', alpha: '1' }]);
  const smaller = tested.filter(
    ({ axes }) => Number(axes.alpha) > 0 && (axes.init_scale === '1' || axes.alpha === '0.5'),
  );
  const least = Math.min(...smaller.map(({ p }) => p!));
  expect(least).toBeGreaterThan((10 * 0.05) / tested.length); // far above
  expect(readme).toContain(
    `of the ${smaller.length} tests with s = 1 (means up to 0.25) or alpha = 0.5 the smallest p is ` +
      `${shown(least, 3)}, far above 0.05 / ${tested.length}.`,
  );
  const deepest = said('16', '2', '1');
  expect(readme).toContain(
    `the same way (${shown(deepest.difference, 3)}, p ${deepest.p}); at depth 4 nearly all runs`,
  );
  const negative = said('8', '2', '-1');
  expect(Number(negative.p)).toBeGreaterThan(0.05);
  expect(readme).toContain(
    `alpha = -1 the loss differs by ${shown(negative.difference, 3)} (p ${negative.p}), and ` +
      `${negative.escaped} runs leave the plateau.`,
  );

  const at = (depth: string, scale?: string) =>
    shares.filter(
      ({ axes }) => axes.depth === depth && [axes.init_scale, undefined].includes(scale),
    );
  const [shallow, middle, deep] = ['4', '8', '16'].map((depth) => counted(at(depth)));
  expect(readme).toContain(
    `at depth 4 ${shallow} runs leave the plateau, at depth 8 ${middle}, at depth 16 ${deep}. ` +
      `At depth 8 ${counted(at('8', '2'))} do with s = 2, and ${counted(at('8', '1'))} with s = 1.`,
  );
  for (const depth of ['4', '8', '16']) {
    for (const scale of ['1', '2']) {
      const own = at(depth, scale);
      expect(own).toHaveLength(5);
      const highest = Math.max(...own.map(({ low }) => low));
      expect(highest).toBeLessThan(Math.min(...own.map(({ high }) => high)));
    }
  }
});

test('what the page says of the paper’s setting holds', () => {
  const rows = tableUnder("c. The paper's setting");
  const [, part] = text('README.md').split("\n### c. The paper's setting\n");
  const { grid, summary } = results('paper-setting');
  const planned = Object.keys(grid.axes.method);
  const { seeds } = grid.stages.at(-1);
  expect(rows).toHaveLength(2 * planned.length);
  for (const [method, biases, count] of rows) {
    expect(planned).toContain(method);
    expect(count, `${method} ${biases}`).toBe(String(seeds));
  }
  const saidP = (p: string) => (p === '0.000' ? 'p < 0.001' : `p ${p}`);
  const signed = (value: string) => (value.startsWith('-') ? value : `+${value}`);
  const [withBiases, without] = ['with', 'without'].map((biases) => {
    const row = rows.find((it) => it[0] === 'frobenius-1' && it[1] === biases)!;
    return {
      perplexity: `${signed(row[4]!)} (${saidP(row[5]!)}) ${biases} biases`,
      entropy: `${row[9]} (${saidP(row[10]!)}) ${biases} biases`,
      p: Number(row[5]),
      entropyP: Number(row[10]),
    };
  });
  expect(part).toContain(
    `changes the perplexity by ${withBiases!.perplexity} and by ${without!.perplexity}, ` +
      `${words(seeds)} pairs each`,
  );
  expect(part).toContain(
    `raises the attention entropy by ${withBiases!.entropy} and by ${without!.entropy}`,
  );
  expect(withBiases!.p).toBeGreaterThan(0.05);
  expect(without!.p).toBeLessThan(0.05);
  expect(Math.max(withBiases!.entropyP, without!.entropyP)).toBeLessThan(0.05);
  const [lowest] = rows
    .filter((row) => row[5] !== '')
    .sort((a, b) => Number(a[4]) - Number(b[4])) as [string[]];
  expect(part).toContain(
    `The largest decrease is ${lowest[4]!.replace('-', '')} (\`${lowest[0]}\` ${lowest[1]} biases, ` +
      `p ${lowest[5]} from ${words(Number(lowest[2]))} pairs), where attention does not change.`,
  );
  expect(Math.abs(Number(lowest[9]))).toBeLessThanOrEqual(0.02);
  const of = (method: string, biases: string) => {
    const row = rows.find((it) => it[0] === method && it[1] === biases)!;
    const [perplexity, , , entropy, variance, share, rise] = row.slice(3).map(Number) as number[];
    return {
      perplexity: perplexity!,
      entropy: entropy!,
      variance: variance!,
      share: share!,
      rise: rise!,
    };
  };
  for (const biases of ['with', 'without']) {
    const none = of('none', biases);
    expect(Math.round(none.perplexity)).toBe(biases === 'with' ? 103 : 104);
    for (const [method, own] of rows) {
      if (own !== biases) continue;
      const { perplexity } = of(method!, biases);
      expect(perplexity, method).toBeGreaterThan(none.perplexity - 1);
    }
    for (const method of ['locater-0.1', 'locater-1']) {
      expect(of(method, biases).variance).toBeGreaterThan(1e6);
      expect(of(method, biases).perplexity).toBeGreaterThan(1.5 * none.perplexity);
      const traces = (summary as { axes: Record<string, string>; variance: { mean: number } }[])
        .filter(({ axes }) => axes.method === method && axes.query_key_bias === biases)
        .map(({ variance }) => variance.mean);
      expect(traces[0]).toBeLessThan(-1e6); // complex eigenvalues
    }
    for (const strength of ['0.01', '0.1', '1', '10']) {
      const acts = [of(`effective-${strength}`, biases)];
      if (biases === 'without') acts.push(of(`frobenius-${strength}`, biases));
      for (const it of acts) {
        expect(it.entropy).toBeGreaterThanOrEqual(0.999);
        expect(it.perplexity).toBeGreaterThan(none.perplexity);
      }
    }
  }
  for (const strength of ['0.1', '1']) {
    const evaded = of(`frobenius-${strength}`, 'with');
    expect(evaded.variance).toBeLessThan(0.01);
    expect(Math.abs(evaded.rise)).toBeLessThanOrEqual(0.02);
    expect(evaded.share).toBeGreaterThan(0.5);
  }
  const [, , , , , , entropy, , , rise, p] = rows.find(
    (row) => row[0] === 'frobenius-10' && row[1] === 'with',
  )!;
  expect(part).toContain(`At strength 10 the entropy rises by ${rise} (${saidP(p!)}) with biases`);
  expect(Number(entropy)).toBeLessThan(0.97); // not uniform
});

/** A caption of the page as its source has it, in one line. */
function captionOf(figure: string): string {
  const view = readFileSync(new URL('../../web/chapters/train/view.html', folder), 'utf8');
  const [, caption] = new RegExp(`<x-figure name="${figure}">(.*?)</x-figure>`, 's').exec(view)!;
  return caption.replace(/\s+/g, ' ');
}

test('captions of the page name the settings of the grids, and what they say of results holds', () => {
  const high = results('learning-rate');
  const { depth, steps, warmup, clip, weight_decay } = high.grid.settings;
  expect([warmup, clip, weight_decay]).toEqual([0, 0, 0]);
  expect(captionOf('high-rate')).toContain('a learning rate of 0.02 is too high for the baseline');
  expect(captionOf('high-rate')).toContain(
    `(${words(depth)} layers, no warm-up, clipping or decay, ${steps} steps), and its attention entropy collapses`,
  );
  interface Row {
    axes: { method: string; learning_rate: string };
    bits_per_byte: { mean: number };
    entropy: { mean: number };
  }
  const at = (rate: string) =>
    (high.summary as Row[]).find(
      ({ axes }) => axes.method === 'none' && axes.learning_rate === rate,
    )!;
  expect(at('0.02').bits_per_byte.mean).toBeGreaterThan(at('0.006').bits_per_byte.mean + 0.25);
  expect(at('0.02').entropy.mean).toBeLessThan(at('0.006').entropy.mean / 3);

  const escape = results('rank-escape').grid;
  const depths: number[] = escape.axes.depth;
  expect(captionOf('escape')).toContain(
    `(${escape.settings.layer_norm}-norm, ${depths.slice(0, -1).join(', ')} and ${depths.at(-1)} layers, no warm-up, ` +
      `learning rate ${escape.settings.learning_rate})`,
  );
  expect(captionOf('escape')).toContain(`within ${escape.settings.steps} steps`);
  const map = results('trainability-map').grid.settings;
  expect(map.warmup).toBe(0);
  expect(captionOf('trainability')).toContain(
    `(width ${map.width}, ${map.steps} steps, no warm-up)`,
  );
  const paper = results('paper-setting').grid.settings;
  expect([paper.depth, paper.heads, paper.layer_norm]).toEqual([1, 1, 'post']);
  for (const { grid } of [high, results('rank-escape')]) {
    const plateau = grid.analysis.find(({ kind }: { kind: string }) => kind === 'plateau');
    expect(captionOf('plateaus')).toContain(`below ${plateau.below} bits per byte`);
  }
});

test("the paper's setting reads its text as often as its plan says", () => {
  const { grid } = results('paper-setting');
  const { steps, batch, length } = grid.settings;
  const book = readFileSync(new URL(`../../${grid.text}`, folder), 'utf8');
  const tokens = book.split(/\s+/).length + book.split('\n').length; // a word each, and one a line
  expect(steps * batch * length).toBeGreaterThan(4 * tokens);
  expect(text('README.md')).toContain('more than four times the text');
});

test('what the page says of plateaus holds', () => {
  const rows = tableUnder("e. What a plateau's length goes with");
  const of = ([experiment, depth]: readonly [string, string], driver: string) =>
    Number(rows.find((row) => [experiment, depth, driver].every((it, i) => row[i] === it))![5]);
  const rates = ['learning-rate', '4'] as const;
  const parts = (['4', '8', '16'] as const).map((depth) => ['rank-escape', depth] as const);
  for (const part of [rates, ...parts]) {
    expect(of(part, 'sensitivity')).toBeGreaterThan(0);
    expect(of(part, 'gradient_query_key')).toBeLessThan(-0.3);
  }
  for (const part of parts.slice(0, 2)) {
    expect(of(part, 'gradient_query_key')).toBeLessThan(of(rates, 'gradient_query_key'));
    expect(of(part, 'gradient_query_key')).toBeLessThan(of(parts[2]!, 'gradient_query_key'));
  }
  const readme = text('README.md');
  const relations = tableUnder('e. Gradient against sensitivity').map((row) => ({
    experiment: row[0]!,
    over: Number(row[4]),
    within: Number(row[5]),
  }));
  const [first, ...others] = relations;
  expect(first!.experiment).toBe('learning-rate');
  for (const { within } of relations) expect(within).toBeLessThan(0);
  const within = others.map((row) => row.within);
  expect(readme).toContain(
    `(mean rank correlation ${shown(first!.within, 2)} in a, ${shown(Math.min(...within), 2)} to ` +
      `${shown(Math.max(...within), 2)} in b). Over the rows of all runs the same holds in b ` +
      `(${shown(Math.min(...others.map(({ over }) => over)), 2)} to ` +
      `${shown(Math.max(...others.map(({ over }) => over)), 2)}); in a, whose learning rates and methods ` +
      `differ, there is no relation (${shown(first!.over, 2)}).`,
  );
  for (const { over } of others) expect(over).toBeLessThan(0);
  expect(Math.abs(first!.over)).toBeLessThan(0.1);
  const hardly = of(rates, 'sensitivity');
  expect(hardly).toBeLessThan(0.2);
  expect(readme).toContain(
    'In b, at each depth, it is the larger the longer the plateau lasts, in a there is hardly a ' +
      `relation (${hardly.toFixed(2)})`,
  );
  expect(readme).toContain('most clearly where ranks collapse (depths 4 and 8).');
  const [, , , runs, never] = rows.find((row) => row[1] === '16')!;
  expect(readme).toContain(`At depth 16 ${never} of ${runs} runs stay on the plateau to the end`);
  const grid = results('rank-escape').grid.axes.depth as number[];
  const depths = rows.filter(([name]) => name === 'rank-escape').map((row) => Number(row[1]));
  expect([...new Set(depths)].filter((it) => !grid.includes(it))).toEqual([]);
  expect(depths).toEqual([...depths].sort((a, b) => a - b));
});

test('what the page says of the freezing of logits holds', () => {
  interface Row {
    axes: { layer_norm: string; depth: string };
    scales: { alpha: number; init_scale: number }[];
    mean_beyond: number;
    mean_before: number;
    rank_correlation: number;
  }
  interface Cell {
    axes: Record<'layer_norm' | 'depth' | 'alpha' | 'init_scale', string>;
    initial: { logit_variance: number };
    final: { bits_per_byte: number };
  }
  const { analysis, cells, grid } = results('trainability-map');
  const rows: Row[] = analysis.find(({ kind }: { kind: string }) => kind === 'freezing').rows;
  const predictors = analysis.find(({ kind }: { kind: string }) => kind === 'predictors').rows;
  expect(rows).toHaveLength(4);
  const near: number[] = [];
  const far: number[] = [];
  for (const { axes, scales, ...row } of rows) {
    const own = (cells as Cell[]).filter(
      (cell) => cell.axes.layer_norm === axes.layer_norm && cell.axes.depth === axes.depth,
    );
    const measured = predictors.find(
      (it: Row & { predictor: string }) =>
        it.predictor === 'logit_variance' &&
        it.axes.layer_norm === axes.layer_norm &&
        it.axes.depth === axes.depth,
    );
    expect(Math.abs(row.rank_correlation - measured.rank_correlation)).toBeLessThan(0.03);
    // Measured over predicted variance; the first layer of a post-norm model has next to none.
    const depth = Number(axes.depth);
    const layers = axes.layer_norm === 'post' ? (depth - 1) / depth : 1;
    const ratios = (alphas: number[]) =>
      scales
        .filter(({ alpha }) => alphas.includes(alpha))
        .flatMap(({ alpha, init_scale }) =>
          (grid.axes.init_scale as number[]).map((scale) => {
            const runs = own.filter(
              (cell) => Number(cell.axes.alpha) === alpha && Number(cell.axes.init_scale) === scale,
            );
            const measured = runs.reduce((sum, { initial }) => sum + initial.logit_variance, 0);
            const predicted = (scale / init_scale) ** 4 * 2 * Math.log(grid.settings.length);
            return measured / runs.length / (layers * predicted);
          }),
        );
    near.push(...ratios([-0.0667, 0.0667]));
    far.push(...ratios([-1, 1]));
    if (axes.layer_norm === 'post') {
      if (depth === 2) expect(row.mean_beyond).toBeLessThan(row.mean_before - 0.1);
      continue;
    }
    expect(Math.abs(row.mean_beyond - row.mean_before - 0.1)).toBeLessThan(0.05);
    const means = (grid.axes.init_scale as number[]).map((scale) => {
      const losses = own
        .filter((cell) => Number(cell.axes.init_scale) === scale)
        .map(({ final }) => final.bits_per_byte);
      return losses.reduce((a, b) => a + b) / losses.length;
    });
    const steps = means.slice(1).map((mean, i) => mean - means[i]!);
    const across = (grid.axes.init_scale as number[]).findIndex(
      (scale) => scale > Math.max(...scales.map(({ init_scale }) => init_scale)),
    );
    expect(steps[across - 1]).toBeLessThan(Math.max(...steps));
  }
  expect(near).toHaveLength(4 * 2 * 16);
  expect(text('README.md')).toContain(
    `${Math.min(...near).toFixed(2)} to ${Math.max(...near).toFixed(2)} of the predicted one`,
  );
  expect(Math.min(...far)).toBeGreaterThan(1.7);
  expect(Math.max(...far)).toBeLessThan(2.3);
});

test('what the page says of the map of initializations holds', () => {
  const d = tableUnder('d. What predicts the final loss');
  const correlation = (cells: string, measure: string) =>
    Number(d.find((row) => row[0] === cells && row[2] === measure)![3]);
  const trained = ['pre-norm, depth 2', 'pre-norm, depth 6', 'post-norm, depth 2'];
  const analysis = results('trainability-map').analysis[0].rows as {
    axes: { layer_norm: string; depth: string };
    predictor: string;
    rank_correlation: number;
    area_under_curve: number;
  }[];
  for (const cells of trained) {
    const of = (measure: string) => {
      const { rank_correlation, area_under_curve } = analysis.find(
        ({ axes, predictor }) =>
          `${axes.layer_norm}-norm, depth ${axes.depth}` === cells && predictor === measure,
      )!;
      return [Math.abs(rank_correlation), Math.abs(area_under_curve - 0.5)] as const;
    };
    of('localization').forEach((value, i) => expect(value).toBeLessThan(of('entropy')[i]!));
    const better = of('localization')[0] > of('last_residual')[0];
    expect(better, cells).toBe(cells === 'post-norm, depth 2');
    expect(of('mean')[0]).toBeLessThan(0.3);
    if (cells.startsWith('pre')) expect(correlation(cells, 'entropy')).toBeLessThan(-0.5);
    else expect(correlation(cells, 'entropy')).toBeGreaterThan(0.5);
  }
  const against = (cells: string) =>
    ['localization', 'last_residual'].map((measure) => correlation(cells, measure).toFixed(2));
  const [shallow, deep, post] = trained.map((cells) => against(cells).join(' against '));
  expect(text('README.md')).toContain(
    `(rank correlation ${post}), not in pre-norm ones (${shallow} at depth 2, ${deep} at depth 6).`,
  );
  interface Cell {
    axes: { layer_norm: string; depth: string };
    bits_per_byte: { mean: number };
  }
  const plateau = (results('trainability-map').summary as Cell[])
    .filter(({ axes }) => axes.layer_norm === 'post' && axes.depth === '6')
    .map(({ bits_per_byte }) => bits_per_byte.mean);
  expect(plateau.length).toBe(256);
  expect(Math.max(...plateau) - Math.min(...plateau)).toBeLessThan(0.001);
  expect(Math.min(...plateau)).toBeGreaterThan(4.5);
});
