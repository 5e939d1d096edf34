// Grids of checkpoints: shares, kills, a full disk; what is merged never depends on them.
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { bash, expectRefused, json, program, run, temporaryFolder } from './eigenscope.ts';

const folder = temporaryFolder();

const text = join(folder, 'text.txt');
writeFileSync(text, 'It was the best of times,\nit was the worst of times.\n'.repeat(80));

// Four models of two seeds, one of them in a folder of its own.
const models = join(folder, 'models');
const settings = { width: 16, depth: 2, heads: 2, length: 32, batch: 4, steps: 20, log_every: 20 };
json('train', { ...settings, text, export: 'f32', seeds: 2, out: join(folder, 'runs') });
const trained = readdirSync(join(folder, 'runs'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('export'))
  .sort();
for (const name of ['a', 'b', 'c', 'd']) {
  const from = join(folder, 'runs', trained['abcd'.indexOf(name) % 2]!);
  cpSync(from, join(models, name), { recursive: true });
}

const options = {
  heads: { measures: true, samples: 50, length: 32 },
  predict: { file: text, length: 24, passages: 6, queries: 200, summary: true },
};
type Command = keyof typeof options;
const commands = Object.keys(options) as Command[];
const write = (name: string, grid: object) => {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(grid));
  return path;
};
const source = (command: Command) => ({
  experiment: `small-${command}`,
  operation: command,
  checkpoints: [models],
  options: options[command],
});
const grids = Object.fromEntries(
  commands.map((command) => [command, write(`${command}.json`, source(command))]),
) as Record<Command, string>;

let folders = 0;
const fresh = () => join(folder, `cells-${++folders}`);
const collected = (cells: string, command: Command) => run('collect', { cells }, grids[command]).stdout;
const serial = Object.fromEntries(
  commands.map((command) => {
    const out = fresh();
    expect(run(command, { grid: grids[command], out }).status).toBe(0);
    return [command, out];
  }),
) as Record<Command, string>;

describe.each(commands)('a grid of %s', (command) => {
  const grid = grids[command];
  const expected = collected(serial[command], command);

  function begin(out: string, shard: string) {
    const child = spawn(program, [command, '--grid', grid, '--out', out, '--shard', shard], { stdio: 'ignore' });
    const ended = new Promise<number | null>((resolve) => child.on('exit', resolve));
    return { child, ended };
  }

  test('has what the command gives for each checkpoint', () => {
    const { cells, missing } = JSON.parse(expected);
    expect(missing).toEqual([]);
    expect(cells.map(({ checkpoint }: { checkpoint: string }) => checkpoint)).toEqual(
      ['a', 'b', 'c', 'd'].map((name) => join(models, name)),
    );
    const flags = Object.entries(options[command]).filter(([, value]) => value === true);
    const values = Object.entries(options[command]).filter(([, value]) => value !== true);
    const alone = json(command, Object.fromEntries(values), join(models, 'b'), ...flags.map(([name]) => `--${name}`));
    const measured = command === 'heads' ? 'heads' : 'summary';
    const [, { result }] = cells;
    const plain = (rows: Record<string, unknown>[]) => rows.map(({ model, eigenvalues, ...rest }) => rest);
    expect(result[measured].length).toBeGreaterThan(0);
    expect(plain(result[measured])).toEqual(plain(alone[measured]));
  });

  test('shares equal the serial run bit by bit, two told the same number included', async () => {
    const out = fresh();
    const shares = ['1/3', '2/3', '2/3', '3/3'].map((shard) => begin(out, shard));
    expect(await Promise.all(shares.map(({ ended }) => ended))).toEqual([0, 0, 0, 0]);
    expect(collected(out, command)).toBe(expected);
    expect(readdirSync(out)).toHaveLength(4);
  });

  test('a share killed at any moment goes on with what has no result', async () => {
    const out = fresh();
    mkdirSync(out);
    let kills = 0;
    for (let status: number | null = null; status !== 0;) {
      const { child, ended } = begin(out, '1/1');
      // At once, then later and later: how long a share takes is not known.
      const later = kills === 0 ? Promise.resolve() : wait(1.5 ** kills);
      const killed = later.then(() => child.kill('SIGKILL') && ++kills);
      status = await ended;
      await killed;
      for (const name of readdirSync(out).filter((it) => it.endsWith('.json')))
        expect(() => JSON.parse(readFileSync(join(out, name), 'utf8'))).not.toThrow();
    }
    expect(kills).toBeGreaterThan(0);
    expect(collected(out, command)).toBe(expected);
  });

  test('names the checkpoints that are missing', () => {
    const out = fresh();
    run(command, { grid, out, shard: '1/2' });
    const ran = run('collect', { cells: out }, grid);
    expect(JSON.parse(ran.stdout).missing.map((id: string) => id.slice(-1))).toEqual(['b', 'd']);
    expect(ran.stderr).toContain('2 of 4 results are missing, such as');
  });

  test('a full disk stops it with a message, and leaves nothing that is not whole', () => {
    const out = fresh();
    const line = `"$EIGENSCOPE" ${command} --grid ${grid} --out ${out}`;
    expectRefused(bash(`trap '' XFSZ; ulimit -f 1; ${line}`), 'it cannot be written: File too large', 1);
    expect(readdirSync(out)).toEqual([]);
    expect(bash(line).status).toBe(0);
    expect(collected(out, command)).toBe(expected);
  });
});

test('a checkpoint that is none is named, and the others are measured', () => {
  const broken = join(folder, 'broken');
  mkdirSync(broken);
  writeFileSync(join(broken, 'model.safetensors'), 'not one');
  const grid = write('broken.json', { ...source('heads'), checkpoints: [broken, join(models, 'a')] });
  const out = fresh();
  const ran = run('heads', { grid, out });
  expectRefused(ran, `${broken}: `, 1);
  expect(ran.stderr).toContain('1 of the checkpoints of this share have no result');
  expect(JSON.parse(run('collect', { cells: out }, grid).stdout).cells).toHaveLength(1);
});

test.each([
  [{ operation: 'attend' }, 'must be one of heads, predict'],
  [{ operation: 'predict', options: {} }, 'operation must be that of the command, `heads`: found `predict`'],
  [{ speed: 1 }, 'must be a key of a grid of checkpoints'],
  [{ checkpoints: [] }, 'must be a list of paths'],
  [{ checkpoints: [models, join(models, 'a')] }, 'occurs twice'],
  [{ options: { speed: 1 } }, '--speed'],
  [{ options: { samples: 50 } }, '--measures'],
  [{ options: { measures: false } }, 'must be a number, a text, a list of them or true'],
])('%j is refused', (change, message) => {
  const grid = write('refused.json', { ...source('heads'), ...change });
  const refused = run('heads', { grid, out: fresh() });
  expectRefused(refused, message, 1);
  expect(refused.stderr).toContain(`${grid}: `);
});

test('options beside --grid, and results of another grid, are refused', () => {
  expectRefused(
    run('heads', { grid: grids.heads, out: fresh() }, join(models, 'a')),
    'MODEL must be omitted with --grid',
  );
  expect(run('heads', { shard: '1/2' }, join(models, 'a')).stderr).toContain('--grid');
  expect(run('heads', { out: fresh() }).status).toBe(2);
  const other = write('other.json', { ...source('heads'), options: {} });
  expectRefused(run('heads', { grid: other, out: serial.heads }), 'it is of another grid: its `options` differs', 1);
});
