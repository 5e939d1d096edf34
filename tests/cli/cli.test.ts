import { copyFileSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseCsv } from '../csv.ts';
import { bash, expectRefused, json, MINILM, raw, run, temporaryFolder } from './eigenscope.ts';

const folder = temporaryFolder();

/** A .safetensors file with this header text and `data` bytes, all `byte`. */
function safetensors(name: string, header: string, data = 0, byte = 0): string {
  const path = join(folder, name);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(Buffer.byteLength(header)));
  writeFileSync(path, Buffer.concat([length, Buffer.from(header), Buffer.alloc(data, byte)]));
  return path;
}

/** One layer of BERT's family, 4 wide, all of whose weights are made of `byte`. */
function bareLayer(file: string, byte = 0): string {
  const shape = { dtype: 'F32', shape: [4, 4] };
  const name = (kind: string) => `encoder.layer.0.attention.self.${kind}.weight`;
  const header = JSON.stringify({
    [name('query')]: { ...shape, data_offsets: [0, 64] },
    [name('key')]: { ...shape, data_offsets: [64, 128] },
  });
  return safetensors(file, header, 128, byte);
}

describe('eigenscope propagation', () => {
  test('writes one CSV row a position', () => {
    const { stdout } = run('propagation', { length: 5 }, '--csv');
    const lines = stdout.trim().split('\n');
    expect(lines[0]).toBe('position,mean,std,rho');
    expect(lines).toHaveLength(6);
  });
});

test('a single number is a row of CSV', () => {
  expect(run('rank-correlation', { a: '1,2,3', b: '1,2,4' }, '--csv').stdout).toBe('rank_correlation\n1.0\n');
});

describe('eigenscope simulate', () => {
  const options = { ensemble: 'factored', head_width: 16, variance: 0.3, length: 20, seed: 4 };

  test('holds the same names in theory and simulation, the latter with errors', () => {
    const { theory, ...simulation } = json('simulate', { ...options, samples: 500 });
    for (const name of Object.keys(theory)) expect(simulation).toHaveProperty(name);
    for (const name of ['mean', 'std', 'rho']) {
      expect(simulation[`${name}_error`]).toHaveLength(20);
    }
    expect(simulation.localization_error).toBeGreaterThan(0);
    expect(simulation.samples).toBe(500);
  });

  test('repeats itself for a seed and changes with it', () => {
    const first = json('simulate', { ...options, samples: 50 });
    expect(json('simulate', { ...options, samples: 50 })).toEqual(first);
    const other = json('simulate', { ...options, samples: 50, seed: 5 });
    expect(other.localization).not.toBe(first.localization);
    expect(Object.keys(other)).toEqual(Object.keys(first));
  });

  test('takes mean and variance from a list of eigenvalues', () => {
    const list = { ensemble: 'list', eigenvalues: '1,2,6', samples: 50 };
    const { moments } = json('simulate', list);
    expect(moments.width).toBe(3);
    expect(moments.mean).toBeCloseTo(3, 12);
    expect(moments.variance).toBeCloseTo(14 / 3, 12);
    expect(json('simulate', { ...list, mean: 1 }).moments.mean).toBeCloseTo(1, 12);
  });
});

describe('eigenscope sweep', () => {
  test('has one row a variance, equal to simulate at that variance', () => {
    const common = { mean: 0.2, length: 16, samples: 200, seed: 3 };
    const { rows } = json('sweep', { ...common, variances: '0.01,0.1,1' });
    expect(rows.map((row: { variance: number }) => row.variance)).toEqual([0.01, 0.1, 1]);
    const { theory, ...simulation } = json('simulate', { ...common, variance: 0.1 });
    expect(rows[1].theory_localization).toBe(theory.localization);
    for (const name of ['localization', 'localization_error', 'entropy', 'participation']) {
      expect(rows[1][name]).toBe(simulation[name]);
    }
  });

  test('leaves gaps where the ensemble cannot be, in JSON and CSV', () => {
    const options = { ensemble: 'factored', head_width: 8, mean: 0.5, variance_min: 0.01, variance_max: 10, count: 2 };
    const [first, last] = json('sweep', { ...options, samples: 10 }).rows;
    expect(first.localization).toBeNull();
    expect(first.refused).toContain('at least the rank floor 1.75');
    expect(last.refused).toBe('');
    const rows = parseCsv(run('sweep', { ...options, samples: 10 }, '--csv').stdout);
    expect(rows.map((row) => row.refused)).toEqual([first.refused, '']);
    expect(rows[0]!.refused).toMatch(/^variance must be at least the rank floor .*: found 0.01$/);
    expect(rows[0]!.localization).toBe('');
    expect(Number(rows[1]!.localization)).toBe(last.localization);
  });
});

