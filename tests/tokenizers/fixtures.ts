// Small tokenizer.json files of every kind, made of a book and code: stages as published files compose them.
import { Tokenizer } from '@huggingface/tokenizers';
import { type Replacements, compiled, replaced } from './character-map.ts';
import { book, code } from './strings.ts';

export interface Fixture {
  name: string;
  file: object;
  /** Whether @huggingface/tokenizers treats a text as the original in Rust does; null when of every text. */
  comparable: ((text: string) => boolean) | null;
}

interface Stages {
  normalizer?: object | null;
  pre_tokenizer?: object | null;
  post_processor?: object | null;
  added?: { content: string; [flag: string]: unknown }[];
}

type Model = (pieces: Map<string, number>, first: string[]) => Record<string, unknown>;

const MERGES = 250;
/** The pieces that merges and their order are learned from, the most frequent ones. */
const WORDS = 1200;
const PIECES = 2000;
const LLAMA3 =
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" +
  '\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+';
const GPT4O =
  "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?i:'s|'t|'re|'ve|'m|" +
  "'ll|'d)?|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*(?i:'s|'t|'re|" +
  "'ve|'m|'ll|'d)?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

const CLIP = "'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+";

const DEEPSEEK_V3 = [
  '\\p{N}{1,3}',
  '[一-龥\u3040-ゟ゠-ヿ]+',
  '[!"#$%&\'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+|' +
    ' ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+',
];
/** The second one names the letters of more scripts. */
const DEEPSEEK_LLM = [
  '[\r\n]',
  '\\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯ𐐀-𐑏𐒰-𐓓]+',
  '\\s?[!-/:-~！-／：-～‘-‟\u3000-。]+',
  '\\s+$',
  '[一-龥ࠀ-一가-\ud7ff]+',
];

/** The Unicode of a few scripts in a text, so that tokens of several bytes are learned too. */
const SCRIPTS = 'naïve café, Größe; Ελλάδα και 東京都 привет мир é ü\n';
const CORPUS = `${book().slice(0, 50_000)}\n${code().slice(0, 20_000)}\n${SCRIPTS.repeat(40)}`;

/** Pieces of the corpus by the stages, with their counts. */
function piecesOf(stages: Stages): Map<string, number> {
  const model = { type: 'WordPiece', unk_token: '?', vocab: { '?': 0 } };
  const tokenizer = new Tokenizer(tokenizerFile(stages, model, []), {});
  const counts = new Map<string, number>();
  for (const line of CORPUS.split(/(?<=\n)/)) {
    const text = tokenizer.normalizer ? tokenizer.normalizer(line) : line;
    const pieces = tokenizer.pre_tokenizer ? tokenizer.pre_tokenizer(text, { section_index: 0 }) : [text];
    // A piece of several words would learn merges across them, which take long to count.
    const words = pieces.flatMap((it) => it.split(/(?<!▁)(?=▁)/));
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return counts;
}

const symbolsOf = (piece: string, end: string) =>
  [...piece].map((it, k, all) => (k + 1 === all.length ? it + end : it));

/** Pairs in the order in which byte pair encoding learns them. */
function merges(pieces: Map<string, number>, end: string): [string, string][] {
  const frequent = [...pieces].sort((a, b) => b[1] - a[1]).slice(0, WORDS);
  const words = frequent.map(([piece, count]) => ({ symbols: symbolsOf(piece, end), count }));
  const learned: [string, string][] = [];
  while (learned.length < MERGES) {
    const counts = new Map<string, number>();
    for (const { symbols, count } of words) {
      for (let k = 0; k + 1 < symbols.length; ++k) {
        const pair = `${symbols[k]}\0${symbols[k + 1]}`;
        counts.set(pair, (counts.get(pair) ?? 0) + count);
      }
    }
    const [best] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a));
    const [left, right] = best.split('\0');
    learned.push([left, right]);
    for (const word of words) {
      const { symbols } = word;
      for (let k = 0; k + 1 < symbols.length; ++k) {
        if (symbols[k] === left && symbols[k + 1] === right) symbols.splice(k, 2, left + right);
      }
    }
  }
  return learned;
}

const vocabulary = (tokens: Iterable<string>) => Object.fromEntries([...new Set(tokens)].map((it, id) => [it, id]));

const bytePairs =
  (options: Record<string, unknown>, asPairs = false): Model =>
  (pieces, first) => {
    const end = String(options.end_of_word_suffix ?? '');
    const learned = merges(pieces, end);
    const characters = [...new Set([...pieces.keys()].flatMap((it) => [...it, ...symbolsOf(it, end)]))].sort();
    const tokens = [...first, ...characters, ...learned.map((it) => it.join(''))];
    const listed = asPairs ? learned : learned.map((it) => it.join(' '));
    return { type: 'BPE', dropout: null, unk_token: null, ...options, vocab: vocabulary(tokens), merges: listed };
  };

