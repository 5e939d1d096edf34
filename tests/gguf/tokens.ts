// Tokenizers inside GGUF files against llama.cpp, on the genuine vocabularies that its source has.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { root } from '../cli/eigenscope.ts';
import { ownIds } from '../tokenizers/peer.ts';
import { strings, TOKENS } from '../tokenizers/strings.ts';

const TEXTS = Number(process.env.TEXTS ?? 16_000);
const VOCABULARIES = `${root}build/llama.cpp/models/ggml-vocab-`;

const folder = mkdtempSync(join(tmpdir(), 'eigenscope-gguf-'));
afterAll(() => rmSync(folder, { recursive: true }));

const texts = strings(TEXTS, 11, TOKENS).map((it) => Buffer.from(it, 'utf8').toString('utf8'));

/** llama.cpp's ids of each text, with the beginning and the end token that it adds. */
function peerIds(path: string, texts: string[]): number[][] {
  const file = join(folder, 'texts');
  writeFileSync(file, texts.map((it) => `${it}\0`).join(''));
  const script = `${root}tests/gguf/llama/ids.mjs`;
  const ran = spawnSync('node', [script, path, file], { encoding: 'utf8', maxBuffer: 1 << 30 });
  if (ran.status !== 0) throw new Error(`${path}: ${ran.stderr || ran.error}`);
  const lines = ran.stdout.split('\n').slice(0, -1);
  const numbers = (line: string) => line.split(' ').filter(Boolean).map(Number);
  const [before, after] = lines.at(-1)!.split(' ').map(numbers);
  return lines.slice(0, -1).map((line) => [...before, ...numbers(line), ...after]);
}

/** The file with another name of its pre-tokenizer. */
function withPreTokenizer(path: string, name: string): string {
  const file = readFileSync(path);
  const key = 'tokenizer.ggml.pre';
  const at = file.indexOf(key) + key.length + 4; // behind the type of a string
  const length = file.readBigUInt64LE(at);
  const value = Buffer.alloc(8 + name.length);
  value.writeBigUInt64LE(BigInt(name.length));
  value.write(name, 8);
  const changed = join(folder, `${name}.gguf`);
  writeFileSync(changed, Buffer.concat([file.subarray(0, at), value, file.subarray(at + 8 + Number(length))]));
  return changed;
}

/** Blocks that Unicode has since versions 16 and 17, which llama.cpp's tables lack. */
const NEW_BLOCKS = [
  ...[
    '10940-1095f',
    '10ec2-10efc',
    '105c0-105ff',
    '10d40-10d8f',
    '11380-113ff',
    '116d0-116ff',
    '11b60-11b7f',
    '11bc0-11bff',
  ],
  ...[
    '11db0-11def',
    '11f5a-11f5a',
    '13460-143ff',
    '16100-1613f',
    '16d40-16d7f',
    '16ea0-16edf',
    '18cff-18dff',
    '1cc00-1ceff',
  ],
  ...['1e5d0-1e5ff', '1e6c0-1e6ff', '323b0-3347f', '1acf-1aff', '1c89-1c8a', 'a7cb-a7dc', '88f-88f', '897-897'],
];
const NEW = new RegExp(`[${NEW_BLOCKS.map((it) => it.replace(/[0-9a-f]+/g, (c) => `\\u{${c}}`)).join('')}]`, 'u');
const assigned = (text: string) => !NEW.test(text);
/** llama.cpp makes a special token of it wherever it is a token. */
const unclosed = (text: string) => !text.includes('</s>');
/** llama.cpp leaves marks, and cases beyond ASCII, out of these patterns. */
const asciiWords = (text: string) => !/\p{M}|(?![A-Za-z])\p{L}/u.test(text);
/** llama.cpp ignores the case of letters in these patterns. */
const sameCase = (text: string) => asciiWords(text) && !/[a-z][A-Z]/.test(text);
/** Of these patterns, which name ranges of characters, llama.cpp regards white space beyond Latin 1 as none of a range. */
const latinSpaces = (text: string) => !/[\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/.test(text);
/**
 * llama.cpp does not decompose Hangul, removes marks of all kinds, sets other ideographs apart than BERT, and cuts at
 * control characters that BERT removes.
 */
const plainMarks = (text: string) => !/[\v\f\u0085\uac00-\ud7a3\u{2b740}-\u{2ceaf}]|\p{Mc}|\p{Me}/u.test(text);
/** A byte of the last planes is no token of the vocabulary; llama.cpp leaves it out, the library refuses the text. */
const firstPlanes = (text: string) => !/[\u{40000}-\u{10ffff}]/u.test(text);

interface Vocabulary {
  name: string;
  /** Another pre-tokenizer than the file's. */
  pre?: string;
  /** Whether llama.cpp treats a text as the original tokenizer does; null when every text. */
  comparable?: (text: string) => boolean;
  /** The least share of the texts that must be comparable; 0.6 by itself. */
  least?: number;
}

const VOCABULARY_LIST: Vocabulary[] = [
  { name: 'llama-spm' },
  { name: 'baichuan' },
  { name: 'phi-3' },
  { name: 'gpt-2' },
  { name: 'mpt' },
  { name: 'starcoder', comparable: firstPlanes },
  { name: 'refact', comparable: firstPlanes },
  { name: 'command-r' },
  { name: 'llama-bpe' },
  { name: 'qwen2', comparable: unclosed },
  { name: 'qwen35', comparable: unclosed },
  { name: 'llama-bpe', pre: 'gpt-4o', comparable: asciiWords },
  { name: 'llama-bpe', pre: 'tekken', comparable: asciiWords },
  { name: 'deepseek-llm', comparable: latinSpaces },
  { name: 'deepseek-coder', comparable: latinSpaces },
  ...[
    'deepseek-v3',
    'falcon',
    'default',
    'chameleon',
    'bloom',
    'viking',
    'jais-2',
    'laguna',
    'seed-coder',
    'bailingmoe',
  ].map((pre) => ({ name: 'llama-bpe', pre })),
  ...['exaone-moe', 'minicpm5'].map((pre) => ({ name: 'llama-bpe', pre })),
  { name: 'llama-bpe', pre: 'granite-embed-multi-97m', comparable: asciiWords },
  { name: 'llama-bpe', pre: 'youtu', comparable: sameCase, least: 0.55 },
  { name: 'llama-bpe', pre: 'kimi-k2', comparable: sameCase, least: 0.55 },
  { name: 'gemma-4' },
  { name: 'bert-bge', comparable: plainMarks },
  { name: 'nomic-bert-moe' },
];

test.each(VOCABULARY_LIST)('$name $pre has the ids of llama.cpp', ({ name, pre, comparable, least = 0.6 }) => {
  const original = `${VOCABULARIES}${name}.gguf`;
  const path = pre === undefined ? original : withPreTokenizer(original, pre);
  const compared = texts.filter((text) => assigned(text) && (comparable?.(text) ?? true));
  const own = ownIds(path, compared);
  const peer = peerIds(path, compared);
  const different = compared.flatMap((text, k) =>
    own[k].join() === peer[k].join() ? [] : [{ text, own: own[k], peer: peer[k] }],
  );
  console.log(`${name} ${pre ?? ''}: ${compared.length - different.length} of ${compared.length} texts are equal`);
  if (process.env.SHOWN) console.log(JSON.stringify(different.slice(0, Number(process.env.SHOWN))));
  expect(different).toEqual([]);
  expect(compared.length).toBeGreaterThan(least * TEXTS);
});