describe('eigenscope collapse', () => {
  const small = { depth: 3, width: 16, length: 12, stacks: 4 };

  test('has the input and every layer, with errors, in JSON and CSV', () => {
    const found = json('collapse', small);
    expect(found.layer).toEqual([0, 1, 2, 3]);
    expect(found.entropy[0][0]).toBeNull();
    for (const name of ['residual', 'stable_rank', 'effective_rank', 'cosine', 'entropy']) {
      expect(found[name][0][3]).toBeGreaterThan(0);
      expect(found[`${name}_error`][0][3]).toBeGreaterThan(0);
    }
    expect(found.entropy[0][3]).toBeGreaterThan(found.entropy_minimum[0][3]);
    expect(found.entropy[0][3]).toBeGreaterThan(found.entropy_bound[0][3]);
    const lines = run('collapse', small, '--csv').stdout.trim().split('\n');
    expect(lines).toHaveLength(5);
    expect(lines[0]).toMatch(/^point,mean,variance,layer,samples,residual,residual_error,/);
  });

  test('a cell of the map is the last layer at its point; cells that cannot be say why', () => {
    const cells = json('collapse-map', { ...small, means: '0,1', variances: '0.1,2' });
    expect(cells.mean).toEqual([0, 0, 1, 1]);
    expect(cells.variance).toEqual([0.1, 2, 0.1, 2]);
    const stack = json('collapse', { ...small, mean: 1, variance: 2 });
    expect(cells.residual[3][0]).toBeCloseTo(stack.residual[0][3], 12);
    const factored = { ...small, ensemble: 'factored', head_width: 4 };
    const cell = json('collapse-map', { ...factored, means: 1, variances: 0 });
    expect(cell.refused[0]).toContain('variance must be at least the rank floor');
    expect(cell.residual[0][0]).toBeNull();
  });

  test('a stack that overflows says where, and keeps what came before', () => {
    const deep = { ...small, depth: 400, residual_weight: 10, layer_norm: 'none' };
    const ran = run('collapse', deep, '--csv');
    expect(ran.status).toBe(0);
    expect(ran.stderr).toMatch(/overflow in layer \d+/);
    const rows = ran.stdout.trim().split('\n');
    expect(rows[100]).toMatch(/^1,0.25,0.1,99,4,0\.\d/);
    expect(rows[400]).toMatch(/^1,0.25,0.1,399,0,,/);
  });

  test('one token is refused by its length, no layers give the input alone', () => {
    expect(run('collapse', { length: 1 }).stderr).toContain('--length must be an integer from 2 to 2048: found 1');
    expect(json('collapse', { ...small, depth: 0 }).layer).toEqual([0]);
  });
});

