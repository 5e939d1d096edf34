// The table of systems in docs/tests.md:
//   table.mjs SYSTEM COMMAND RESULT SECONDS COMMIT "COMPILER EMSCRIPTEN"   replaces the row of that command
//   table.mjs SYSTEM "not tried"                                      marks the system's rows, dates stay
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const BEGIN = '<!--systems-->\n';
const END = '<!--/systems-->';
const HEAD = ['system', 'command', 'commit', 'date', 'compiler', 'Emscripten', 'result', 'minutes'];
const COMMANDS = ['./demo --no-open', './check'];
const NOT_TRIED = 'not tried; before: ';

/** What the table calls a system of run.sh: debian-12 is Debian 12. */
export function nameOf(system) {
  return system.replace(/^(.)(.*)-/, (_, first, rest) => `${first.toUpperCase()}${rest} `);
}

/** The rows of the table in a page, by the names of its columns, and where the table begins and ends. */
function tableOf(page) {
  const begin = page.indexOf(BEGIN) + BEGIN.length;
  const end = page.indexOf(END);
  if (begin < BEGIN.length || end < begin) {
    throw new Error(`the page must have ${BEGIN.trim()} and ${END}`);
  }
  const [head, , ...lines] = page
    .slice(begin, end)
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split('|').slice(1, -1))
    .map((cells) => cells.map((it) => it.trim()));
  const rows = lines.map((cells) => Object.fromEntries(head.map((name, i) => [name, cells[i]])));
  return { rows, begin, end };
}

export function rowsOf(page) {
  return tableOf(page).rows;
}

/** A page with a result in its table, or with the rows of a system marked as not tried. */
export function withResult(page, { system, command, result, seconds, commit, versions, date }) {
  const { rows: old, begin, end } = tableOf(page);
  const name = nameOf(system);
  let rows = old;
  if (command === 'not tried') {
    for (const row of rows.filter((it) => it.system === name)) {
      if (!row.result.startsWith(NOT_TRIED)) row.result = NOT_TRIED + row.result;
    }
  } else {
    const [compiler = '', Emscripten = ''] = versions.split(' ');
    const minutes = (Number(seconds) / 60).toFixed(0);
    const code = `\`${command}\``;
    rows = rows.filter((row) => row.system !== name || row.command !== code);
    rows.push({ system: name, command: code, commit, date, compiler, Emscripten, result, minutes });
  }
  const places = new Map(COMMANDS.map((it, i) => [`\`${it}\``, i]));
  const order = (row) => places.get(row.command) ?? COMMANDS.length; // last what an earlier version ran
  rows.sort((a, b) => a.system.localeCompare(b.system) || order(a) - order(b));
  const cells = rows.map((row) => HEAD.map((column) => row[column] ?? ''));
  const lines = [HEAD, ...cells].map((row) => `| ${row.join(' | ')} |`);
  lines.splice(1, 0, `|${'---|'.repeat(HEAD.length)}`);
  return `${page.slice(0, begin)}${lines.join('\n')}\n${page.slice(end)}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const path = fileURLToPath(new URL('../../docs/tests.md', import.meta.url));
  const [system, command, result, seconds, commit, versions] = process.argv.slice(2);
  const date = new Date().toISOString().slice(0, 10);
  const asked = { system, command, result, seconds, commit, versions, date };
  writeFileSync(path, withResult(readFileSync(path, 'utf8'), asked));
}
