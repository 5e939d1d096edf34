// Numbers in sentences whose computation takes long: long-calls.json keeps them, by the call and the path in its output,
// with a digest of the files that the call reads. `npm run experiments -- --long` computes them anew, `-- --lacking`
// those that it does not have or whose files have changed.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { filesOf } from '../../.ci/eigenscope.mjs';

const file = fileURLToPath(new URL('long-calls.json', import.meta.url));
const kept = JSON.parse(readFileSync(file, 'utf8'));
const found = {};

/** Commands whose calls are long. */
const COMMANDS = [
  'agent-attention',
  'attention-explanation',
  'attention-prior',
  'attention-sinks',
  'hard-retrieval',
  'parallel-contexts',
  'position-meaning',
  'token-prior',
];
export const isLong = (command) => COMMANDS.includes(command);

let [isAnew, isLacking] = [false, false];
/** From now on long calls are computed: all anew, or those that are not kept. */
export const computeLongCalls = (which) => void ([isAnew, isLacking] = [which === 'all', which === 'lacking']);

/** The kept number of a long call, whose command has these words, or what `compute` gives where it is computed anew. */
export function keptNumber(call, words, path, compute) {
  const files = filesOf(words);
  const isSame = JSON.stringify(kept[call]?.files) === JSON.stringify(files);
  const known = isAnew || !isSame ? undefined : kept[call].numbers[path];
  const value = known ?? (isAnew || isLacking ? compute() : undefined);
  if (value === undefined) {
    const reason = kept[call] && !isSame ? 'is of other files for' : `has no ${path} of`;
    throw new Error(`long-calls.json ${reason} ${call}: npm run experiments -- --lacking`);
  }
  (found[call] ??= { files, numbers: {} }).numbers[path] = value;
  return value;
}

/** Writes the numbers that pages have asked for; with `check` returns whether the file has them, and no others. */
export function keepLongCalls(check) {
  const text = `${JSON.stringify(found, null, 1)}\n`;
  if (check) return text === readFileSync(file, 'utf8');
  writeFileSync(file, text);
  return true;
}