describe('eigenscope heads', () => {
  test('finds the 72 heads of MiniLM with their eigenvalues', () => {
    const { heads } = json('heads', {}, MINILM, '--eigenvalues');
    expect(heads).toHaveLength(72);
    for (const name of ['layer', 'head', 'width', 'head_width', 'xi', 'eta_s', 'eta_f', 'mean']) {
      expect(heads[71]).toHaveProperty(name);
    }
    for (const name of ['variance', 'variance_frobenius', 'variance_modulus', 'localization']) {
      expect(heads[71][name]).toEqual(expect.any(Number));
    }
    expect(heads[71].eigenvalues).toHaveLength(32);
    expect(heads[71].eigenvalues[0]).toHaveLength(2);
    // What it says of localization is what `propagation` says of the same traces.
    const { xi, eta_s, eta_f, localization } = heads[40];
    const tokens = { tokens: 'normalized-walk', length: 128, temperature: Math.sqrt(32) };
    expect(json('propagation', { xi, eta_s, eta_f, ...tokens }).localization).toBeCloseTo(localization, 12);
  });

  test('takes the head count from the user where there is no config', () => {
    const path = bareLayer('bare.safetensors');
    expect(json('heads', { heads: 2 }, path).heads).toHaveLength(2);
    expectRefused(run('heads', {}, path), '--heads must be given, an integer from 1 to');
    // A given count does not take the place of a config.
    const both = mkdtempSync(join(folder, 'both-'));
    copyFileSync(path, join(both, 'model.safetensors'));
    writeFileSync(join(both, 'config.json'), '{');
    expect(run('heads', { heads: 2 }, both).stderr).toContain('config.json');
    expectRefused(
      run('heads', { heads: 3 }, path),
      /^eigenscope: --heads must divide the outputs of the queries: .* 3 heads/,
    );
  });

  test('has a header where every head was left out, and says which', () => {
    const path = bareLayer('nan.safetensors', 0xff);
    const typed = { heads: 2, model_type: 'bert' };
    const full = run('heads', typed, bareLayer('zero.safetensors'), '--csv', '--measures');
    const none = run('heads', typed, path, '--csv', '--measures');
    expect(none.status).toBe(0);
    expect(none.stdout).toBe(`${full.stdout.split('\n')[0]}\n`);
    expect(none.stderr).toMatch(/^eigenscope: left out layer 0 head 0: 16 NaN.*\n.*head 1/);
  });

  test('predicts the softmax measures only when asked, and they need --measures', () => {
    const options = { length: 12, seed: 2 };
    const path = bareLayer('measured.safetensors');
    const typed = { heads: 2, model_type: 'bert' };
    const [head] = json('heads', { ...typed, samples: 20, ...options }, path, '--measures').heads;
    // Zero weights: every key has the same attention.
    expect(head.entropy).toBeCloseTo(1, 12);
    expect(head.participation).toBeCloseTo(1, 12);
    for (const name of ['entropy_error', 'participation_error', 'sensitivity_localization']) {
      expect(head).toHaveProperty(name);
    }
    expect(json('heads', { heads: 2 }, path).heads[0]).not.toHaveProperty('entropy');
    expect(run('heads', { heads: 2, samples: 20 }, path).stderr).toContain('--measures');
  });

  test('refuses a missing file and a broken tensor by name', () => {
    expect(run('heads', {}, join(folder, 'nowhere')).stderr).toContain('nowhere');
    const header = '{"w.query":{"dtype":"F32","shape":[2,2],"data_offsets":[0,64]}}';
    expectRefused(run('heads', { heads: 1 }, safetensors('short.safetensors', header, 16)), 'w.query', 1);
  });

  test.each([['pytorch_model.bin', '\x80\x02}q\x00.', 'it is a Python pickle']])(
    'says what %s is and how to convert it',
    (name, bytes, words) => {
      const path = join(folder, name);
      writeFileSync(path, bytes, 'latin1');
      const ran = run('heads', {}, path);
      expectRefused(ran, words, 1);
      expect(ran.stderr).toMatch(/not \.safetensors: .*(transformers|torch\.load)/);
    },
  );
});

