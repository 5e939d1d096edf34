import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { json, MINILM, root, run } from './eigenscope.ts';

const folder = mkdtempSync(join(tmpdir(), 'eigenscope-cli-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A .safetensors file with this header text and `data` bytes of zeros. */
function safetensors(name: string, header: string, data = 0): string {
  const path = join(folder, name);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(Buffer.byteLength(header)));
  writeFileSync(path, Buffer.concat([length, Buffer.from(header), Buffer.alloc(data)]));
  return path;
}

describe('eigenscope propagation', () => {
  test('gives the worked numbers', () => {
    const cases = JSON.parse(readFileSync(`${root}tests/reference/propagation.json`, 'utf8'));
    for (const c of cases) {
      const found = json('propagation', {
        ...{ length: c.T, xi: c.xi, eta_s: c.eta_s, eta_f: c.eta_f, temperature: c.temperature },
      });
      expect(Object.keys(found)).toEqual(['mean', 'std', 'rho', 'localization', 'regime']);
      expect(found.localization).toBeCloseTo(c.localization, 9);
      for (const name of ['mean', 'std', 'rho']) {
        found[name].forEach((x: number, i: number) => expect(x).toBeCloseTo(c[name][i], 9));
      }
    }
  });

  test('writes one CSV row a position', () => {
    const { stdout } = run('propagation', { length: 5 }, '--csv');
    const lines = stdout.trim().split('\n');
    expect(lines[0]).toBe('position,mean,std,rho');
    expect(lines).toHaveLength(6);
  });
});

describe('eigenscope simulate', () => {
  const options = { ensemble: 'factored', head_width: 16, variance: 0.3, length: 20, seed: 4 };

  test('holds the same names in theory and simulation, the latter with errors', () => {
    const { theory, simulation } = json('simulate', { ...options, samples: 500 });
    for (const name of Object.keys(theory)) expect(simulation).toHaveProperty(name);
    for (const name of ['mean', 'std', 'rho']) {
      expect(simulation[`${name}_error`]).toHaveLength(20);
    }
    expect(simulation.localization_error).toBeGreaterThan(0);
    expect(simulation.samples).toBe(500);
  });

  test('repeats itself for a seed and changes with it', () => {
    const first = run('simulate', { ...options, samples: 50 }).stdout;
    expect(run('simulate', { ...options, samples: 50 }).stdout).toBe(first);
    expect(run('simulate', { ...options, samples: 50, seed: 5 }).stdout).not.toBe(first);
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
    const { theory, simulation } = json('simulate', { ...common, variance: 0.1 });
    expect(rows[1].theory_localization).toBe(theory.localization);
    for (const name of ['localization', 'localization_error', 'entropy', 'participation']) {
      expect(rows[1][name]).toBe(simulation[name]);
    }
  });

  test('leaves gaps where the ensemble cannot be, in JSON and CSV', () => {
    const options = {
      ensemble: 'factored',
      head_width: 8,
      mean: 0.5,
      from: 0.01,
      to: 10,
      count: 2,
    };
    const [first, last] = json('sweep', { ...options, samples: 10 }).rows;
    expect(first.localization).toBeNull();
    expect(first.refused).toContain('at least 1.75');
    expect(last.refused).toBe('');
    const lines = run('sweep', { ...options, samples: 10 }, '--csv')
      .stdout.trim()
      .split('\n');
    const columns = lines[0]!.split(',').length;
    expect(lines[2]!.split(',')).toHaveLength(columns);
    expect(lines[1]).toMatch(/"variance: 0.01 is not allowed; .*"$/);
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
    expect(json('propagation', { xi, eta_s, eta_f, ...tokens }).localization).toBeCloseTo(
      localization,
      12,
    );
  });

  test('takes the head count from the user where there is no config', () => {
    const shape = { dtype: 'F32', shape: [4, 4] };
    const name = (kind: string) => `encoder.layer.0.attention.self.${kind}.weight`;
    const header = JSON.stringify({
      [name('query')]: { ...shape, data_offsets: [0, 64] },
      [name('key')]: { ...shape, data_offsets: [64, 128] },
    });
    const path = safetensors('bare.safetensors', header, 128);
    expect(json('heads', { heads: 2 }, path).heads).toHaveLength(2);
    const without = run('heads', {}, path);
    expect(without.status).toBe(2);
    expect(without.stderr).toContain('heads:');
    const odd = run('heads', { heads: 3 }, path);
    expect(odd.status).toBe(2);
    expect(odd.stderr).toMatch(/^eigenscope: heads: .* 3 heads/);
  });

  test.each([
    ['cut short', Buffer.from([9, 0, 0, 0, 0, 0, 0, 0, 123]), 'cut.safetensors'],
    ['of one byte', Buffer.from([1]), 'one.safetensors'],
    ['whose header is 2^63 bytes', Buffer.from([0, 0, 0, 0, 0, 0, 0, 128]), 'huge.safetensors'],
    ['that is empty', Buffer.alloc(0), 'empty.safetensors'],
  ])('refuses a file %s by its name', (_, bytes, name) => {
    const path = join(folder, name);
    writeFileSync(path, bytes);
    const ran = run('heads', { heads: 2 }, path);
    expect(ran.status).toBe(1);
    expect(ran.stdout).toBe('');
    expect(ran.stderr).toContain(name);
  });

  test('refuses a missing file and a broken tensor by name', () => {
    expect(run('heads', {}, join(folder, 'nowhere')).stderr).toContain('nowhere');
    const header = '{"w.query":{"dtype":"F32","shape":[2,2],"data_offsets":[0,64]}}';
    const ran = run('heads', { heads: 1 }, safetensors('short.safetensors', header, 16));
    expect(ran.status).toBe(1);
    expect(ran.stderr).toContain('w.query');
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
  ])('eigenscope %s --%s %s names the field and its range', (command, name, value) => {
    const ran = run(command, { [name]: value });
    expect(ran.status).toBe(2);
    expect(ran.stdout).toBe('');
    expect(ran.stderr).toContain(`${name}: `);
    expect(ran.stderr).toContain(`it must be ${range(name)}`);
  });

  test('what does not fit together is refused too', () => {
    expect(run('propagation', { eta_s: 2, eta_f: 1 }).stderr).toContain('eta_s: 2');
    expect(run('simulate', { ensemble: 'wigner' }).stderr).toContain('shifted-gaussian');
    expect(run('simulate', { tokens: 'brownian' }).stderr).toContain('random-walk');
    expect(run('simulate', { eigenvalues: '1,2' }).stderr).toContain('--ensemble list');
    expect(run('simulate', { ensemble: 'list' }).stderr).toContain('eigenvalues');
    expect(run('sweep', { variances: '1,,2' }).stderr).toContain('variance:');
    expect(run('sweep', { from: 0 }).stderr).toContain('above 0');
    expect(run('nonsense').status).toBe(2);
    expect(run('simulate', { no_such_option: 1 }).status).toBe(2);
  });
});

test('help teaches: every command has a description and an example', () => {
  const { stdout } = run('--help');
  const commands = ['propagation', 'simulate', 'sweep', 'map', 'spectrum', 'attention', 'heads'];
  for (const command of commands) {
    expect(stdout).toContain(command);
    expect(run(command, {}, '--help').stdout).toContain(`eigenscope ${command} `);
  }
});

test('spectrum, attention and map print what they say', () => {
  const spectrum = json('spectrum', { ensemble: 'two-point', width: 8, mean: 1, variance: 4 });
  expect(spectrum.eigenvalues.map(([re]: number[]) => re).sort()).toEqual([
    ...[-1, -1, -1, -1, 3, 3, 3, 3],
  ]);
  const { weights, entropy } = json('attention', { length: 6, softmax: 'exact', mask: 'causal' });
  weights.forEach((row: number[]) => expect(row.reduce((a, b) => a + b)).toBeCloseTo(1, 12));
  expect(entropy[0]).toBeNull();
  const { cells } = json('map', { count: 3, length: 24 });
  expect(cells).toHaveLength(9);
});
