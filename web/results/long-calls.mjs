// Numbers in sentences whose computation takes a minute: long-calls.json keeps them, by the call and the path in its
// output. `npm run experiments -- --long` computes them anew, `-- --lacking` those that it does not have.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const file = fileURLToPath(new URL('long-calls.json', import.meta.url));
const kept = JSON.parse(readFileSync(file, 'utf8'));
const found = {};

/** Commands whose calls are long, all of them or those with such options. */
const COMMANDS = { 'agent-attention': /./, 'token-prior': /./, 'position-meaning': /datasets=\d\d/ };
export const isLong = (command, options) => COMMANDS[command]?.test(options) ?? false;

let [isAnew, isLacking] = [false, false];
/** From now on long calls are computed: all anew, or those that are not kept. */
export const computeLongCalls = (which) => void ([isAnew, isLacking] = [which === 'all', which === 'lacking']);

/** The kept number of a long call, or what `compute` gives where all are computed anew. */
export function keptNumber(call, path, compute) {
  const known = isAnew ? undefined : kept[call]?.[path];
  const value = known ?? (isAnew || isLacking ? compute() : undefined);
  if (value === undefined) throw new Error(`long-calls.json has no ${path} of ${call}: npm run experiments -- --long`);
  (found[call] ??= {})[path] = value;
  return value;
}

/** Writes the numbers that pages have asked for; with `check` returns whether the file has them, and no others. */
export function keepLongCalls(check) {
  const text = `${JSON.stringify(found, null, 1)}\n`;
  if (check) return text === readFileSync(file, 'utf8');
  writeFileSync(file, text);
  return true;
}
