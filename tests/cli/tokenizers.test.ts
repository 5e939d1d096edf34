// Tokenizers against @huggingface/tokenizers, on small files of every kind and on MiniLM's.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fixtures, sameWords } from '../tokenizers/fixtures.ts';
import { difference } from '../tokenizers/peer.ts';
import { strings, TOKENS } from '../tokenizers/strings.ts';
import { MINILM, temporaryFolder } from './eigenscope.ts';

const TEXTS = 2000;
/** The least share of texts on which the peer must be comparable, so that the test compares something. */
const LEAST = 0.6;

const folder = temporaryFolder();

const texts = strings(TEXTS, 7, TOKENS);

const minilm = JSON.parse(readFileSync(`${MINILM}/tokenizer.json`, 'utf8')) as object;
const files = [...fixtures(), { name: 'MiniLM', file: minilm, comparable: sameWords }];

test.each(files)('$name has the ids of the peer', ({ name, file, comparable }) => {
  const path = join(folder, `${name}.json`);
  writeFileSync(path, JSON.stringify(file));
  const compared = comparable ? texts.filter(comparable) : texts;
  expect(compared.length).toBeGreaterThan(LEAST * TEXTS);
  expect(difference(path, file, compared)).toBeNull();
});
