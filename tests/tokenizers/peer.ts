// The ids of this project's tokenizer beside those of @huggingface/tokenizers.
import { spawnSync } from 'node:child_process';
import { Tokenizer } from '@huggingface/tokenizers';
import { root } from '../cli/eigenscope.ts';

const PROGRAM = `${root}build/native/tests/eigenscope-tokenize`;

/** Ids of each text, with special tokens, by eigenscope-tokenize. Throws with its message where it refuses. */
export function ownIds(path: string, texts: string[]): number[][] {
  const input = texts.map((it) => `${it}\0`).join('');
  const ran = spawnSync(PROGRAM, [path], { input, encoding: 'utf8', maxBuffer: 1 << 30 });
  if (ran.status !== 0) throw new Error(`${path}: ${ran.stderr || ran.error}`);
  const lines = ran.stdout.split('\n').slice(0, -1);
  return lines.map((line) => line.split(' ').slice(0, -1).map(Number));
}

/**
 * The first text whose ids differ, with both from where they differ on; null where all are equal. Malformed surrogates
 * become U+FFFD before, as in every text that is sent as UTF-8.
 */
export function difference(path: string, file: object, texts: string[]) {
  const peer = new Tokenizer(file, {});
  const wellFormed = texts.map((it) => Buffer.from(it, 'utf8').toString('utf8'));
  const own = ownIds(path, wellFormed);
  if (own.length !== texts.length) throw new Error(`${own.length} lines for ${texts.length} texts`);
  for (const [k, text] of wellFormed.entries()) {
    const { ids, tokens } = peer.encode(text);
    if (ids.join() === own[k].join()) continue;
    const at = ids.findIndex((id, place) => id !== own[k][place]);
    const part = (list: unknown[]) =>
      list
        .slice(at < 0 ? ids.length : at)
        .slice(0, 5)
        .join(' ');
    return { text: JSON.stringify(text), at, own: part(own[k]), peer: part(ids), peerTokens: part(tokens) };
  }
  return null;
}
