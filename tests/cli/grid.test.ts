// Grids of training runs: shares, kills, a full disk; what is merged never depends on them.
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { bash, expectRefused, json, program, root, run, temporaryFolder } from './eigenscope.ts';

const folder = temporaryFolder();

const text = join(folder, 'text.txt');
writeFileSync(text, 'It was the best of times,\nit was the worst of times.\n'.repeat(40));
const source = {
  experiment: 'small',
  text,
  settings: { width: 16, depth: 2, heads: 2, length: 16, batch: 4, steps: 60, log_every: 20 },
  axes: { method: { none: {}, locater: { regularizer: 'locater', target: 0.5 } }, learning_rate: [0.003, 0.03] },
  stages: [{ seeds: 1, only: { learning_rate: [0.03] } }, { seeds: 3 }],
  measures: ['bits_per_byte', 'entropy'],
  curve: ['bits_per_byte'],
  baseline: { method: 'none' },
};
const write = (name: string, grid: object) => {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(grid));
  return path;
};
const grid = write('small.json', source);
let folders = 0;
const fresh = () => join(folder, `cells-${++folders}`);
const collected = (cells: string, of = grid) => run('collect', { cells }, of).stdout;
const serial = fresh();
expect(run('train', { grid, out: serial }).status).toBe(0);
const expected = collected(serial);

/** A share that runs beside others. */
function begin(out: string, shard: string) {
  const options = ['--grid', grid, '--out', out, '--shard', shard, '--save-every', '0'];
  const child = spawn(program, ['train', ...options], { stdio: 'ignore' });
  const ended = new Promise<number | null>((resolve) => child.on('exit', resolve));
  return { child, ended };
}