describe('names that a file brings', () => {
  const scalar = { dtype: 'F32', shape: [1], data_offsets: [0, 4] };
  const file = (name: string, ...tensors: string[]) => {
    const at = (k: number) => ({ ...scalar, data_offsets: [4 * k, 4 * k + 4] });
    const header = Object.fromEntries(tensors.map((tensor, k) => [tensor, at(k)]));
    return safetensors(name, JSON.stringify(header), 4 * tensors.length);
  };

  test('are no formulas and no control characters in CSV', () => {
    const names = ['=HYPERLINK("http://x","y")', '+1', '-1', '@a', '\ta', 'a\u009b\u007f=', 'a\u001b[2J'];
    const { stdout } = run('tensors', {}, file('formulas.safetensors', ...names), '--csv');
    for (const cell of [
      `"'=HYPERLINK(""http://x"",""y"")"`,
      "'+1",
      "'-1",
      "'@a",
      "'\ta",
      'a\ufffd\ufffd=',
      'a\ufffd[2J',
    ]) {
      expect(stdout).toContain(`,${cell}\n`);
    }
    const [first] = parseCsv(run('spectrum', { mean: -1, width: 4 }, '--csv').stdout);
    expect(Number(first!.eigenvalues_re)).toBeLessThan(0);
  });

  test('are no control characters and not endless in messages', () => {
    const path = file('controls.safetensors', 'a\u001b[2J');
    const { stderr } = run('heads', {}, path);
    expect(stderr).toMatch(/^eigenscope: /);
    expect(stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/u);
    const long = run('heads', { config: join(folder, 'x'.repeat(100_000)) }, MINILM);
    expect(long.status).toBeGreaterThan(0);
    expect(long.stderr.length).toBeLessThan(5000);
    expect(long.stderr).toContain('more bytes)');
  });
});

