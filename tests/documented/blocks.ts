// The commands of README and docs, as a reader types them in the folder of the project.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../cli/eigenscope.ts';

/** The texts with commands for a reader, in the order in which README names them. */
export const DOCUMENTS = [
  'README.md',
  ...['commands', 'checkpoints', 'training', 'prediction', 'uses', 'cluster'].map((name) => `docs/${name}.md`),
];

/** Models of the Hub, which tests without a network leave out. */
const HUB = /\beigenscope \S+ (openai-community|sentence-transformers|google|EleutherAI)\//;

/** The blocks of code with commands of eigenscope, without the lines that need a network or a cluster. */
export function blocksOf(document: string): string[] {
  const text = readFileSync(join(root, document), 'utf8');
  const blocks = [...text.matchAll(/^```(?:sh)?\n(.*?)^```/gms)].map(([, code]) => code!);
  const lines = (block: string) => block.split('\n').filter((line) => !HUB.test(line) && !line.startsWith('sbatch '));
  return blocks.map((block) => lines(block).join('\n')).filter((block) => /\beigenscope [a-z]/.test(block));
}

/** The words of each command of eigenscope, also of one for GNU parallel, as a shell splits them, without comments. */
export function commandsOf(document: string): string[][] {
  const lines = blocksOf(document).flatMap((block) => block.split('\n'));
  return lines
    .filter((line) => /^(parallel .*)?eigenscope [a-z]/.test(line))
    .map((line) => line.slice(line.indexOf('eigenscope ')))
    .map((line) => [...line.matchAll(/'([^']*)'|"([^"]*)"|([^\s'"]+)/g)].map(([, a, b, c]) => a ?? b ?? c!))
    .map((words) => words.slice(1, words.includes('#') ? words.indexOf('#') : undefined));
}
