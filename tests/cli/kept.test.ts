// What exists is kept: runs, tables, results, logs. What is damaged is named with its place.
import { spawn } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { bash, expectRefused, program, run, temporaryFolder } from './eigenscope.ts';

const folder = temporaryFolder();
let folders = 0;
const fresh = () => join(folder, `out-${++folders}`);
const text = join(folder, 'text.txt');
writeFileSync(text, 'It was the best of times,\nit was the worst of times.\n'.repeat(40));
const small = { text, width: 8, depth: 1, heads: 2, length: 8, batch: 2, steps: 50, log_every: 10, eval_batches: 1 };
const train = (out: string, options: object = {}, ...flags: string[]) =>
  run('train', { ...small, out, ...options }, ...flags);
const trained = fresh();
expect(train(trained, {}, '--csv').status).toBe(0);
const files = (of: string) =>
  ['table.csv', 'none-seed1/log.csv', 'none-seed1/model.safetensors'].map((name) =>
    readFileSync(join(of, name), 'utf8'),
  );

describe('the folder of training runs', () => {
  test.each([[{}], [{ seed: 2 }]])('that has a run is refused without --resume, with %j', (options) => {
    const before = files(trained);
    expectRefused(
      train(trained, { steps: 2, ...options }),
      new RegExp(
        `--out must name a new or empty folder unless --resume is given: ${trained} has (table.csv|none-seed1)\\n`,
      ),
    );
    expect(files(trained)).toEqual(before);
  });

  test('that has only the start of a run is refused too', () => {
    const out = fresh();
    mkdirSync(join(out, 'none-seed1'), { recursive: true });
    writeFileSync(join(out, 'none-seed1', 'log.jsonl'), '{"step":0}\n');
    expect(train(out).stderr).toContain(`${out} has none-seed1`);
    expect(readdirSync(out)).not.toContain('.lock');
  });

  test.each([
    ['weights.safetensors', 'none-seed1'],
    ['export/model.safetensors', 'none-seed1'],
    ['steps/step50/model.safetensors', 'none-seed1'],
    ['config.json', 'none-seed1'],
    ['../notes/readme.txt', 'notes'],
  ])('that has only %s of a run is refused, also to start that run with --resume', (file, found) => {
    const out = fresh();
    const path = join(out, 'none-seed1', file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, 'mine');
    expectRefused(train(out), `--out must name a new or empty folder unless --resume is given: ${out} has ${found}`);
    const resumed = train(out, { steps: 2 }, '--resume');
    if (found === 'notes') expect(resumed.status).toBe(0);
    else expectRefused(resumed, `${join(out, 'none-seed1')}: it must be empty to start a run at step 0`, 1);
    expect(readFileSync(path, 'utf8')).toBe('mine');
  });

  test('loses what a killed training left half written', () => {
    const out = fresh();
    const left = ['table.json', 'none-seed1/config.json', 'none-seed1/steps/step50/model.safetensors'];
    for (const name of left) {
      mkdirSync(dirname(join(out, name)), { recursive: true });
      writeFileSync(join(out, `${name}.new-0123abcd`), '{');
    }
    const own = join(out, 'none-seed1', 'notes.new-0123abcd');
    writeFileSync(own, 'mine');
    expect(train(out, { steps: 2 }).status).toBe(2);
    rmSync(own);
    rmSync(join(out, 'none-seed1'), { recursive: true });
    mkdirSync(join(out, 'none-seed1', 'steps', 'step50'), { recursive: true });
    for (const name of left) writeFileSync(join(out, `${name}.new-0123abcd`), '{');
    expect(train(out, { steps: 2 }, '--resume').stderr).toContain('it must be empty to start a run');
    expect(readdirSync(out, { recursive: true }).filter((name) => String(name).includes('.new-'))).toEqual([]);
  });

  test('gets further runs with --resume', () => {
    const out = fresh();
    cpSync(trained, out, { recursive: true });
    expect(train(out, { seed: 2 }, '--csv', '--resume').status).toBe(0);
    expect(readdirSync(out)).toContain('none-seed2');
    expect(files(out)[2]).toBe(files(trained)[2]);
  });

  test('is locked while a process trains in it, and free after SIGKILL', async () => {
    const out = fresh();
    const options = { ...small, steps: 1_000_000, out };
    const flags = Object.entries(options).flatMap(([name, value]) => [`--${name.replaceAll('_', '-')}`, String(value)]);
    const child = spawn(program, ['train', ...flags], { stdio: 'ignore' });
    const ended = new Promise((resolve) => child.on('exit', resolve));
    const log = join(out, 'none-seed1', 'model.safetensors');
    for (let i = 0; i < 500 && !lstatSync(log, { throwIfNoEntry: false }); ++i) await wait(20);
    const second = train(out, { steps: 1_000_000, width: 16 }, '--resume');
    child.kill('SIGKILL');
    await ended;
    expect(second).toMatchObject({ status: 2, stdout: '' });
    expect(second.stderr).toContain(
      '--out must name a folder without another training unless --grid is given: process',
    );
    expect(second.stderr).toContain(`process ${child.pid} on host`);
    const third = train(out, {}, '--resume');
    expect(third.stderr).toContain('--steps must be that of the resumed run, 1000000: found 50');
  });
});