describe('bad input', () => {
  const table: { name: string; range: string }[] = json('parameters');
  const range = (name: string) => table.find((p) => p.name === name)!.range;

  test.each([
    ['simulate', 'length', '-3'],
    ['simulate', 'width', '1.5'],
    ['simulate', 'temperature', '0'],
    ['simulate', 'mean', 'nan'],
    ['simulate', 'variance', '-1'],
    ['simulate', 'seed', '1e300'],
    ['simulate', 'samples', 'many'],
    ['propagation', 'correlation', '1'],
    ['propagation', 'xi', 'inf'],
    ['propagation', 'eta_f', '-0.1'],
    ['map', 'asymmetry', '2'],
    ['map', 'x_from', '-1e5'],
    ['map', 'y_to', '0'],
    ['map', 'x_count', '1'],
    ['sweep', 'variance_min', '0'],
    ['sweep', 'variance_max', '1e9'],
    ['sweep', 'count', '2.5'],
    ['simulate', 'mean', ''],
    ['simulate', 'length', ''],
    ['heads', 'heads', ''],
    ['collapse', 'depth', '-1'],
    ['collapse', 'residual_weight', 'nan'],
    ['collapse', 'window', '0'],
    ['collapse', 'prefix', '1.5'],
    ['collapse-map', 'length', '1'],
  ])('eigenscope %s --%s %s names the field and its range', (command, name, value) => {
    expectRefused(
      run(command, { [name]: value }, ...(command === 'heads' ? [MINILM] : [])),
      `--${name.replaceAll('_', '-')} must be ${range(name)}: found`,
    );
  });

  test('what does not fit together is refused too', () => {
    expect(run('propagation', { eta_s: 2, eta_f: 1 }).stderr).toContain(
      '--eta-s must be from -eta_f to eta_f: eta_f 1, eta_s 2',
    );
    expect(run('propagation', { xi: 16, eta_s: 1, eta_f: 1 }).stderr).toContain(
      '--eta-f must be at least xi^2 over the width of 64, 4: found 1',
    );
    expect(run('rank-correlation').stderr).toContain('--a must have at least one number');
    expect(run('lines', { means: '1' }).stderr).toContain('--variances must have at least one number');
    expect(run('heads', {}, MINILM, '--layers', '--csv').stderr).toContain('--layers must be omitted with --csv');
    expect(run('heads', { offset: 1 }, MINILM, '--average').stderr).toContain(
      '--offset must be omitted with --average',
    );
    expect(run('heads', { seed: 1 }, MINILM).stderr).toContain('--seed must be given with --measures');
    expect(run('simulate', { ensemble: 'wigner' }).stderr).toContain('shifted-gaussian');
    expect(run('simulate', { tokens: 'brownian' }).stderr).toContain('random-walk');
    expect(run('simulate', { eigenvalues: '1,2' }).stderr).toContain('--ensemble list');
    expect(run('simulate', { ensemble: 'list' }).stderr).toContain('eigenvalues');
    expect(run('sweep', { variances: '1,,2' }).stderr).toContain('--variances must be');
    expect(run('sweep', { variance_min: 0 }).stderr).toContain('above 0');
    expect(run('map', { x_from: 8 }).stderr).toBe('eigenscope: --x-from must be below x_to: x_to 8, x_from 8\n');
    expect(run('map', { y_from: 2, y_to: 1 }).stderr).toContain('--y-from must be below y_to: y_to 1, y_from 2');
    expect(run('sweep', { variance_min: 2, variance_max: 1 }).stderr).toContain(
      '--variance-min must be at most variance_max: variance_max 1, variance_min 2',
    );
    expect(run('collapse', { heads: 5 }).stderr).toContain('--heads must divide the width: width 64, heads 5');
    expect(run('collapse', { stacks: 0 }).stderr).toContain('--stacks must be an integer from 1 to 100000: found 0');
    expect(run('collapse', { softmax: 'soft' }).stderr).toContain("found 'soft'");
    const tight = { ensemble: 'factored', mean: 1, variance: 0 };
    expect(run('collapse', tight).stderr).toContain('variance must be at least the rank floor');
  });

  test.each([
    ['simulate', '--mean=', '--samples', '2'],
    ['sweep', '--variances', ''],
    ['sweep', '--means', ''],
    ['sweep', '--variances', '1,2,'],
    ['simulate', '--ensemble', 'list', '--eigenvalues', ''],
    ['simulate', '--ensemble', 'list', '--eigenvalues=1,2,'],
    ['heads', MINILM, '--config', ''],
    ['heads', MINILM, '--config='],
    ['heads', ''],
  ])('an empty text is refused: %s %s %s %s', (...args: string[]) => {
    expectRefused(raw(...args), /^eigenscope: \S+ must be .*: found an empty text$/m);
  });

  test.each([
    [['sweep', '--variance', '1'], '--variance'],
    [['sweep', '--variances', '1', '--variance-min', '1'], '--variance-min'],
    [['sweep', '--variances', '1', '--variance-max', '1'], '--variance-max'],
    [['sweep', '--variances', '1', '--count', '2'], '--count'],
    [['sweep', '--means', '1', '--mean', '1'], '--mean'],
    [['simulate', '--ensemble', 'list', '--eigenvalues', '1,2', '--width', '2'], '--width'],
  ])('an option that would do nothing is refused: %j', (args, name) => {
    const ran = raw(...args);
    expectRefused(ran, /^eigenscope: /);
    expect(ran.stderr).toContain(name);
  });

  test('an unknown command or option is named', () => {
    expectRefused(
      run('nonsense'),
      /^eigenscope: the command must be one of propagation, simulate, .*: found 'nonsense'$/m,
    );
    const option = run('simulate', { no_such_option: 1 });
    expect(option.status).toBe(2);
    expect(option.stderr).toBe('eigenscope: --no-such-option must be an option of simulate: `--help` lists them\n');
    const misspelt = raw('predict', 'model', '--lenght=12');
    expect(misspelt.status).toBe(2);
    expect(misspelt.stderr).toBe('eigenscope: --lenght must be an option of predict: the nearest is --length\n');
    expect(raw('--verison').stderr).toBe('eigenscope: --verison must be an option: the nearest is --version\n');
    expect(raw().stderr).toMatch(/^eigenscope: the command must be one of .*: found ''$/m);
  });

  test.each([
    [['sweep', '--mean'], '--mean must have a value (a number from -1000000 to 1000000; default 0.25)'],
    [['collapse', '--mask'], '--mask must have a value (mask: visible keys of a query: full|causal|window|blocks'],
    [['sweep', '--mean', '1', '--mean', '2'], '--mean must be given once: found 1, 2'],
    [['sweep', '--mean', '1', '--means', '2'], '--mean must be omitted with --means'],
    [['train', '--shard', '1/2'], '--shard must be given with --grid'],
    [['sweep', '12'], 'sweep must have no other arguments than options: found 12'],
    [['sweep', '-m', '3'], '-m must be an option of sweep'],
    [['predict'], 'MODEL must be given (a .safetensors'],
    [['predict', 'a', 'b'], 'MODEL must be given once: found a, b'],
    [['predict', 'a', '--level', '12'], '--level must be an option of predict'],
  ])('%j says what must hold, in the form of all refusals', (args, text) => {
    const ran = raw(...args);
    expect(ran.status).toBe(2);
    expect(ran.stdout).toBe('');
    expect(ran.stderr.startsWith(`eigenscope: ${text}`)).toBe(true);
    expect(ran.stderr.split('\n').length).toBe(2);
  });
});

