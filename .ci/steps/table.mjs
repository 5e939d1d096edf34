// `npm run steps` writes the table of docs/tests.md: the steps of ./check with the minutes that each took when it ran
// last, and each build when it ran first, from build/check. A step that never ran here keeps its minutes.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const BEGIN = '<!--steps-->\n';
const END = '<!--/steps-->';
const HEAD = ['step', 'run by', 'subject', 'minutes', 'processor minutes'];

/** The cells of the table's rows between the comments of a page, without its head and the sums. */
export function rowsOf(page) {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`the page must have ${BEGIN.trim()} and ${END}`);
  return page
    .slice(begin, end)
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split(' | ').map((it) => it.replace(/^\| | \|$/g, '')));
}

/** Wall and processor seconds in the line that run.sh prints of a step; null without one. */
export function secondsIn(text) {
  const found = /: ([\d.]+) s, of processors ([\d.]+) s and in the kernel ([\d.]+) s/.exec(text);
  return found && { wall: Number(found[1]), processor: Number(found[2]) + Number(found[3]) };
}

const minutes = (seconds) => (seconds / 60).toFixed(1);

/**
 * A page with the table of steps anew. `steps` has name, command, subject and guard of each, as CMakeLists.txt writes
 * them; `timesOf` returns what one took, or null. Steps with one subject have one row: lanes run them in turn.
 */
export function withSteps(page, steps, timesOf) {
  const known = new Map(rowsOf(page).map((cells) => [cells[0], cells.slice(3)]));
  const rows = new Map();
  for (const { name, command, subject, guard } of steps) {
    const row = rows.get(subject) ?? { names: [], command, subject, guard, times: [] };
    row.names.push(name);
    row.times.push(timesOf(name));
    rows.set(subject, row);
  }
  const lines = [...rows.values()].map(({ names, command, subject, guard, times }) => {
    const title = `\`${names.length > 1 ? names[0].replace(/-.*/, '-*') : names[0]}\``;
    const sum = (key) => minutes(times.reduce((all, it) => all + it[key], 0));
    const cells = times.includes(null) ? (known.get(title) ?? ['', '']) : [sum('wall'), sum('processor')];
    const said = guard ? `${subject} (without it: ${guard})` : subject;
    return [title, `\`${command}\``, said, ...cells];
  });
  const sums = ['./check', './check --all'].map((command) => {
    const own = lines.filter((cells) => command !== './check' || cells[1] === '`./check`');
    // Without the minutes of a step there is no sum.
    const all = own.every((cells) => cells[4]) ? own.reduce((sum, cells) => sum + Number(cells[4]), 0).toFixed(1) : '';
    return ['all', `\`${command}\``, 'two steps at a time on 2 cores', '', all];
  });
  const table = [HEAD, HEAD.map(() => '---'), ...lines, ...sums].map((cells) => `| ${cells.join(' | ')} |`);
  const [begin, end] = [page.indexOf(BEGIN) + BEGIN.length, page.indexOf(END)];
  return `${page.slice(0, begin)}${table.join('\n')}\n${page.slice(end)}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const path = `${root}docs/tests.md`;
  if (!existsSync(`${root}build/check/steps.tsv`)) throw new Error('build/check/steps.tsv must exist: run ./check');
  const steps = readFileSync(`${root}build/check/steps.tsv`, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t'))
    .map(([name, command, subject, guard]) => ({ name, command, subject, guard }));
  const timesOf = (name) => {
    const file = `${root}build/check/${name}.seconds`;
    return existsSync(file) ? secondsIn(readFileSync(file, 'utf8')) : null;
  };
  writeFileSync(path, withSteps(readFileSync(path, 'utf8'), steps, timesOf));
}
