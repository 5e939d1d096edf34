// Writes docs/commands.md.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { commandsOf } from '../web/contract.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const schema = JSON.parse(execFileSync(`${root}build/native/eigenscope`, ['schema'], { encoding: 'utf8' }));
writeFileSync(`${root}docs/commands.md`, commandsOf(schema));
