// `npm run fuzz [-- --executions N] [--minutes N] [FUZZER...]` runs the fuzzers in turn, one process at a time, until
// each has N executions (default 10 million) over all calls, and writes the table of docs/tests.md. build/fuzz keeps
// what they found: corpus/FUZZER, findings/FUZZER-* and the counts of executions.json, with which the next call
// goes on.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('../..', import.meta.url));
const build = `${root}build/fuzz/`;
const COUNTS = `${build}executions.json`;
const PAGE = `${root}docs/tests.md`;
/** Seconds of one process. */
const TURN = 60;

const all = readdirSync(`${root}tests/fuzz`)
  .filter((name) => name.endsWith('_fuzz.cpp'))
  .map((name) => name.replace('_fuzz.cpp', ''));

function integer(option, text) {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 1) return value;
  console.error(`--${option} must be a positive integer, found ${text}`);
  process.exit(2);
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { executions: { type: 'string', default: '10000000' }, minutes: { type: 'string' } },
});
const wanted = integer('executions', values.executions);
const end = values.minutes ? Date.now() + 60_000 * integer('minutes', values.minutes) : Infinity;
const unknown = positionals.find((name) => !all.includes(name));
if (unknown) {
  console.error(`FUZZER must be one of ${all.join(', ')}, found ${unknown}`);
  process.exit(2);
}
const chosen = positionals.length > 0 ? positionals : all;

function readCounts() {
  try {
    return JSON.parse(readFileSync(COUNTS, 'utf8'));
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    return {};
  }
}

/** fuzzer -> {executions, date, commit} */
const counts = readCounts();
const executionsOf = (name) => counts[name]?.executions ?? 0;
const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();

/** Inputs with which a fuzzer crashed, leaked, ran out of memory or took too long. */
function findingsOf(name) {
  return readdirSync(`${build}findings`).filter((file) => file.startsWith(`${name}-`));
}

let running = null;
let stopped = false;
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    stopped = true;
    running?.kill('SIGINT');
  });
}

/** Exit status and output of a fuzzer. */
function run(name, options) {
  const corpus = [`${build}corpus/${name}`, `${root}tests/fuzz/corpus/${name}`];
  const own = [`-dict=${root}tests/fuzz/${name}.dict`, `-artifact_prefix=${build}findings/${name}-`];
  running = spawn(`${build}tests/fuzz-${name}`, [...own, ...options, ...corpus], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  running.stderr.on('data', (chunk) => (output = (output + chunk).slice(-100_000)));
  return new Promise((done, fail) => {
    running.on('error', fail);
    running.on('close', (status) => done({ status, output }));
  });
}

/** One turn of a fuzzer; whether it found nothing. */
async function turn(name) {
  const left = wanted - executionsOf(name);
  const { status, output } = await run(name, [
    ...[`-runs=${left}`, `-max_total_time=${TURN}`, '-timeout=60', '-print_final_stats=1'],
  ]);
  const count = /stat::number_of_executed_units:\s*(\d+)/.exec(output);
  if (!count) throw new Error(`fuzz-${name} must print its executions, found\n${output}`);
  const date = new Date().toISOString().slice(0, 10);
  counts[name] = { executions: executionsOf(name) + Number(count[1]), date, commit };
  writeFileSync(`${COUNTS}.new`, `${JSON.stringify(counts, null, 2)}\n`);
  renameSync(`${COUNTS}.new`, COUNTS);
  console.log(`${name}: ${executionsOf(name)} of ${wanted} executions`);
  if (status !== 0 && !stopped) console.error(output);
  return status === 0 || stopped;
}

/** Removes the findings of earlier calls that fail no more. */
function retry(name) {
  for (const file of findingsOf(name)) {
    const input = join(build, 'findings', file);
    try {
      execFileSync(`${build}tests/fuzz-${name}`, ['-timeout=60', input], { stdio: 'ignore' });
    } catch {
      continue;
    }
    rmSync(input);
  }
}

function writeTable() {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const head = ['fuzzer', 'executions', 'findings', 'date', 'commit'];
  const rows = all.map((name) => {
    const { date = '', commit = '' } = counts[name] ?? {};
    return [name, executionsOf(name).toLocaleString('en'), findingsOf(name).length, date, commit];
  });
  const table = [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
  const page = readFileSync(PAGE, 'utf8');
  const place = /(<!--fuzzers-->\n)[^]*?(<!--\/fuzzers-->)/;
  if (!place.test(page)) throw new Error(`${PAGE} must have <!--fuzzers--> and <!--/fuzzers-->`);
  writeFileSync(PAGE, page.replace(place, `$1${table}\n$2`));
  console.log(table);
}

mkdirSync(`${build}findings`, { recursive: true });
for (const name of chosen) {
  mkdirSync(`${build}corpus/${name}`, { recursive: true });
  retry(name);
}
// The one with the fewest executions is next, so that partial results are of all.
const failed = chosen.filter((name) => findingsOf(name).length > 0);
const next = () =>
  chosen
    .filter((name) => executionsOf(name) < wanted && !failed.includes(name))
    .sort((a, b) => executionsOf(a) - executionsOf(b))[0];
for (let name = next(); name && !stopped && Date.now() < end; name = next()) {
  if (!(await turn(name))) failed.push(name);
}
writeTable();
if (failed.length > 0) {
  console.error(`findings are in ${build}findings: ${failed.join(', ')}`);
  process.exitCode = 1;
}