/** The most frequent parts of pieces that `keep`s, with their counts, and all characters. */
function frequentParts(pieces: Map<string, number>, keep: (part: string, start: number) => string) {
  const counts = new Map<string, number>();
  for (const [piece, count] of pieces) {
    const characters = [...piece];
    for (let start = 0; start < characters.length; ++start) {
      for (let end = start + 1; end <= Math.min(characters.length, start + 8); ++end) {
        const part = keep(characters.slice(start, end).join(''), start);
        counts.set(part, (counts.get(part) ?? 0) + count);
      }
    }
  }
  const byCount = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  return byCount.filter(([part], k) => k < PIECES || [...part].length === 1);
}

const wordPiece: Model = (pieces, first) => {
  const parts = frequentParts(pieces, (part, start) => (start === 0 ? part : `##${part}`));
  const vocab = vocabulary([...first, ...parts.map(([part]) => part)]);
  return {
    type: 'WordPiece',
    unk_token: '[UNK]',
    continuing_subword_prefix: '##',
    max_input_chars_per_word: 50,
    vocab,
  };
};

const unigram: Model = (pieces, first) => {
  const parts = frequentParts(pieces, (part) => part).filter(([part]) => !part.slice(1).includes('▁'));
  const total = parts.reduce((sum, [part, count]) => sum + count / [...part].length ** 2, 0);
  // Sums of multiples of 1/1024 are exact: the peer, which does not cut at "▁", finds the same ties.
  const score = (part: string, count: number) => Math.log(count / [...part].length ** 2 / total);
  const vocab = parts.map(([part, count]) => [part, Math.round(1024 * score(part, count)) / 1024]);
  return { type: 'Unigram', unk_id: first.indexOf('<unk>'), vocab: [...first.map((it) => [it, 0]), ...vocab] };
};

export function tokenizerFile(stages: Stages, model: Record<string, unknown>, added: object[]) {
  const { normalizer = null, pre_tokenizer = null, post_processor = null } = stages;
  return { version: '1.0', added_tokens: added, normalizer, pre_tokenizer, post_processor, decoder: null, model };
}

/** A post-processor with the ids that its tokens have in the file. */
function withIds(stage: object | null, idOf: Map<string, number>): object | null {
  if (stage === null) return null;
  if ('processors' in stage) {
    return { ...stage, processors: (stage.processors as object[]).map((it) => withIds(it, idOf)) };
  }
  if ('special_tokens' in stage) {
    const names = Object.keys(stage.special_tokens as object);
    return {
      ...stage,
      special_tokens: Object.fromEntries(names.map((id) => [id, { id, ids: [idOf.get(id)], tokens: [id] }])),
    };
  }
  if (!('sep' in stage) || !('cls' in stage)) return stage;
  const pair = (token: unknown) => [token, idOf.get(String(token))];
  return { ...stage, sep: pair(stage.sep), cls: pair(stage.cls) };
}

function fixture(
  name: string,
  stages: Stages,
  model: Model,
  first: string[] = [],
  comparable: Fixture['comparable'] = null,
): Fixture {
  const made = model(piecesOf(stages), first);
  const ids = Array.isArray(made.vocab)
    ? Object.fromEntries(made.vocab.map(([token]: [string], id: number) => [token, id]))
    : (made.vocab as Record<string, number>);
  let next = Object.keys(ids).length;
  const flags = { single_word: false, lstrip: false, rstrip: false, normalized: false, special: true };
  const added = (stages.added ?? first.filter((it) => !it.startsWith('<0x')).map((content) => ({ content }))).map(
    (token) => ({ id: ids[token.content] ?? next++, ...flags, ...token }),
  );
  const idOf = new Map([...Object.entries(ids), ...added.map(({ content, id }) => [content, id] as const)]);
  const post_processor = withIds(stages.post_processor ?? null, idOf);
  return { name, file: tokenizerFile({ ...stages, post_processor }, made, added), comparable };
}

