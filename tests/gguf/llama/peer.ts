// Small GGUF models, and what llama.cpp makes of a text with them.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, temporaryFolder } from '../../cli/eigenscope.ts';

export const TEXT =
  'Call me Ishmael. Some years ago, never mind how long precisely, having little or no money in my purse';

const folder = temporaryFolder();
/** The file of the text. */
export const text = join(folder, 'text.txt');
writeFileSync(text, TEXT);

/** Standard output of a program. */
function output(program: string, ...args: string[]): string {
  const ran = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 28 });
  if (ran.status !== 0) throw new Error(`${args[0]}: ${ran.stderr || ran.error}`);
  return ran.stdout;
}

/** The path of a model that decoder.py writes, by its arguments but the path. */
export function written(architecture: string, type: string, ...others: string[]): string {
  const path = join(folder, `${[architecture, type, ...others].join('-')}.gguf`);
  output('/usr/bin/python3', '-B', `${root}tests/gguf/decoder.py`, architecture, type, path, ...others);
  return path;
}

/** What a script of this folder prints for each model, which is JSON. */
export function answersOf<Answer>(script: string, paths: readonly string[]): Answer[] {
  return output('node', `${root}tests/gguf/llama/${script}`, text, ...paths)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Answer);
}