describe('the log of a run that resumes', () => {
  const log = readFileSync(join(trained, 'none-seed1', 'log.csv'), 'utf8');
  const lines = log.trimEnd().split('\n');
  const join_ = (rows: string[]) => rows.map((row) => `${row}\n`).join('');
  const resume = (content: string | null, ...flags: string[]) => {
    const out = fresh();
    cpSync(trained, out, { recursive: true });
    const own = join(out, 'none-seed1', 'log.csv');
    if (content === null) rmSync(own);
    else writeFileSync(own, content);
    const ran = train(out, {}, '--csv', '--resume', ...flags);
    const after = content === null ? null : readFileSync(own, 'utf8');
    return { ...ran, after };
  };

  test.each([
    ['a row without columns', [...lines.slice(0, 3), '20', ...lines.slice(4)], 'line 4 is not a row'],
    [
      'a step of 30 digits',
      [...lines.slice(0, 3), lines[3]!.replace(/^20/, '9'.repeat(30)), ...lines.slice(4)],
      'line 4 is not a row',
    ],
    ['binary', ['\u0001\u0002', ...lines], 'line 1 is not a header'],
    ['a lost row', [...lines.slice(0, 3), ...lines.slice(4)], 'line 4 has step 30 in place of step 20'],
    ['a lost end', lines.slice(0, 4), 'its last row has step 20 in place of step 50'],
  ])('is refused with %s, and not written', (_, rows, message) => {
    const content = join_(rows);
    const ran = resume(content);
    expect(ran).toMatchObject({ status: 1, stdout: '', after: content });
    expect(ran.stderr).toContain('log.csv: it must have every row up to the checkpoint');
    expect(ran.stderr).toContain(message);
  });

  test('is refused as JSON that is cut or of other kinds', () => {
    const out = fresh();
    expect(train(out).status).toBe(0);
    const own = join(out, 'none-seed1', 'log.jsonl');
    const rows = readFileSync(own, 'utf8').trimEnd().split('\n');
    for (const bad of ['[1', '{"step":"x"}', '{"step":-1}', '{}', 'null', '{"step":10}', '{"step":10,"loss":"x"}']) {
      writeFileSync(own, join_([rows[0]!, bad, ...rows.slice(2)]));
      const ran = train(out, {}, '--resume');
      expect(ran.status, bad).toBe(1);
      expect(ran.stderr).toContain(`${own}: it must have every row up to the checkpoint's step`);
      expect(ran.stderr).toContain('line 2 is not a row of a log');
    }
  });

  test('is named where it is missing or has lost its beginning', () => {
    for (const content of [null, '']) {
      const ran = resume(content);
      expect(ran.status).toBe(0);
      expect(ran.stderr).toMatch(/log\.csv: the rows up to step 50 are missing\n$/);
    }
    const ran = resume(join_([lines[0]!, ...lines.slice(3)]));
    expect(ran.stderr).toMatch(/log\.csv: the rows before step 20 are missing\n$/);
    expect(resume(log).stderr).toBe('');
  });

  test('is not begun anew in another format, nor without its checkpoint', () => {
    const out = fresh();
    cpSync(trained, out, { recursive: true });
    expect(train(out, {}, '--resume').stderr).toContain('--csv must be given to continue the existing log: ');
    rmSync(join(out, 'none-seed1', 'model.safetensors'));
    expectRefused(
      train(out, {}, '--csv', '--resume'),
      /model\.safetensors: it must exist to resume the run, whose log/,
      1,
    );
    expect(readFileSync(join(out, 'none-seed1', 'log.csv'), 'utf8')).toBe(log);
  });
});

