// Scans of a checkpoint with the shapes of a 7B LLaMA, as people type them.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { watched } from './watched.mjs';

/** What is measured: the most seconds with all 32 layers on 2 cores, from files that the system remembers. */
export const SCANS = [
  { name: 'all columns', options: ['--csv'], turns: 5, most: 4 },
  { name: '`--traces`', options: ['--traces', '--csv'], turns: 5, most: 4 },
  { name: '`--layers`', options: ['--layers'], turns: 3, most: 40 },
];

/** Writes the checkpoint to a folder. */
export function writeCheckpoint(folder, layers) {
  const writer = fileURLToPath(new URL('sparse-llama.mjs', import.meta.url));
  const { status } = spawnSync('node', [writer, folder, '--dense', '--layers', layers], { stdio: 'inherit' });
  if (status !== 0) throw new Error(`the checkpoint could not be written to ${folder}`);
}

/** Seconds of a scan by a build of the command, its peak memory in MB and its heads. */
export async function scan(command, folder, options) {
  const { text, ...spent } = await watched(command, ['heads', folder, ...options]);
  const heads = options.includes('--csv') ? text.trim().split('\n').length - 1 : JSON.parse(text).heads.length;
  return { ...spent, heads };
}
