// `npm run bench:large` writes docs/performance/large-prompt.md: a prompt of 512 tokens through a LLaMA of 1.1 billion
// weights in one GGUF file, by `eigenscope attend` and by llama.cpp in turn. Without llama.cpp the table stays as it is.
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { largeFolder } from './large-folder.mjs';
import { cellOf, writeReport } from './report.mjs';
import { watched } from './watched.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const TOKENS = 512;
const TURNS = 3;
const TYPES = ['F16', 'Q8_0'];

/** The tokenizer's tokens are bytes, of which a space becomes three; the first token is that of the beginning. */
const text = 'Call-me-Ishmael.'.repeat(TOKENS / 16).slice(1);

const PROGRAMS = {
  'eigenscope attend': (file, model) =>
    watched(`${root}build/native/eigenscope`, ['attend', model, '--file', file, '--passages', '1', '--csv']),
  'llama.cpp': (file, model) => watched('node', [`${root}tests/gguf/llama/prompt.mjs`, file, model]),
};

function measuredTokens({ text: output }) {
  return output.startsWith('{') ? JSON.parse(output).tokens : TOKENS;
}

async function rowsOf(type, folder) {
  const model = join(folder, 'model.gguf');
  const file = join(folder, 'text.txt');
  writeFileSync(file, text);
  const writer = ['-B', `${root}tests/gguf/decoder.py`, 'llama', type, model, '1.1b'];
  const { status } = spawnSync('/usr/bin/python3', writer, { stdio: 'inherit' });
  if (status !== 0) throw new Error(`${writer[1]} ended with status ${status}`);
  const turns = Object.fromEntries(Object.keys(PROGRAMS).map((name) => [name, []]));
  for (let turn = 0; turn < TURNS; ++turn) {
    for (const [name, run] of Object.entries(PROGRAMS)) {
      const ran = await run(file, model);
      if (measuredTokens(ran) !== TOKENS) throw new Error(`${name} must run ${TOKENS} tokens: ${ran.text}`);
      turns[name].push(ran);
    }
  }
  rmSync(model);
  return Object.entries(turns).map(([name, all]) => {
    const cell = (value, digits) => cellOf(all.map(value), digits);
    const ours = turns['eigenscope attend'];
    return [
      type,
      name,
      cell(({ seconds }) => seconds, 1),
      name === 'llama.cpp' ? cell(({ text: output }) => JSON.parse(output).seconds, 1) : '',
      cell(({ processor }) => processor, 1),
      cell(({ processor }, k) => processor / ours[k].processor, 2),
      cell(({ memory }) => memory, 0),
    ];
  });
}

if (!existsSync(`${root}tests/gguf/llama/node_modules/node-llama-cpp`)) {
  console.error('llama.cpp is not installed: docs/performance/large-prompt.md stays as it is');
  process.exit(0);
}
const folder = largeFolder();
const rows = [];
for (const type of TYPES) rows.push(...(await rowsOf(type, folder)));
writeReport('large-prompt', {
  title: 'A prompt of 512 tokens through a LLaMA of 1.1 billion weights',
  command: 'npm run bench:large',
  columns: [
    'weights',
    'program',
    'time, s',
    'prompt alone, s',
    'processor time, s',
    'processor time over ours',
    'peak memory, MB',
  ],
  rows,
  notes: [
    `Medians and ranges of ${TURNS} turns of whole processes, reading of the GGUF file from the cache included; all ` +
      'cores. `eigenscope attend` computes and measures the attention of all 704 heads, and ends with the heads of the ' +
      'last layer; llama.cpp (node-llama-cpp 3.21.1) runs one batch with its default settings and gives the next token. ' +
      'Memory of llama.cpp includes the file, which it maps.',
  ],
});