describe('the file of collected results', () => {
  const grid = join(folder, 'grid.json');
  const source = {
    experiment: 'kept',
    text,
    axes: { method: { none: {} } },
    stages: [{ seeds: 2 }],
    settings: { width: 8, depth: 1, heads: 2, length: 8, batch: 2, steps: 2, log_every: 1 },
    measures: ['bits_per_byte'],
  };
  writeFileSync(grid, JSON.stringify(source));
  const cells = fresh();
  expect(run('train', { grid, out: cells }).status).toBe(0);
  const results = join(folder, 'results.json');
  const collect = (of: string, out: string) => run('collect', { cells: of, out }, grid);
  expect(collect(cells, results).status).toBe(0);
  const whole = readFileSync(results, 'utf8');

  test('is replaced by the same', () => {
    expect(collect(cells, results).status).toBe(0);
    expect(readFileSync(results, 'utf8')).toBe(whole);
  });

  test('keeps cells that exist nowhere else', () => {
    const empty = fresh();
    mkdirSync(empty);
    expectRefused(collect(empty, results), 'must name a file without results that --cells lacks: ');
    expect(readFileSync(results, 'utf8')).toBe(whole);
  });

  test('is no file of another kind', () => {
    const copy = join(folder, 'copy.json');
    copyFileSync(grid, copy);
    for (const file of [text, copy]) {
      const before = readFileSync(file, 'utf8');
      expectRefused(collect(cells, file), '--out must name a new file or one with results of the experiment');
      expect(readFileSync(file, 'utf8')).toBe(before);
    }
  });

  test('is followed through a link, and a device or a pipe is written to', () => {
    const [target, link, device] = ['target.json', 'link.json', 'device.json'].map((name) => join(folder, name));
    writeFileSync(target!, '');
    symlinkSync(target!, link!);
    expect(collect(cells, link!).status).toBe(0);
    expect(lstatSync(link!).isSymbolicLink()).toBe(true);
    expect(readFileSync(target!, 'utf8')).toBe(whole);
    symlinkSync('/dev/null', device!);
    expect(collect(cells, device!).status).toBe(0);
    expect(lstatSync(device!).isSymbolicLink()).toBe(true);
    const piped = bash(`"$EIGENSCOPE" collect ${grid} --cells ${cells} --out >(cat) | cat`);
    expect(piped.stdout).toBe(whole);
    expect(bash(`cat ${grid} | "$EIGENSCOPE" collect - --cells ${cells}`).stdout).toBe(whole);
    expect(collect(cells, folder).stderr).toContain('it must be a file, but it is a folder');
  });

  test.each([
    ['failure', 7],
    ['final', []],
    ['curve', { step: ['x'] }],
    ['axes', { method: 1 }],
    ['id', 1],
    ['validation', 1],
    ['text_fingerprint', 1],
  ])('is not made of a cell whose %s is damaged', (key, value) => {
    const damaged = fresh();
    cpSync(cells, damaged, { recursive: true });
    const cell = join(damaged, readdirSync(damaged)[0]!);
    const json = JSON.parse(readFileSync(cell, 'utf8'));
    writeFileSync(cell, JSON.stringify({ ...json, [key]: value }));
    expectRefused(collect(damaged, join(folder, 'damaged.json')), `${cell}: it must be the result of a run`, 1);
  });

  test.each([
    [{ stages: [1] }, 'stages must have objects as entries'],
    [{ baseline: { method: 'nobody' } }, 'baseline must be an axis of the grid and one of its labels (method: none): '],
    [{ baseline: { nothing: 'none' } }, 'found nothing: none'],
    [{ stages: [{ seeds: 1, only: 1 }] }, 'only must be an object'],
    [{ stages: [{ seeds: 1, only: { method: [[]] } }] }, 'method must have numbers or texts as values'],
  ])('says what is wrong in a grid with %j', (change, message) => {
    const own = join(folder, 'wrong.json');
    writeFileSync(own, JSON.stringify({ ...source, ...change }));
    const ran = run('collect', { cells }, own);
    expectRefused(ran, `${own}: `, 1);
    expect(ran.stderr).toContain(message);
  });

  test('is not made of a grid that has a key twice', () => {
    const own = join(folder, 'twice.json');
    writeFileSync(own, JSON.stringify(source).replace('"seeds":2', '"seeds":2,"seeds":3'));
    expectRefused(run('collect', { cells }, own), `${own}: grid: duplicate key 'seeds'`, 1);
  });
});
