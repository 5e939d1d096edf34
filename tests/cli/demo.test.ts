// The options of ./demo: invalid ones are refused before any work, valid ones give the port of the
// server. A copy of the script runs in a folder with a page of one line, which is not built.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { root, temporaryFolder } from './eigenscope.ts';

const folder = temporaryFolder();
const steps = ['ensure_packages', 'ensure_emscripten_llvm', 'ensure_node', 'ensure_modules'];
const builds = ['build_cli', 'build_wasm', 'build_site'];
const PAGE = '<title>page</title>';

beforeAll(() => {
  for (const path of ['.ci', 'dist', 'build/logs']) {
    mkdirSync(join(folder, path), { recursive: true });
  }
  copyFileSync(join(root, 'demo'), join(folder, 'demo'));
  const skipped = [...steps, ...builds].map((name) => `${name}() { echo ${name} >>worked; }`);
  writeFileSync(join(folder, '.ci/setup.sh'), [`. '${root}.ci/setup.sh'`, ...skipped, ''].join('\n'));
  writeFileSync(join(folder, 'dist/index.html'), PAGE);
  writeFileSync(join(folder, 'build/logs/preview.log'), 'Local: http://127.0.0.1:1/ of an earlier run\n');
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
});

const running: ChildProcess[] = [];
const listening: Server[] = [];
afterEach(async () => {
  for (const child of running.splice(0)) {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    if (child.kill()) await ended;
  }
  for (const server of listening.splice(0)) server.close();
});

/** How ./demo refuses these options; it must not have begun to install or build. */
function refused(...options: string[]) {
  rmSync(join(folder, 'worked'), { force: true });
  const ran = spawnSync('./demo', ['--no-open', ...options], { cwd: folder, encoding: 'utf8', timeout: 20_000 });
  expect(existsSync(join(folder, 'worked'))).toBe(false);
  return { status: ran.status, error: ran.stderr.split('\n')[0] };
}

/** The address that ./demo prints; it stays running until the test ends. */
function served(...options: string[]): Promise<URL> {
  const child = spawn('./demo', ['--no-open', ...options], { cwd: folder });
  running.push(child);
  let printed = '';
  return new Promise((resolve, reject) => {
    child.stdout.on('data', (text) => {
      printed += text;
      const address = /^Eigenscope: (\S+)$/m.exec(printed)?.[1];
      if (address !== undefined) resolve(new URL(address));
    });
    child.stderr.on('data', (text) => (printed += text));
    child.on('exit', (status) => reject(new Error(`./demo ended with ${status}: ${printed}`)));
  });
}

/** Takes a port of this machine, 0 for any free one, and returns it. */
function take(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(port) : reject(error),
    );
    server.listen(port, '127.0.0.1', () => {
      listening.push(server);
      resolve((server.address() as { port: number }).port);
    });
  });
}

describe('./demo --port', () => {
  test.each(['abc', '70000', '65536', '-5', '1.5', '4173x', ' 80', '123456789012345678901'])(
    'refuses %s before any work',
    (value) => {
      const error = `--port must be an integer in [0, 65535], found ${value}`;
      expect(refused('--port', value)).toEqual({ status: 2, error });
    },
  );

  test('refuses an empty and a missing value', () => {
    expect(refused('--port', '')).toEqual({
      status: 2,
      error: '--port must be an integer in [0, 65535], found an empty value',
    });
    expect(refused('--port')).toEqual({
      status: 2,
      error: '--port must be followed by an integer in [0, 65535], found no value',
    });
  });

  test('serves the page at the port that the system chooses for 0', async () => {
    const address = await served('--port', '0');
    expect(Number(address.port)).toBeGreaterThan(0);
    const response = await fetch(address);
    expect(response.status).toBe(200);
    expect(await response.text()).toContain(PAGE);
  });

  test('moves on from a port in use, also where its digits begin with 0', async () => {
    const taken = await take(0);
    const address = await served('--port', `0${taken}`);
    expect(Number(address.port)).toBeGreaterThan(taken);
  });

  test('does not move beyond 65535', async () => {
    await take(65535);
    expect(refused('--port', '65535')).toEqual({
      status: 1,
      error: 'A port in [65535, 65535] must be free, found all in use.',
    });
  });
});

test('./demo refuses an unknown option', () => {
  const error = './demo has no option or argument --prot';
  expect(refused('--prot', '80')).toEqual({ status: 2, error });
});
