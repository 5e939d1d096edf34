// The commands of README and docs name files that are there or that an earlier command of the same text writes, and
// quick ones run. `npm run test:documented` runs them all.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { program, root } from '../cli/eigenscope.ts';
import { blocksOf, commandsOf, DOCUMENTS } from '../documented/blocks.ts';

/** Options whose value is a path that is read; --text is one of the commands that train or evaluate. */
const READ = ['--file', '--measure-file', '--changed', '--checkpoint', '--grid', '--cells', '--config', '--image'];
const READ_TEXT = ['train', 'evaluate'];
/** Commands of less than a second, by which a documented line is tried in ./check. */
const QUICK = [
  ...['propagation', 'map', 'spectrum', 'attention', 'softmax-row', 'rank-correlation', 'lines', 'head-theory'],
  ...['cosines', 'tensors', 'rotary-circuits'],
];

/** What a command reads and writes. */
function pathsOf([command, ...words]: string[]): { read: string[]; written: string[] } {
  const valuesOf = (option: string) => words.flatMap((word, at) => (word === option ? [words[at + 1]!] : []));
  const options = READ_TEXT.includes(command!) ? [...READ, '--text'] : READ;
  const first = words[0] && !words[0].startsWith('-') ? [words[0]] : [];
  return { read: [...first, ...options.flatMap(valuesOf)], written: valuesOf('--out') };
}

describe.each(DOCUMENTS)('%s', (document) => {
  test('has commands that read what is there or was written before', () => {
    const written = blocksOf(document).flatMap((block) => [...block.matchAll(/> (\S+)$/gm)].map(([, path]) => path!));
    const missing: string[] = [];
    for (const words of commandsOf(document)) {
      const paths = pathsOf(words);
      const isThere = (path: string) =>
        existsSync(join(root, path)) || written.some((it) => path === it || path.startsWith(`${it}/`));
      missing.push(...paths.read.filter((path) => !isThere(path)).map((path) => `${words[0]}: ${path}`));
      written.push(...paths.written);
    }
    expect(blocksOf(document).length).toBeGreaterThan(0);
    expect(missing).toEqual([]);
  });
});

test('trainings write to folders that no other training of the texts writes to', () => {
  const folders = DOCUMENTS.flatMap((document) =>
    commandsOf(document)
      .filter(([command, ...words]) => command === 'train' && !words.includes('--grid'))
      .flatMap((words) => pathsOf(words).written),
  );
  expect(folders.length).toBeGreaterThan(4);
  const taken = folders.filter((path, at) =>
    folders.some((other, k) => k !== at && (path === other || path.startsWith(`${other}/`))),
  );
  expect(taken).toEqual([]);
  expect(folders.filter((path) => existsSync(join(root, path.split('/')[0]!)) && !path.startsWith('build/'))).toEqual(
    [],
  );
});

test.each(commandsOf('docs/commands.md').filter(([command]) => QUICK.includes(command!)))('%s %s runs', (...words) => {
  const { status, stderr } = spawnSync(program, words, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28 });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});