describe('a grid of training runs', () => {
  test('merges its cells, each the run that `train` makes of the same options', () => {
    const { cells, summary, missing } = JSON.parse(expected);
    expect(missing).toEqual([]);
    expect(cells.map((cell: { id: string }) => cell.id).slice(0, 3)).toEqual([
      'method=none,learning_rate=0.03,seed=1',
      'method=locater,learning_rate=0.03,seed=1',
      'method=none,learning_rate=0.003,seed=1',
    ]);
    expect(cells).toHaveLength(12);
    const options = { ...source.settings, text, learning_rate: 0.03, seed: 1 };
    const { runs } = json('train', options);
    expect(cells[0].final.bits_per_byte).toBe(runs[0].rows.at(-1).bits_per_byte);
    expect(cells[0].curve.bits_per_byte).toEqual(
      runs[0].rows.map((row: { bits_per_byte: number }) => row.bits_per_byte),
    );
    expect(summary).toHaveLength(4);
    const locater = summary.find(
      ({ axes }: { axes: Record<string, string> }) => axes.method === 'locater' && axes.learning_rate === '0.03',
    );
    expect(locater.bits_per_byte.pairs).toBe(3);
    expect(locater.bits_per_byte.p).toBeGreaterThan(0);
  });

  test('shares equal the serial run bit by bit, two told the same number included', async () => {
    const out = fresh();
    const shares = ['1/3', '2/3', '2/3', '3/3'].map((shard) => begin(out, shard));
    expect(await Promise.all(shares.map(({ ended }) => ended))).toEqual([0, 0, 0, 0]);
    expect(collected(out)).toBe(expected);
    expect(readdirSync(out)).toHaveLength(12);
  });

  test('a share killed at any moment goes on where it was', async () => {
    const out = fresh();
    const partials = () => (existsSync(out) ? readdirSync(out).filter((name) => name.endsWith('.partial')).length : 0);
    let kills = 0;
    let partial = 0;
    for (let status: number | null = null; status !== 0;) {
      const { child, ended } = begin(out, '1/1');
      let over = false;
      void ended.then(() => (over = true));
      // Half of the kills come while a cell is partly there, the others at any moment.
      if (kills % 2 === 0) while (!over && partials() === 0) await wait(1);
      else await wait(100 + 17 * kills);
      if (child.kill('SIGKILL')) ++kills;
      status = await ended;
      partial += partials();
    }
    expect(kills).toBeGreaterThan(0);
    expect(partial).toBeGreaterThan(0);
    expect(collected(out)).toBe(expected);
  });

  test('names the cells that are missing', () => {
    const out = fresh();
    run('train', { grid, out, shard: '1/4' });
    const ran = run('collect', { cells: out }, grid);
    expect(ran.status).toBe(0);
    expect(JSON.parse(ran.stdout).missing).toHaveLength(9);
    expect(ran.stderr).toContain('9 of 12 results are missing, such as');
  });

  test('a full disk stops it with a message, and leaves nothing that is not whole', () => {
    const out = fresh();
    const command = `"$EIGENSCOPE" train --grid ${grid} --out ${out}`;
    expectRefused(bash(`trap '' XFSZ; ulimit -f 1; ${command}`), 'it cannot be written: File too large', 1);
    expect(readdirSync(out)).toEqual([]);
    expect(bash(command).status).toBe(0);
    expect(collected(out)).toBe(expected);
  });

  test('cells of a grid with a validation text of its own', () => {
    const validation = join(folder, 'validation.txt');
    writeFileSync(validation, 'it was the age of wisdom, '.repeat(4));
    const own = write('validation.json', { ...source, validation });
    const out = fresh();
    expect(run('train', { grid: own, out, shard: '1/12' }).status).toBe(0);
    const found = JSON.parse(collected(out, own));
    expect(found.grid.validation).toBe(validation);
    const { settings, text: learned } = source;
    const options = { ...settings, text: learned, validation, learning_rate: 0.03, seed: 1 };
    expect(found.cells[0].final.bits_per_byte).toBe(json('train', options).runs[0].rows.at(-1).bits_per_byte);
    expectRefused(run('train', { grid, out, shard: '1/12' }), 'validation text differ from the run', 1);
  });

  test.each([
    [{ width: 16 }, [], 'width'],
    [{ regularizer: 'none' }, [], 'regularizer'],
    [{}, ['--resume'], 'resume'],
  ])('%j %j beside --grid is refused', (options, flags, name) => {
    const out = fresh();
    expectRefused(run('train', { grid, out, ...options }, ...flags), `${name} must be omitted with --grid`);
    expect(existsSync(out)).toBe(false);
  });

  test('a damaged partial file costs its steps only', () => {
    const out = fresh();
    run('train', { grid, out, shard: '1/12' });
    writeFileSync(join(out, 'method=none,learning_rate=0.003,seed=1.partial'), 'torn');
    expect(run('train', { grid, out }).status).toBe(0);
    expect(collected(out)).toBe(expected);
  });

  test('what killed processes left beside the cells is no result, and goes with its cell', () => {
    const out = fresh();
    run('train', { grid, out, shard: '1/12' });
    const cell = join(out, 'method=none,learning_rate=0.003,seed=1');
    for (const ending of ['json.new-0123abcd', 'partial.new-0123abcd', 'json.new-4711']) {
      writeFileSync(`${cell}.${ending}`, '{"id": "method=none,');
    }
    expect(JSON.parse(collected(out)).missing).toHaveLength(11);
    expect(run('train', { grid, out }).status).toBe(0);
    expect(collected(out)).toBe(expected);
    expect(readdirSync(out)).toHaveLength(12);
  });

  test.skipIf(spawnSync('parallel', ['--version']).status !== 0)('runs under GNU parallel', () => {
    const out = fresh();
    const ran = bash(`parallel --jobs 2 "$EIGENSCOPE" train --grid ${grid} --out ${out} --shard {}/4 ::: 1 2 3 4`);
    expect(ran.status).toBe(0);
    expect(collected(out)).toBe(expected);
  });

  test.each([
    [{}, '--shard 5/2'],
    [{ SHARDS: '32', SAVE_EVERY: '9' }, '--shard 5/32 --save-every 9'],
    [{ COMMAND: 'heads' }, 'heads --grid g.json --out cells --shard 5/2'],
  ])('the job script runs the shard of its task, with %j', (variables, command) => {
    const task = { SLURM_ARRAY_TASK_ID: '5', SLURM_ARRAY_TASK_COUNT: '2' };
    const ran = spawnSync('bash', [`${root}docs/grid.sbatch`], {
      encoding: 'utf8',
      env: { ...process.env, EIGENSCOPE: 'echo', GRID: 'g.json', CELLS: 'cells', ...task, ...variables },
    });
    expect(`${ran.stdout.trim()} `).toContain(`${command} `);
  });

  test('runs only what a results file lists as missing, elsewhere than the runs that this has', () => {
    const [first, second] = [fresh(), fresh()];
    expect(run('train', { grid, out: first, shard: '1/3' }).status).toBe(0);
    const missing = write('partly.json', JSON.parse(collected(first)));
    expect(run('train', { grid, out: second, missing }).status).toBe(0);
    const idsOf = (cells: string): string[] =>
      JSON.parse(collected(cells)).cells.map((cell: { id: string }) => cell.id);
    expect(idsOf(second)).toHaveLength(8);
    expect([...idsOf(first), ...idsOf(second)].sort()).toEqual(idsOf(serial).sort());
    const none = fresh();
    expect(run('train', { grid, out: none, missing: write('whole.json', JSON.parse(expected)) }).status).toBe(0);
    expect(idsOf(none)).toEqual([]);
    const problemOf = (file: string) => run('train', { grid, out: none, missing: file }).stderr;
    expect(problemOf(grid)).toContain('it must have `missing`, a list of the ids of runs');
    expect(problemOf(write('other.json', { missing: ['seed=1'] }))).toContain('1 are listed, of which the grid has 0');
  });

  test.each([
    [{ shard: '0/3' }, 'must be I/N with I from 1 to N'],
    [{ shard: '4/3' }, 'must be I/N with I from 1 to N'],
    [
      { grid: write('axis.json', { ...source, axes: { width: [0] }, stages: [{ seeds: 1 }] }) },
      'must be an integer from 2 to 4096: found 0',
    ],
    [{ grid: write('key.json', { ...source, stage: [] }) }, 'must be a key of a grid file'],
    [
      { grid: write('only.json', { ...source, stages: [{ seeds: 1, only: { method: ['x'] } }] }) },
      "method must have the label 'x', which a stage names",
    ],
    [
      { grid: write('label.json', { ...source, axes: { a: { '../x': {} } } }) },
      "a must have labels of letters, digits and . _ + - only: found '../x'",
    ],
    [
      { grid: write('twice.json', { ...source, axes: { width: [16, 16] }, stages: [{ seeds: 1 }] }) },
      "width must have each value once: found '16' twice",
    ],
    [
      { grid: write('measures.json', { ...source, measures: ['los'] }) },
      "measures must be measures of the log: found 'los'",
    ],
    [{ grid: write('curve.json', { ...source, curve: ['los'] }) }, "curve must be measures of the log: found 'los'"],
  ])('%j is refused', (change, message) => {
    const refused = run('train', { grid, out: fresh(), ...change });
    expectRefused(refused, message, 'grid' in change ? 1 : 2);
    if ('grid' in change) expect(refused.stderr).toContain(`${change.grid}: `);
  });

  test('a cell whose measure is no number is refused by name', () => {
    const cells = fresh();
    cpSync(serial, cells, { recursive: true });
    const cell = 'method=none,learning_rate=0.03,seed=1';
    const path = join(cells, `${cell}.json`);
    const result = JSON.parse(readFileSync(path, 'utf8'));
    writeFileSync(path, JSON.stringify({ ...result, final: { ...result.final, entropy: 'high' } }));
    expectRefused(run('collect', { cells }, grid), `${cell}: its final entropy must be a number or null`, 1);
  });

  test('cells of another grid are refused, not overwritten', () => {
    const other = write('other.json', { ...source, settings: { ...source.settings, steps: 30 } });
    const before = readFileSync(join(serial, 'method=none,learning_rate=0.03,seed=1.json'));
    expectRefused(run('train', { grid: other, out: serial }), 'it is of another grid', 1);
    expect(readFileSync(join(serial, 'method=none,learning_rate=0.03,seed=1.json'))).toEqual(before);
  });

  test('cells of another text are refused, where they are trained and where they are collected', () => {
    const cells = fresh();
    const own = join(folder, 'changed.txt');
    const changed = write('changed.json', { ...source, text: own });
    cpSync(text, own);
    expect(run('train', { grid: changed, out: cells, shard: '1/12' }).status).toBe(0);
    writeFileSync(own, readFileSync(text, 'utf8').toUpperCase());
    const first = 'method=none,learning_rate=0.03,seed=1.json: it was trained on another text';
    expectRefused(run('train', { grid: changed, out: cells, shard: '1/12' }), first, 1);
    expect(run('train', { grid: changed, out: cells, shard: '2/12' }).status).toBe(0);
    const second = 'method=locater,learning_rate=0.03,seed=1.json: it was trained on another text';
    expectRefused(run('collect', { cells }, changed), second, 1);
  });
});
