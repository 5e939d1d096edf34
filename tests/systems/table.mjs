// Writes a result into the table of systems in docs/tests.md:
//   table.mjs SYSTEM COMMAND RESULT SECONDS "GCC EMSCRIPTEN"   replaces the row of that command
//   table.mjs SYSTEM "not tried"                               marks the system's rows, dates stay
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const path = fileURLToPath(new URL('../../docs/tests.md', import.meta.url));
const BEGIN = '<!--systems-->\n';
const END = '<!--/systems-->';
const HEAD = ['system', 'command', 'date', 'GCC', 'Emscripten', 'result', 'minutes'];
const COMMANDS = ['./demo --no-open', './check --quick'];
const NOT_TRIED = 'not tried; before: ';

const [system, command, result, seconds, versions] = process.argv.slice(2);
const name = system.replace(/^(.)(.*)-/, (_, first, rest) => `${first.toUpperCase()}${rest} `);

const text = readFileSync(path, 'utf8');
const begin = text.indexOf(BEGIN) + BEGIN.length;
const end = text.indexOf(END);
if (begin < BEGIN.length || end < begin)
  throw new Error(`${path} must have ${BEGIN.trim()} and ${END}`);
let rows = text
  .slice(begin, end)
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .slice(2)
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((it) => it.trim()),
  );

if (command === 'not tried') {
  for (const row of rows.filter((it) => it[0] === name)) {
    if (!row[5].startsWith(NOT_TRIED)) row[5] = NOT_TRIED + row[5];
  }
} else {
  const date = new Date().toISOString().slice(0, 10);
  const [gcc = '', emscripten = ''] = versions.split(' ');
  const minutes = (Number(seconds) / 60).toFixed(0);
  const code = `\`${command}\``;
  rows = rows.filter((row) => row[0] !== name || row[1] !== code);
  rows.push([name, code, date, gcc, emscripten, result, minutes]);
}
const order = (row) => COMMANDS.findIndex((it) => `\`${it}\`` === row[1]);
rows.sort((a, b) => a[0].localeCompare(b[0]) || order(a) - order(b));

const lines = [HEAD, HEAD.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`);
lines[1] = lines[1].replaceAll(' ', '');
writeFileSync(path, `${text.slice(0, begin)}${lines.join('\n')}\n${text.slice(end)}`);
