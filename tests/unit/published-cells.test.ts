// Published experiments on the page: cells as training runs, and what their figures draw.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, onTestFinished } from 'vitest';
import type { Output, Training } from '../../web/engine/protocol';
import operations from '../../web/generated/operations.json';
import { run, temporaryFolder } from '../cli/eigenscope';
import { RunComparison } from '../../web/chapters/train/runs/comparison';
import { deviationPaths, pathName, verdictsText } from '../../web/chapters/train/equal-deviation/words';
import { escapesOf, pairedText, thresholdOf } from '../../web/chapters/train/escape/words';
import {
  freezingOf,
  mapCellsOf,
  medianOf,
  panelsOf,
  placeAmong,
  predictionsOf,
  valuesOf,
} from '../../web/chapters/train/trainability/words';
import { isOf, loggedRows, partsOf, plateausOf, plateausTrained } from '../../web/chapters/train/plateaus/words';
import { flatText } from '../../web/chapters/train/trainability/words';
import {
  cellOf,
  choicesOf,
  keyOf,
  seedsOf,
  stateOfTraining,
  trainingOfCell,
} from '../../web/chapters/train/experiments/cells';
import { DRIVERS, resultsOf, type PublishedCell } from '../../web/chapters/train/experiments/results';
import { meansText } from '../../web/chapters/train/experiments/rows';
import { ratesOf } from '../../web/chapters/train/rates/words';
import {
  cutOf,
  strengthName,
  strengthPlaces,
  strengthPoints,
  strengthsOf,
  strengthsTrained,
  strengthText,
} from '../../web/chapters/train/strength/words';
import { Trials, type CellTrial } from '../../web/chapters/train/experiments/cells';
import { runsOf, trainingOf, trainView } from '../../web/chapters/train/state';

const folder = new URL('../../web/results/experiments/', import.meta.url);
const plans = new URL('../../docs/experiments/', import.meta.url);
const read = (name: string, place: URL) => JSON.parse(readFileSync(new URL(name, place), 'utf8'));
const ENDING = '.results.json';
const names = readdirSync(folder)
  .filter((name) => name.endsWith(ENDING))
  .map((name) => name.slice(0, -ENDING.length))
  .concat('causes/equal-deviation', 'causes/early-warning-ramp');
const files = new Map(
  names.map((name) => [
    name,
    resultsOf({ ...read(`${name}${ENDING}`, folder), grid: read(`${name}.grid.json`, plans) }),
  ]),
);
const published = (name: string) => files.get(name)!;