const sequence = (list: string, ...stages: object[]) => ({ type: 'Sequence', [list]: stages });
const template = (before: string[], after: string[]) => {
  const special = (id: string) => ({ SpecialToken: { id, type_id: 0 } });
  const single = [...before.map(special), { Sequence: { id: 'A', type_id: 0 } }, ...after.map(special)];
  const special_tokens = Object.fromEntries([...before, ...after].map((id) => [id, null]));
  return { type: 'TemplateProcessing', single, pair: [], special_tokens };
};
export const byteLevel = (use_regex: boolean, add_prefix_space = false) => ({
  type: 'ByteLevel',
  add_prefix_space,
  use_regex,
});
const splitAt = (Regex: string, invert = false) => ({
  type: 'Split',
  pattern: { Regex },
  behavior: invert ? 'Removed' : 'Isolated',
  invert,
});
const replace = (String: string, content: string) => ({ type: 'Replace', pattern: { String }, content });

/** The tokens of bytes, and those that begin a vocabulary of SentencePiece. */
const hex = (byte: number) => byte.toString(16).toUpperCase().padStart(2, '0');
const BYTES = [...Array(256).keys()].map((byte) => `<0x${hex(byte)}>`);
const PIECES_FIRST = ['<unk>', '<s>', '</s>', ...BYTES];
/** Characters of a byte-level vocabulary: printed bytes as themselves, the others from U+0100 on. */
const ALL_BYTES = [...Array(256).keys()];
const isPrinted = (byte: number) => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
const UNPRINTED = ALL_BYTES.filter((byte) => !isPrinted(byte));
const SYMBOLS = ALL_BYTES.map((byte) => String.fromCodePoint(isPrinted(byte) ? byte : 256 + UNPRINTED.indexOf(byte)));

/** JavaScript's \s lacks U+0085 and has U+FEFF. */
export const sameSpaces = (text: string) => !/[\u0085\ufeff]/u.test(text);
/** JavaScript lower-cases a final sigma as such; the peer sets no ideographs beyond the first plane apart. */
export const sameWords = (text: string) => sameSpaces(text) && !/[\u03a3\u{20000}-\u{3ffff}]/u.test(text);
/** The peer counts only ASCII digits. */
const sameDigits = (text: string) => sameSpaces(text) && !/(?![0-9])\p{N}/u.test(text);

/** What the peer does in place of reading a table, for every character and for letters with a mark. */
function characterMap() {
  const peer = new Tokenizer(
    tokenizerFile({ normalizer: { type: 'Precompiled' } }, { type: 'WordPiece', unk_token: '?', vocab: {} }, []),
    {},
  ).normalizer!;
  const map: Replacements = new Map();
  for (let c = 1; c < 0x110000; ++c) {
    const character = String.fromCodePoint(c);
    if (/\p{Cs}/u.test(character)) continue;
    if (peer(character) !== character) map.set(character, peer(character));
    const parts = character.normalize('NFD');
    if (c < 0x400 && [...parts].length === 2 && peer(parts) !== parts) map.set(parts, peer(parts));
  }
  return { table: compiled(map), comparable: (text: string) => replaced(map, 2, text) === peer(text) };
}