test('spectrum, attention and map print what they say', () => {
  const spectrum = json('spectrum', { ensemble: 'two-point', width: 8, mean: 1, variance: 4 });
  expect(spectrum.eigenvalues.map(([re]: number[]) => re).sort()).toEqual([-1, -1, -1, -1, 3, 3, 3, 3]);
  const { weights, entropy } = json('attention', { length: 6, softmax: 'exact', mask: 'causal' });
  expect(weights).toHaveLength(6);
  weights.forEach((row: number[]) => expect(row.reduce((a, b) => a + b)).toBeCloseTo(1, 12));
  expect(entropy[0]).toBeNull();
});

describe('eigenscope map', () => {
  const options = { x_count: 3, y_count: 3, length: 24, x_from: -2, x_to: 2, y_from: 0.01, y_to: 1 };

  test('has its axes, and one row of each array a y', () => {
    const found = json('map', options);
    const { xi_over_lambda: x, sqrt_eta_f_over_lambda: y, localization, regime } = found;
    expect(x).toEqual([-2, 0, 2]);
    [0.01, 0.1, 1].forEach((value, i) => expect(y[i]).toBeCloseTo(value, 12));
    for (const rows of [localization, regime]) {
      expect(rows.map((row: unknown[]) => row.length)).toEqual([3, 3, 3]);
    }
    const [xi, eta_s, eta_f] = [2, y[1] ** 2, y[1] ** 2];
    // Of a width for which there is such a W.
    const theory = json('propagation', { width: 4096, length: 24, xi, eta_s, eta_f, temperature: 1 });
    expect(localization[1][2]).toBeCloseTo(theory.localization, 6);
    expect(regime[1][2]).toBe(theory.regime);
  });

  test('writes the same cells as CSV, nothing where nothing propagates', () => {
    const wide = { x_count: 3, y_count: 3, length: 4 };
    const { xi_over_lambda: x, localization, regime } = json('map', wide);
    const rows = parseCsv(run('map', wide, '--csv').stdout);
    expect(rows).toHaveLength(9);
    rows.forEach((row, i) => {
      expect(Object.keys(row)).toEqual([
        'xi_over_lambda',
        'sqrt_eta_f_over_lambda',
        'localization',
        'rho_mean',
        'regime',
        'signal',
      ]);
      expect(Number(row.xi_over_lambda)).toBe(x[i % 3]);
      const index = row.localization === '' ? null : Number(row.localization);
      expect(index).toBe(localization.flat()[i]);
      expect(row.regime).toBe(regime.flat()[i]);
    });
    expect(localization[0][0]).toBeNull();
  });

  test('shows the ranges of its options', () => {
    const { stdout } = run('map', {}, '--help');
    expect(stdout).toMatch(/--x-from NUMBER .*\(a number from -10000 to 10000; default -8\)/);
    expect(run('sweep', {}, '--help').stdout).toMatch(
      /--variance-min NUMBER[^-]*--variances\s+smallest .*\(a number above 0.*default 0.0001\)/,
    );
  });
});

describe('output that cannot be written', () => {
  const message = 'eigenscope: standard output: the result could not be written\n';

  test.each(['propagation', 'map --csv', '--help', 'map --help', '--version'])(
    'eigenscope %s > /dev/full says so',
    (args) => {
      const ran = bash(`"$EIGENSCOPE" ${args} > /dev/full`);
      expect(ran.status).toBe(1);
      expect(ran.stderr).toBe(message);
    },
  );

  test('a reader that leaves early ends the program quietly', () => {
    const ran = bash('"$EIGENSCOPE" map --csv --x-count 150 --y-count 150 --length 4 | head -1');
    expect(ran.status).toBe(0);
    expect(ran.stdout).toMatch(/^xi_over_lambda,.*\n$/);
    expect(ran.stderr).toBe('');
  });
});
