// `npm run bench:scan -- [COMMIT]` writes docs/performance/scan-before.md: scans of a checkpoint in the shape of a 7B
// LLaMA by an earlier commit, which is built in build/before, and by this one, in turn.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { largeFolder } from './large-folder.mjs';
import { cellOf, writeReport } from './report.mjs';
import { SCANS, scan, writeCheckpoint } from './scans.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** The last commit before scans shared their products and computed in single precision. */
const COMMIT = process.argv[2] ?? 'fc49967d';

/** The command line of a commit. */
function built(commit) {
  const folder = `${root}build/before/${commit}`;
  const run = (...command) => execFileSync(command[0], command.slice(1), { stdio: 'inherit' });
  if (!existsSync(folder)) {
    const files = execFileSync('git', ['-C', root, 'archive', commit], { maxBuffer: 2 ** 30 });
    mkdirSync(folder, { recursive: true });
    execFileSync('tar', ['-x', '-C', folder], { input: files });
  }
  const build = `${folder}/build/native`;
  run('cmake', '-S', folder, '-B', build, '-G', 'Ninja', '-DCMAKE_BUILD_TYPE=Release', '-DBUILD_TESTING=OFF');
  run('cmake', '--build', build, '--target', 'eigenscope-cli');
  return `${build}/eigenscope`;
}

const date = execFileSync('git', ['-C', root, 'show', '-s', '--format=%cs', COMMIT], { encoding: 'utf8' }).trim();
const before = built(COMMIT);
const folder = largeFolder();
writeCheckpoint(folder, '32');
/** Turns of a scan: one where the earlier commit takes minutes. */
const turnsOf = ({ most }) => (most > 10 ? 1 : 3);
const rows = [];
for (const it of SCANS) {
  const { name, options } = it;
  const turns = [];
  for (let turn = 0; turn < turnsOf(it); ++turn) {
    turns.push({
      earlier: await scan(before, folder, options),
      now: await scan(`${root}build/native/eigenscope`, folder, options),
    });
  }
  const cell = (value, digits) => cellOf(turns.map(value), digits);
  rows.push([
    name,
    cell(({ earlier }) => earlier.seconds, 1),
    cell(({ now }) => now.seconds, 1),
    cell(({ earlier, now }) => earlier.seconds / now.seconds, 1),
    cell(({ earlier }) => earlier.memory, 0),
    cell(({ now }) => now.memory, 0),
  ]);
}
writeReport('scan-before', {
  title: 'Scan of a checkpoint with the shapes of a 7B LLaMA, before and now',
  command: 'npm run bench:scan',
  columns: ['scan', 'before, s', 'now, s', 'before over now', 'peak memory before, MB', 'now, MB'],
  rows,
  notes: [
    `Before is commit ${COMMIT} of ${date}. 1,024 heads in BF16, read from the cache of files; medians and ranges of ` +
      `${SCANS.map(turnsOf).join(', ')} turns.`,
  ],
});
