// The scripts of package.json and the presets of CMake: each builds what it needs, and one that tests nothing fails.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { reportOf, rowsOf } from '../bench/report.mjs';
import { root, temporaryFolder } from '../cli/eigenscope.ts';

const folder = temporaryFolder();
const scripts: Record<string, string> = JSON.parse(readFileSync(`${root}package.json`, 'utf8')).scripts;

test('a script that runs a built program names its build, which .ci/with knows', () => {
  const known = [...readFileSync(`${root}.ci/with`, 'utf8').matchAll(/^ {4}([a-z-]+)\)/gm)].map(([, need]) => need);
  const needs = Object.entries(scripts).flatMap(([name, line]) =>
    [...line.matchAll(/\.ci\/with (.*?) -- /g)].flatMap(([, list]) =>
      list!.split(' ').map((need) => `${name} ${need}`),
    ),
  );
  expect(needs.length).toBeGreaterThan(15);
  expect(needs.filter((it) => !known.includes(it.split(' ')[1]))).toEqual([]);
  expect(Object.values(scripts).filter((line) => line.includes('cmake --build'))).toEqual([]);
});

test('the programs that scripts run are targets also where the tests are not built', () => {
  const build = join(folder, 'native');
  const options = ['-S', root, '-B', build, '-G', 'Ninja', '-DBUILD_TESTING=OFF', '-DCMAKE_BUILD_TYPE=Release'];
  const { status, stderr } = spawnSync('cmake', options, { encoding: 'utf8' });
  expect({ status, stderr }).toMatchObject({ status: 0 });
  const targets = spawnSync('ninja', ['-C', build, '-t', 'targets', 'all'], { encoding: 'utf8', maxBuffer: 1 << 26 });
  for (const name of ['eigenscope-cli', 'eigenscope-tokenize', 'eigenscope-bench']) {
    expect(targets.stdout).toContain(`${name}: phony`);
  }
  expect(targets.stdout).not.toContain('eigenscope-tests: phony');
});

test('a run of CTest without a test fails, and the native preset has the tests', () => {
  const presets = JSON.parse(readFileSync(`${root}CMakePresets.json`, 'utf8'));
  const native = presets.configurePresets.find(({ name }: { name: string }) => name === 'native');
  expect(native.cacheVariables.BUILD_TESTING).toBe('ON');
  const { status, stdout, stderr } = spawnSync('ctest', ['--preset', 'native', '-R', '^nothing$'], {
    cwd: root,
    encoding: 'utf8',
  });
  expect(stdout + stderr).toContain('No tests were found');
  expect(status).not.toBe(0);
});

test('a benchmark finds the rows of its earlier report', () => {
  const columns = ['ratio', 'median', 'measured'];
  const rows = [
    ['time of PyTorch over ours', '1.00', '2026-11-26'],
    ['time of numpy over ours', '38.08', '2026-11-25'],
  ];
  const text = reportOf({ title: 'Ratios', command: 'npm run bench', columns, rows, notes: ['A note.'] });
  expect([...rowsOf(text).values()]).toEqual(rows);
});

/** A process that makes the folder of a large checkpoint, after it has printed the folder's path. */
async function makesFolder(parent: string) {
  const script = `import { largeFolder } from '${root}tests/bench/large-folder.mjs';
    console.log(largeFolder());
    setInterval(() => {}, 1000);`;
  const env = { ...process.env, EIGENSCOPE_BENCH_DIR: parent };
  const child = spawn('node', ['--input-type=module', '-e', script], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const path = await new Promise<string>((resolve) => child.stdout.once('data', (data) => resolve(`${data}`.trim())));
  writeFileSync(join(path, 'weights'), 'x');
  return {
    path,
    end: (signal: NodeJS.Signals) =>
      new Promise<void>((resolve) => {
        child.once('exit', () => resolve());
        child.kill(signal);
      }),
  };
}

test('the folder of a large checkpoint goes with its process, or with the next one after a kill', async () => {
  const parent = join(folder, 'large');
  mkdirSync(parent);
  const ended = await makesFolder(parent);
  const running = await makesFolder(parent);
  await ended.end('SIGTERM');
  expect(existsSync(ended.path)).toBe(false);
  const killed = await makesFolder(parent);
  await killed.end('SIGKILL');
  expect(existsSync(killed.path)).toBe(true);
  const next = await makesFolder(parent);
  expect(
    readdirSync(parent)
      .map((name) => join(parent, name))
      .sort(),
  ).toEqual([running.path, next.path].sort());
  await Promise.all([running.end('SIGINT'), next.end('SIGHUP')]);
  expect(readdirSync(parent)).toEqual([]);
});
