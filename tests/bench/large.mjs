// `npm run bench:large`: the benchmarks of large checkpoints, each also where an earlier one misses a target. Ends with
// status 1 where one did.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

for (const name of ['large-checkpoint', 'large-forward', 'large-prompt']) {
  const script = fileURLToPath(new URL(`${name}.mjs`, import.meta.url));
  const { status } = spawnSync('node', [script], { stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}