/** One file of each kind. Takes a few seconds. */
export function fixtures(): Fixture[] {
  const { table, comparable } = characterMap();
  const precompiled = { type: 'Precompiled', precompiled_charsmap: table };
  const metaspace = (prepend_scheme: string, split: boolean) => ({
    type: 'Metaspace',
    replacement: '▁',
    prepend_scheme,
    split,
  });
  const fallback = { unk_token: '<unk>', byte_fallback: true, fuse_unk: true };
  const bert = (lowercase: boolean) => ({
    type: 'BertNormalizer',
    clean_text: true,
    handle_chinese_chars: true,
    strip_accents: null,
    lowercase,
  });
  const bertStages = (lowercase: boolean) => ({
    normalizer: bert(lowercase),
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: template(['[CLS]'], ['[SEP]']),
  });
  const special = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'];
  return [
    fixture(
      'gpt2',
      { pre_tokenizer: byteLevel(true) },
      bytePairs({ type: undefined, unk_token: '', continuing_subword_prefix: '' }),
      [...SYMBOLS],
      sameSpaces,
    ),
    fixture(
      'roberta',
      {
        pre_tokenizer: byteLevel(true, true),
        post_processor: { type: 'RobertaProcessing', sep: '</s>', cls: '<s>' },
        added: [{ content: '<s>' }, { content: '</s>' }, { content: '<mask>', lstrip: true, rstrip: true }],
      },
      bytePairs({}),
      ['<s>', '<pad>', '</s>', ...SYMBOLS],
      sameSpaces,
    ),
    fixture(
      'llama3',
      {
        pre_tokenizer: sequence('pretokenizers', splitAt(LLAMA3), byteLevel(false)),
        post_processor: sequence('processors', byteLevel(true), template(['<|begin|>'], [])),
        added: [{ content: '<|begin|>' }, { content: '<|be' }],
      },
      bytePairs({ ignore_merges: true }),
      [...SYMBOLS],
    ),
    fixture(
      'qwen2',
      {
        normalizer: { type: 'NFC' },
        pre_tokenizer: sequence('pretokenizers', splitAt(LLAMA3.replace('{1,3}', '')), byteLevel(false)),
        post_processor: byteLevel(false),
        added: [
          { content: '<tool>', special: false },
          { content: 'Á!', special: false, normalized: true },
        ],
      },
      bytePairs({ continuing_subword_prefix: '', end_of_word_suffix: '' }, true),
      [...SYMBOLS],
    ),
    fixture(
      'gpt4o',
      { pre_tokenizer: sequence('pretokenizers', splitAt(GPT4O, true), byteLevel(false)) },
      bytePairs({}),
      [...SYMBOLS],
    ),
    fixture(
      'deepseek-v3',
      {
        normalizer: sequence('normalizers'),
        pre_tokenizer: sequence('pretokenizers', ...DEEPSEEK_V3.map((it) => splitAt(it)), byteLevel(false)),
        added: [{ content: '<|begin|>' }, { content: '<|be', special: false, normalized: true }],
      },
      bytePairs({}),
      [...SYMBOLS],
    ),
    fixture(
      'deepseek-llm',
      {
        pre_tokenizer: sequence(
          'pretokenizers',
          ...DEEPSEEK_LLM.map((it) => splitAt(it)),
          { type: 'Digits', individual_digits: true },
          byteLevel(false),
        ),
      },
      bytePairs({}),
      [...SYMBOLS],
      sameDigits,
    ),
    fixture(
      'clip',
      {
        normalizer: sequence(
          'normalizers',
          { type: 'NFC' },
          { type: 'Replace', pattern: { Regex: '\\s+' }, content: ' ' },
          { type: 'Lowercase' },
        ),
        pre_tokenizer: sequence('pretokenizers', splitAt(CLIP, true), byteLevel(true)),
        post_processor: { type: 'RobertaProcessing', sep: '<|end|>', cls: '<|start|>' },
        added: [{ content: '<|start|>' }, { content: '<|end|>' }],
      },
      bytePairs({ unk_token: '<|end|>', continuing_subword_prefix: '', end_of_word_suffix: '</w>' }),
      ['<|start|>', '<|end|>', ...SYMBOLS, ...SYMBOLS.map((it) => `${it}</w>`)],
      sameWords,
    ),
    fixture(
      'smollm',
      { pre_tokenizer: sequence('pretokenizers', { type: 'Digits', individual_digits: true }, byteLevel(true)) },
      bytePairs({}),
      [...SYMBOLS],
      sameDigits,
    ),
    fixture(
      'llama2',
      {
        normalizer: sequence('normalizers', { type: 'Prepend', prepend: '▁' }, replace(' ', '▁')),
        post_processor: template(['<s>'], []),
      },
      bytePairs(fallback),
      PIECES_FIRST,
    ),
    fixture(
      'mistral',
      { pre_tokenizer: metaspace('first', false), post_processor: template(['<s>'], []) },
      bytePairs(fallback),
      PIECES_FIRST,
    ),
    fixture(
      'gemma',
      {
        normalizer: replace(' ', '▁'),
        pre_tokenizer: { type: 'Split', pattern: { String: ' ' }, behavior: 'MergedWithPrevious', invert: false },
        post_processor: template(['<s>'], []),
      },
      bytePairs(fallback, true),
      PIECES_FIRST,
    ),
    fixture(
      'xlm-roberta',
      {
        normalizer: precompiled,
        pre_tokenizer: sequence('pretokenizers', { type: 'WhitespaceSplit' }, metaspace('always', true)),
        post_processor: template(['<s>'], ['</s>']),
      },
      unigram,
      ['<s>', '<pad>', '</s>', '<unk>'],
      (text) => sameSpaces(text) && comparable(text),
    ),
    fixture(
      'albert',
      {
        normalizer: sequence(
          'normalizers',
          replace('``', '"'),
          replace("''", '"'),
          { type: 'NFKD' },
          { type: 'StripAccents' },
          { type: 'Lowercase' },
          { type: 'Replace', pattern: { Regex: ' {2,}' }, content: ' ' },
        ),
        pre_tokenizer: metaspace('always', true),
        post_processor: { type: 'BertProcessing', sep: '[SEP]', cls: '[CLS]' },
      },
      unigram,
      ['<pad>', '<unk>', '[CLS]', '[SEP]'],
      sameWords,
    ),
    fixture('bert', bertStages(true), wordPiece, special, sameWords),
    fixture('bert-cased', bertStages(false), wordPiece, special, sameWords),
  ];
}
