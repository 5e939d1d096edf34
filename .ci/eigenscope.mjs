/**
 * Runs the native command for the build of the page and for the documentation. What it prints is kept in build/answers
 * for the same program, words and files: the site, the tests and the pages ask some questions alike, and again at the
 * next build.
 */
import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const program = `${root}build/native/eigenscope`;
const folder = `${root}build/answers`;
const options = { cwd: root, encoding: 'utf8', maxBuffer: 1 << 30 };
/** Larger files are known by their size and time of change. */
const MOST_HASHED = 1 << 22;

/** What tells a file or folder that a command reads from an earlier version of it. */
function versionOf(path) {
  const info = statSync(path);
  if (info.isDirectory())
    return readdirSync(path)
      .toSorted()
      .map((name) => [name, versionOf(join(path, name))]);
  if (info.size > MOST_HASHED) return [info.size, info.mtimeMs];
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

let programVersion; // its hash takes a while

function fileOf(words) {
  const files = words.filter((it) => existsSync(join(root, it))).map((it) => versionOf(join(root, it)));
  programVersion ??= createHash('sha256').update(readFileSync(program)).digest('hex');
  const key = JSON.stringify([programVersion, words, files]);
  return `${folder}/${createHash('sha256').update(key).digest('hex')}.json`;
}

function keep(file, text) {
  mkdirSync(folder, { recursive: true });
  const draft = `${file}.${process.pid}`; // several processes may ask alike
  writeFileSync(draft, text);
  renameSync(draft, file);
  return JSON.parse(text);
}

/** The JSON that `eigenscope` prints with these words. */
export function printed(words) {
  const file = fileOf(words);
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'));
  return keep(file, execFileSync(program, words, { ...options, stdio: ['ignore', 'pipe', 'inherit'] }));
}

let free = availableParallelism();
const waiting = [];
const asked = new Map(); // answers under way

/** The same, beside as many others as there are cores. */
export function printedBeside(words) {
  const file = fileOf(words);
  if (existsSync(file)) return Promise.resolve(JSON.parse(readFileSync(file, 'utf8')));
  if (!asked.has(file)) asked.set(file, print(words, file));
  return asked.get(file);
}

async function print(words, file) {
  if (free === 0) await new Promise((done) => waiting.push(done));
  else free -= 1;
  try {
    return keep(file, (await promisify(execFile)(program, words, options)).stdout);
  } finally {
    if (waiting.length > 0)
      waiting.shift()(); // its place goes to the next
    else free += 1;
  }
}

/** An operation and the fields of its input, as the words of the command. */
export function wordsOf(name, input) {
  return [
    name,
    ...Object.entries(input).flatMap(([field, value]) => [`--${field.replaceAll('_', '-')}`, String(value)]),
  ];
}
