// `npm run test:documented` runs the commands of README and docs as written and in their order, each text in a folder
// where only ./demo ran. A grid takes hours: it is ended after GRID seconds.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { program, root, temporaryFolder } from '../cli/eigenscope.ts';
import { blocksOf, DOCUMENTS } from './blocks.ts';

const GRID = 20;
const TIMEOUT_OF_COREUTILS = 124;

const bin = join(temporaryFolder(), 'bin');
mkdirSync(bin);
writeFileSync(
  join(bin, 'eigenscope'),
  `#!/bin/bash
case " $* " in
*.grid.json*) timeout ${GRID} ${program} "$@" || [ $? = ${TIMEOUT_OF_COREUTILS} ] ;;
*) exec ${program} "$@" ;;
esac
`,
);
chmodSync(join(bin, 'eigenscope'), 0o755);

describe.each(DOCUMENTS)('%s', (document) => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'web'));
  for (const name of ['docs', 'node_modules', 'web/models']) symlinkSync(join(root, name), join(folder, name));
  test.each(blocksOf(document))('%s', (block) => {
    const env = { ...process.env, PATH: `${bin}:${process.env.PATH}` };
    execFileSync('bash', ['-e', '-o', 'pipefail', '-c', block], {
      cwd: folder,
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  });
});
