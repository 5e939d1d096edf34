// Numbers in sentences that a command computes when the pages are written, or has written elsewhere.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { written } from './tables.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const known = new Map();

/** What `eigenscope` prints; options as `mean=1,variance=30`. */
function output(command, options) {
  const words = [command, ...options.split(',').map((it) => `--${it.replaceAll('_', '-')}`)];
  const key = words.join(' ');
  if (!known.has(key)) {
    const text = execFileSync(`${root}build/native/eigenscope`, words, {
      cwd: root,
      maxBuffer: 1e9,
    });
    known.set(key, JSON.parse(text.toString()));
  }
  return known.get(key);
}

export const numbers = {
  /** A number of a command's output by its path, such as rows.0.entropy; negative places count from the end. */
  computed: (command, options, path, digits) => {
    const value = path
      .split('.')
      .reduce(
        (it, part) => (Array.isArray(it) ? it.at(Number(part)) : it?.[part]),
        output(command, options),
      );
    if (typeof value !== 'number') throw new Error(`${command} ${options} has no number ${path}`);
    return written(value, Number(digits));
  },
  /** The least and the largest median of the rows of docs/performance/ratios.md that begin so. */
  ratios: (...words) => {
    const rows = readFileSync(`${root}docs/performance/ratios.md`, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith(`| ${words.join(' ')}`));
    if (rows.length === 0) throw new Error(`docs/performance/ratios.md has no ${words.join(' ')}`);
    const medians = rows.map((row) => Number(row.split('|')[2]));
    return [Math.min(...medians), Math.max(...medians)].map((it) => written(it, 1)).join(' to ');
  },
};
