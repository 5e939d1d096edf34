// Makes build/space, a static Space of the Hugging Face Hub: the page of dist/ with the front matter of a Space.
import { cpSync, existsSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const space = `${root}build/space`;
rmSync(space, { recursive: true, force: true });
for (const name of ['index.html', 'assets']) {
  if (!existsSync(`${root}dist/${name}`))
    throw new Error(`dist/${name} must exist, found none: run ./demo --build-only`);
  cpSync(`${root}dist/${name}`, `${space}/${name}`, { recursive: true });
}
cpSync(`${root}.ci/space/README.md`, `${space}/README.md`);
console.log(`The Space is in ${space}.`);