describe.each(names)('the cells of %s', (name) => {
  const results = published(name);

  test('are training runs with the settings that the command line says', () => {
    const out = temporaryFolder(onTestFinished);
    const short = { steps: 1, log_every: 1, eval_batches: 1, measure_batches: 1 };
    const settings = { ...results.grid.settings, ...short };
    // A run of one step has no later fault.
    const axes = JSON.parse(JSON.stringify(results.grid.axes).replace(/"fault_step":\d+/g, '"fault_step":0'));
    const grid = { ...results.grid, axes, settings, text: join(out, 'text.txt') };
    writeFileSync(grid.text, 'it was the best of times, it was the worst of times, '.repeat(200));
    const file = join(out, 'short.grid.json');
    writeFileSync(file, JSON.stringify({ ...grid, stages: [{ seeds: 1 }] }));
    const combinations = new Set(results.cells.map(({ axes }) => JSON.stringify(axes))).size;
    const shard = `1/${Math.ceil(combinations / 8)}`;
    expect(run('train', { grid: file, out: join(out, 'cells'), shard }).status).toBe(0);
    const { more: _, ...defaults } = operations.train.defaults; // steps of a piece, no setting
    const { tokenizer, min_count } = grid;
    const given = { ...(tokenizer && { tokenizer }), ...(min_count && { min_count }) };
    const ran = readdirSync(join(out, 'cells')).map((cell) =>
      JSON.parse(readFileSync(join(out, 'cells', cell), 'utf8')),
    );
    expect(ran.length).toBeGreaterThan(4);
    for (const { axes, seed, settings } of ran) {
      const own = trainingOfCell({ ...results, grid }, { axes, seed });
      expect(own).toEqual({ ...defaults, ...given, ...settings, seed });
    }
  });

  test('set the controls of the page to themselves', () => {
    for (const choice of choicesOf(results)) {
      const training = trainingOfCell(results, choice);
      const state = { ...trainView.defaults, ...stateOfTraining(training) };
      expect(runsOf(state)).toEqual([training.regularizer]);
      expect(keyOf(trainingOf(state, training.regularizer))).toBe(keyOf(training));
    }
  });

  test('are among the choices, those of the plan that are missing too', () => {
    const ids = new Set(
      choicesOf(results).map(({ axes, seed }) =>
        [...Object.entries(axes), ['seed', seed]].map(([axis, it]) => `${axis}=${it}`).join(),
      ),
    );
    const idOf = ({ axes, seed }: PublishedCell) =>
      [...Object.entries(axes), ['seed', seed]].map((it) => it.join('=')).join();
    const planned = [...results.cells.map(idOf), ...results.missing];
    expect(planned.filter((id) => !ids.has(id))).toEqual([]);
    for (const cell of results.cells) expect(cellOf(results, cell)).toBe(cell);
  });
});

test('methods have a point at each learning rate with a run, and the others are named', () => {
  const results = published('learning-rate');
  const points = ratesOf(results);
  const [method, [point]] = [...points].find(([name]) => name === 'none')!;
  const own = results.cells.filter(({ axes }) => axes.method === method && Number(axes.learning_rate) === point.rate);
  const losses = own.map(({ final }) => final.bits_per_byte!);
  const mean = losses.reduce((a, b) => a + b) / losses.length;
  expect(point.runs).toBe(losses.length);
  expect(point.loss.mean).toBeCloseTo(mean, 6);
  expect([...points].flatMap(([, all]) => all)).toHaveLength(results.summary.length);
});

test('the caption of the strengths names a regularizer that is better', () => {
  const points = strengthPoints(published('paper-setting')).map((point) =>
    point.method === 'frobenius-1' && point.biases === 'with'
      ? { ...point, perplexity: { ...point.perplexity, mean: 50, p: 0.01 } }
      : point,
  );
  const text = strengthText(points);
  expect(/significantly lower: (.+?)\./.exec(text)![1]).toBe('LocAteR, Frobenius, 1');
  expect(text).toContain('lowest with a regularizer 50.0, LocAteR, Frobenius, 1');
});

test('captions say of how many runs the points are means, those that failed left out', () => {
  expect(meansText([{ runs: 4, failures: 0 }])).toBe('Each point is a mean of 4 runs.');
  const unequal = [
    { runs: 8, failures: 0 },
    { runs: 4, failures: 1 },
  ];
  expect(meansText(unequal)).toBe('Each point is a mean of 3 to 8 runs.');
});

test('shares of escaped runs count the cells below the threshold', () => {
  const results = published('rank-escape');
  const points = escapesOf(results);
  const sum = (name: 'runs' | 'below') => points.reduce((so, point) => so + point[name], 0);
  expect(sum('runs')).toBe(results.cells.length);
  expect(sum('below')).toBe(results.cells.filter(({ final }) => final.bits_per_byte! < thresholdOf(results)).length);
});

