// The folder of a checkpoint of gigabytes, which goes when its process ends. A process that is killed cannot remove its
// folder; the next one does.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';

const PREFIX = 'eigenscope-large-';
const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'];

function isRunning(process_) {
  try {
    process.kill(process_, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** A new folder in EIGENSCOPE_BENCH_DIR, or else in the system's temporary one. */
export function largeFolder() {
  const parent = process.env.EIGENSCOPE_BENCH_DIR ?? tmpdir();
  for (const name of readdirSync(parent)) {
    const owner = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1];
    if (owner && !isRunning(Number(owner))) rmSync(join(parent, name), { recursive: true, force: true });
  }
  const folder = mkdtempSync(join(parent, `${PREFIX}${process.pid}-`));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of SIGNALS) process.once(signal, () => process.exit(128 + constants.signals[signal]));
  return folder;
}