test('the caption of the escapes names the paired tests that hold after the correction', () => {
  const points = escapesOf(published('rank-escape'));
  const tested = points.filter(({ p }) => p !== null);
  const among = (p: (at: number) => number) =>
    pairedText(points.map((it) => (it.p === null ? it : { ...it, p: p(tested.indexOf(it)) })));
  expect(among(() => 0.9)).toMatch(new RegExp(`^Of ${tested.length} paired tests.*: none\\.$`));
  const one = among((at) => (at === 2 ? 0.04 : 0.06));
  const { depth, scale, alpha } = tested[2]!;
  const named = [...one.matchAll(/depth.(\d+), s.=.(\d), α = (\S+) \(/g)].map((it) => it.slice(1));
  expect(named).toEqual([[String(depth), String(scale), String(alpha).replace('-', '−')]]);
});

test.each(['learning-rate', 'rank-escape'])('plateaus of %s are those of its analysis', (name) => {
  const results = published(name);
  const runs = plateausOf(results);
  const parts = partsOf(results);
  for (const run of runs) expect(parts.filter((part) => isOf(part, run))).toHaveLength(1);
  for (const part of parts) {
    const own = runs.filter((run) => isOf(part, run));
    for (const row of part.correlations) {
      expect(row.runs).toBe(own.length);
      expect(row.never).toBe(own.filter(({ step }) => step === null).length);
    }
    expect(part.relation.runs).toBe(own.length);
  }
  const depths = parts.map(({ axes }) => Number(axes.depth));
  if (parts.length > 1) expect(depths).toEqual([...depths].sort((a, b) => a - b));
  expect(loggedRows(results)).toHaveLength(results.cells.length * results.steps.length);
});

test('the map has a panel for every norm and depth, with the loss and measures of its cells', () => {
  const results = published('trainability-map');
  const cells = mapCellsOf(results);
  expect(panelsOf(cells)).toHaveLength(4);
  const cell = cells[5]!;
  const runs = results.cells.filter(({ axes }) => JSON.stringify(axes) === JSON.stringify(cell.axes));
  expect(runs.length).toBeGreaterThan(1);
  expect(cells.reduce((sum, it) => sum + it.runs, 0)).toBe(results.cells.length);
  const mean = (values: (number | null | undefined)[]) =>
    values.reduce<number>((sum, it) => sum + it!, 0) / values.length;
  expect(cell.loss).toBeCloseTo(mean(runs.map(({ final }) => final.bits_per_byte)), 12);
  expect(cell.variance).toBeCloseTo(mean(runs.map(({ initial }) => initial.variance)), 12);
  expect(medianOf([4, 1, 3])).toBe(3);
  expect(medianOf([4, 1, 3, 2])).toBe(2.5);
});

test('the table of predictors says in which panels the losses hardly differ, and by how much', () => {
  const cells = mapCellsOf(published('trainability-map'));
  for (const panel of panelsOf(cells)) {
    const losses = cells.filter((cell) => cell.panel === panel).map(({ loss }) => loss);
    const range = Math.max(...losses) - Math.min(...losses);
    const said = flatText(panel, cells);
    expect(said !== '', panel).toBe(panel === 'post-norm, depth 6');
    if (!said) expect(range).toBeGreaterThan(0.1);
    else expect(Number(/at most (\S+) bits/.exec(said)![1])).toBeCloseTo(range, 5);
  }
});

test('the freezing line of each panel lies among the cells, and is named among the predictions', () => {
  const results = published('trainability-map');
  const scales = valuesOf(results, 'init_scale');
  const lines = freezingOf(results);
  expect([...lines.keys()].sort()).toEqual(panelsOf(mapCellsOf(results)));
  for (const line of lines.values()) {
    expect(line.map(({ alpha }) => alpha)).toEqual(valuesOf(results, 'alpha'));
    for (const { init_scale } of line) {
      const at = placeAmong(scales, init_scale);
      expect(scales[Math.floor(at)]).toBeLessThan(init_scale);
      expect(scales[Math.ceil(at)]).toBeGreaterThan(init_scale);
    }
  }
  expect(placeAmong([1, 4, 400], 2)).toBeCloseTo(0.5, 12);
  expect(placeAmong([1, 4, 400], 40)).toBeCloseTo(1.5, 12);
  expect(placeAmong([1, 4], 8)).toBeCloseTo(1.5, 12);
  const named = predictionsOf(results).filter(({ predictor }) => predictor === 'freezing');
  expect(named).toHaveLength(lines.size);
});

/** A published run as it would come from this tab: with the loss of its end and where it left the plateau. */
function trialOf(experiment: string, index: number): CellTrial {
  const results = published(experiment);
  const { axes, seed, final, below, curve } = results.cells[index]!;
  const choice = { axes, seed };
  const rows = [0, ...results.steps].map((step, i) => {
    const left = Object.entries(below).filter(([, at]) => at !== null && step >= at);
    const loss = Math.min(99, ...left.map(([level]) => Number(level) - 0.01));
    const drivers = DRIVERS.map((name) => [name, curve[name]?.[i - 1] ?? NaN]);
    return { step, value: { bits_per_byte: loss, ...Object.fromEntries(drivers) }, heads: [] };
  }) as unknown as CellTrial['rows'];
  const last = { ...rows.at(-1)!.value, ...final } as CellTrial['final'];
  return { choice, training: trainingOfCell(results, choice), rows, final: last };
}

test.each(['learning-rate', 'rank-escape'])('a run of this tab has the plateau of the published run of %s', (name) => {
  const results = published(name);
  const runs = plateausOf(results);
  expect(runs).toHaveLength(results.cells.length); // none failed, so that places agree
  for (const at of [0, 7, runs.length - 1]) {
    expect(plateausTrained(results, [trialOf(name, at)])).toEqual([runs[at]]);
  }
});

test('baselines trained in this tab have a place beside the strengths', () => {
  const results = published('paper-setting');
  const at = results.cells.findIndex(({ axes }) => axes.method === 'none');
  const trial = trialOf('paper-setting', at);
  const [point] = strengthsTrained(results, [trial], 'perplexity');
  expect(point).toEqual({
    biases: trial.choice.axes.query_key_bias,
    strength: null,
    value: results.cells[at]!.final.perplexity,
  });
  const places = strengthPlaces(strengthsOf(results));
  expect(places.of(point!.strength)).toBeLessThan(Math.min(...places.strengths));
  expect(places.of(1)).toBe(1);
});

test('a panel compares with one baseline, and with the models without attention beside it', () => {
  const points = strengthPoints(published('paper-setting'));
  for (const biases of ['with', 'without']) {
    const compared = points.filter((it) => it.biases === biases && it.strength === null);
    expect(compared.map(({ method, form }) => [method, form])).toEqual([
      ['none', 'none'],
      ['no-attention', 'no-attention'],
    ]);
    expect(compared.map(strengthName)).toEqual(['baseline', 'no attention']);
  }
});

test('a perplexity that ran away does not set the axis of the others', () => {
  const points = strengthPoints(published('paper-setting'));
  const cut = cutOf(points, 'perplexity');
  const [beyond, below] = [true, false].map((is) => points.filter(({ perplexity }) => perplexity.mean > cut === is));
  expect(new Set(beyond!.map(({ form }) => form))).toEqual(new Set(['locater']));
  for (const { form, perplexity } of below!) {
    expect(form).not.toBe('locater');
    expect(perplexity.mean).toBeLessThan(1.1 * points[0]!.perplexity.mean);
  }
  expect(cutOf(points, 'entropy')).toBe(Infinity);
});

describe('runs of this tab', () => {
  const training = {
    ...trainingOfCell(published('rank-escape'), { axes: { depth: '8', init_scale: '2', alpha: '1' }, seed: 1 }),
  };
  const book = new Uint8Array([1]);
  const other = new Uint8Array([2]);
  /** An engine that ends any run at once, with one row whose values are 3. */
  const engine = async (input: Training): Promise<Output<'train'>> => {
    const one = () => new Float64Array([3]);
    const any = new Proxy({}, { get: one });
    return {
      step: input.steps,
      failure: '',
      checkpoint: new Uint8Array(1),
      config: '',
      rows: { step: new Float64Array([input.steps]), run: any, heads: any, layers: any },
    } as unknown as Output<'train'>;
  };
  async function trained(text: Uint8Array): Promise<Trials> {
    const comparison = new RunComparison(engine, async () => text);
    const trials = new Trials(
      comparison,
      () => true,
      async (asked) => {
        comparison.reset();
        comparison.configure([asked]);
        await comparison.play();
        return book;
      },
    );
    trials.train(training);
    await expect.poll(() => comparison.done).toBe(true);
    await new Promise((done) => setTimeout(done));
    return trials;
  }

  test('join an experiment where settings, seed and text are those of a cell', async () => {
    const trials = await trained(book);
    const results = published('rank-escape');
    const [trial, ...others] = trials.ofExperiment(results);
    expect(others).toEqual([]);
    expect(trial!.choice.seed).toBe(1);
    expect(trial!.final.bits_per_byte).toBe(3);
    expect(trials.ofExperiment(published('learning-rate'))).toEqual([]);
  });

  test('do not join after another text', async () => {
    const trials = await trained(other);
    expect(trials.ofExperiment(published('rank-escape'))).toEqual([]);
  });

  test('ask before they replace runs that have begun and are no trials', async () => {
    const comparison = new RunComparison(engine, async () => book);
    comparison.configure([{ ...training, steps: training.steps + 1 }]);
    await comparison.play();
    const asked: number[] = [];
    const started: number[] = [];
    const trials = new Trials(
      comparison,
      (_, lost) => asked.push(lost.length) > 1,
      async ({ steps }) => {
        started.push(steps);
        comparison.reset();
        comparison.configure([training]);
        await comparison.play();
        return book;
      },
    );
    trials.train(training);
    expect([asked, started]).toEqual([[1], []]);
    trials.train(training);
    await expect.poll(() => trials.find(training)).toBeDefined();
    trials.train(training);
    expect([asked, started]).toEqual([
      [1, 1, 0],
      [training.steps, training.steps],
    ]);
  });

  test('say what is wrong where the text does not come', async () => {
    const comparison = new RunComparison(engine, async () => book);
    const told: string[] = [];
    comparison.changed.subscribe(({ error }) => error && told.push(error.message));
    const trials = new Trials(
      comparison,
      () => true,
      async () => {
        throw new Error('no book');
      },
    );
    trials.train(training);
    await expect.poll(() => told).toEqual(['no book']);
  });
});

test('paths at equal deviation begin with the baseline, and their points are those of the results', () => {
  const results = published('causes/equal-deviation');
  const paths = deviationPaths(results);
  const named = [...paths.keys()].map(pathName);
  expect(new Set(named).size).toBe(named.length);
  for (const [path, points] of paths) {
    expect(points[0]).toMatchObject({ method: 'none', deviation: 1, cost: 0 });
    expect(points.length).toBeGreaterThan(1);
    for (const point of points.slice(1)) {
      expect(point.method.startsWith(path)).toBe(true);
      const runs = results.cells.filter(({ axes, failure }) => axes.method === point.method && !failure);
      const baselines = results.cells.filter(
        ({ axes, seed }) => axes.method === 'none' && runs.some((run) => run.seed === seed),
      );
      const mean = (cells: typeof runs) => cells.reduce((sum, { final }) => sum + final.loss!, 0) / cells.length;
      if (baselines.length === runs.length) expect(point.cost).toBeCloseTo(mean(runs) - mean(baselines), 5);
    }
  }
  expect(verdictsText(results)).toMatch(/^Hypotheses of the plan: bounded: (confirmed|refuted|open); /);
});

test('seeds of an experiment are those of its stages', () => {
  expect(seedsOf(published('causes/equal-deviation'))).toEqual([201, 202, 203, 204, 205, 206, 207, 208]);
  expect(seedsOf(published('rank-escape'))[0]).toBe(1);
});
