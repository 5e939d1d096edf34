import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Output, RunRows, Training, TrainingPiece } from '../../web/engine/protocol';
import { RunComparison } from '../../web/chapters/train/runs/comparison';
import {
  joined,
  LOGIT_PARTS,
  momentOf,
  MOST_ROWS,
  referencesOf,
  type Row,
  rowsOf,
  upTo,
} from '../../web/chapters/train/runs/log';
import { referencesText } from '../../web/chapters/train/experiments/panels';
import { NetworkError } from '../../web/engine/shipped';
import type { Train } from '../../web/chapters/train/runs/run';
import { trainingOf, trainView, type State } from '../../web/chapters/train/state';

const state = { ...trainView.defaults, steps: 40, log_every: 10, width: 16, heads: 2 };
const settings = (...kinds: Training['regularizer'][]) => kinds.map((kind) => trainingOf(state, kind));

/** A log of these steps, with two layers of two heads. */
function logOf(steps: number[]): RunRows {
  const fill = (value: number, width = 1) => new Float64Array(steps.length * width).fill(value);
  const heads = (value: number) => fill(value, 4);
  // The measures that the page reads; the engine has more.
  const run: Partial<RunRows['run']> = {
    train_loss: fill(2),
    loss: fill(2),
    bits_per_byte: fill(3),
    unigram_loss: fill(3),
    bigram_loss: fill(2.5),
    trigram_loss: fill(1.5),
    perplexity: fill(7),
    gradient_query_key: fill(0.01),
    gradient_norm: fill(0.5),
  };
  const layers: Partial<RunRows['layers']> = { residual: fill(0.5, 2) };
  const measured: Partial<RunRows['heads']> = {
    mean: heads(0.5),
    variance: heads(0.1),
    variance_modulus: heads(0.2),
    variance_frobenius: heads(0.3),
    eta_f: heads(32),
    localization: heads(NaN),
    entropy: heads(0.9),
    entropy_bound: heads(0.1),
    sensitivity: heads(0.2),
    self_mass: heads(0.3),
    self_reference: heads(0.25),
    logit_variance: heads(2),
    content_content: heads(1),
    content_position: heads(-0.5),
    position_position: heads(0.5),
    bias_part: heads(0.75),
    sink_part: heads(0.25),
    ...Object.fromEntries(
      [
        'self_excess',
        'spread',
        'sigma_max',
        'largest_logit',
        'sink',
        'stable_rank',
        'update_entropy',
        'update_ratio',
      ].map((name) => [name, Float64Array.from({ length: steps.length * 4 }, (_, i) => (i % 4 === 3 ? NaN : i % 4))]),
    ),
  };
  return { step: Float64Array.from(steps), run, layers, heads: measured } as RunRows;
}

const checkpointOf = (step: number) => new TextEncoder().encode(String(step));
const stepOf = (checkpoint: Uint8Array | null) => Number(new TextDecoder().decode(checkpoint ?? checkpointOf(0)));

/** An engine that counts steps; the checkpoint is its step. `breaks` is where a run fails. */
function engine(breaks: Partial<Record<string, number>> = {}) {
  const asked: TrainingPiece[] = [];
  let open: () => void = () => {};
  let gate: Promise<void> | null = null;
  const train: Train = async (input, { signal, onPartial }) => {
    asked.push(input);
    await gate;
    signal.throwIfAborted();
    const from = stepOf(input.checkpoint);
    const broken = breaks[input.regularizer];
    const wanted = Math.min(from + input.more, input.steps);
    const step = broken !== undefined ? Math.min(wanted, broken) : wanted;
    const all = Array.from({ length: step - from + 1 }, (_, i) => from + i);
    const logged = all.filter((it) => it % input.log_every === 0 && (it > from || it === 0));
    const output: Output<'train'> = {
      step,
      steps: input.steps,
      layers: 2,
      heads: 2,
      rows: logOf(logged),
      ...{ settings: input, config: `config of step ${step}`, validation: '' },
      failure: step === broken ? `step ${step}: the loss is not a finite number` : '',
      checkpoint: checkpointOf(step),
    };
    onPartial({ ...output, checkpoint: null });
    return output;
  };
  const close = () => (gate = new Promise((resolve) => (open = resolve)));
  return { asked, train, close, open: () => ((gate = null), open()) };
}

const text = () => Promise.resolve(Uint8Array.of(1, 2, 3));
const steps = (rows: Row[]) => rows.map(({ step }) => step);

/** An error of a host that cannot be reached. */
const unreachable = () => new NetworkError({ url: 'train.wasm', name: 'engine', bytes: 1, crc32: 0 }, 'offline');

describe('a comparison without a connection', () => {
  /** What happens when the connection returns. */
  const online = new Set<() => void>();
  beforeEach(() => {
    vi.useFakeTimers();
    online.clear();
    vi.stubGlobal('navigator', { onLine: false });
    vi.stubGlobal('addEventListener', (_: string, it: () => void) => online.add(it));
    vi.stubGlobal('removeEventListener', (_: string, it: () => void) => online.delete(it));
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });
  const connect = () => [...online].forEach((it) => it());

  test.each([
    ['the engine', 'engine'],
    ['the text', 'text'],
  ])('that lacks %s plays when it returns, without another click', async (_, missing) => {
    const { train } = engine();
    let connected = false;
    const comparison = new RunComparison(
      (input, options) => (missing === 'engine' && !connected ? Promise.reject(unreachable()) : train(input, options)),
      () => (missing === 'text' && !connected ? Promise.reject(unreachable()) : text()),
    );
    comparison.configure(settings('none', 'locater'));
    const problems: string[] = [];
    comparison.changed.subscribe(({ error }) => error && problems.push(error.message));
    void comparison.play();
    await vi.advanceTimersByTimeAsync(100);
    expect(problems[0]).toContain('offline');
    expect(comparison.waiting).toBe(true);
    connected = true;
    connect();
    await vi.advanceTimersByTimeAsync(100);
    expect(comparison.runs.map(({ step }) => step)).toEqual([40, 40]);
    expect(comparison.waiting).toBe(false);
  });

  test('rests when it was paused meanwhile', async () => {
    const train = vi.fn(() => Promise.reject(unreachable()));
    const comparison = new RunComparison(train, text);
    comparison.configure(settings('none'));
    void comparison.play();
    await vi.advanceTimersByTimeAsync(100);
    comparison.pause();
    connect();
    await vi.advanceTimersByTimeAsync(100);
    expect(train).toHaveBeenCalledTimes(1);
    expect(comparison.playing).toBe(false);
  });

  test('asks again with growing delays where no event tells of the connection', async () => {
    const train = vi.fn(() => Promise.reject(unreachable()));
    const comparison = new RunComparison(train, text);
    comparison.configure(settings('none'));
    void comparison.play();
    await vi.advanceTimersByTimeAsync(15_000);
    expect(train).toHaveBeenCalledTimes(4); // at 0, 2, 6 and 14 s
  });
});

describe('a comparison', () => {
  test('plays every run to its end, in pieces that go on from the last checkpoint', async () => {
    const { asked, train } = engine();
    const comparison = new RunComparison(train, text);
    comparison.configure(settings('none', 'locater'));
    await comparison.play();
    for (const run of comparison.runs) {
      expect(run.step).toBe(40);
      expect(run.done).toBe(true);
      expect(steps(run.rows)).toEqual([0, 10, 20, 30, 40]);
      const own = asked.filter(({ regularizer }) => regularizer === run.kind);
      expect(own.length).toBeGreaterThan(1);
      const froms = own.map(({ checkpoint }) => stepOf(checkpoint));
      own.slice(1).forEach((_, i) => expect(froms[i + 1]).toBe(froms[i] + own[i].more));
    }
    expect(comparison.playing).toBe(false);
    expect(new Set(asked.map(({ seed }) => seed)).size).toBe(1);
  });

  test('a step goes to the next row of the log, and no further', async () => {
    const comparison = new RunComparison(engine().train, text);
    comparison.configure(settings('none', 'qk-decay'));
    await comparison.advance();
    expect(comparison.runs.map(({ step }) => step)).toEqual([10, 10]);
    expect(comparison.playing).toBe(false);
    await comparison.advance();
    expect(comparison.runs.map(({ step }) => step)).toEqual([20, 20]);
  });

  test('a pause lets the piece under way end and asks for no other', async () => {
    const { asked, train, close, open } = engine();
    const comparison = new RunComparison(train, text);
    comparison.configure(settings('none', 'locater'));
    close();
    const played = comparison.play();
    await vi.waitFor(() => expect(asked).toHaveLength(2)); // one of each run
    comparison.pause();
    open();
    await played;
    expect(asked).toHaveLength(2);
    expect(comparison.runs.map(({ step, busy }) => ({ step, busy }))).toEqual(
      asked.map(({ more }) => ({ step: more, busy: false })),
    );
    expect(comparison.runs.every(({ step }) => step < 40)).toBe(true);
    await comparison.play();
    expect(comparison.runs.map(({ step }) => step)).toEqual([40, 40]);
  });

  test('a fault is injected at the step of the next piece, and stays that of the run', async () => {
    const { asked, train, close, open } = engine();
    const comparison = new RunComparison(train, text);
    comparison.configure(settings('none', 'locater'));
    close();
    const played = comparison.play();
    await vi.waitFor(() => expect(asked).toHaveLength(2));
    const [run, other] = comparison.runs;
    run.injected = { fault: 'learning-rate', fault_size: 32, fault_steps: 0, fault_step: null };
    open();
    await played;
    const ofRun = asked.filter(({ regularizer }) => regularizer === 'none');
    expect(ofRun.length).toBeGreaterThan(2);
    expect(ofRun[0].fault).toBe('none'); // under way when the fault came
    for (const piece of ofRun.slice(1)) {
      expect(piece).toMatchObject({ fault: 'learning-rate', fault_step: ofRun[0].more, fault_size: 32 });
    }
    expect(run.injected.fault_step).toBe(ofRun[0].more);
    expect(asked.filter(({ regularizer }) => regularizer === 'locater').every(({ fault }) => fault === 'none')).toBe(
      true,
    );
    expect([other.injected, comparison.stale]).toEqual([null, false]);
  });

  test('a reset lets everything go, and takes the settings of the controls', async () => {
    const { train, close, open } = engine();
    const comparison = new RunComparison(train, text);
    comparison.configure(settings('none', 'locater'));
    await comparison.advance();
    comparison.configure(settings('none', 'locater').map((it) => ({ ...it, seed: 9 })));
    expect(comparison.stale).toBe(true);
    expect(comparison.runs[0].training.seed).toBe(1);
    close();
    const played = comparison.play();
    comparison.reset();
    open();
    await played;
    expect(comparison.stale).toBe(false);
    expect(comparison.begun).toBe(false);
    expect(comparison.runs.map((run) => [run.step, run.training.seed, run.rows.length])).toEqual([
      [0, 9, 0],
      [0, 9, 0],
    ]);
  });

  test('a run that joins has the settings of the comparison, and one that comes back has its steps', async () => {
    const comparison = new RunComparison(engine().train, text);
    comparison.configure(settings('none', 'locater'));
    await comparison.advance();
    const [first] = comparison.runs;
    comparison.configure(settings('none', 'sigma-reparam').map((it) => ({ ...it, batch: 2 })));
    expect(comparison.runs[0]).toBe(first);
    expect(comparison.runs[1].training).toEqual({ ...first.training, regularizer: 'sigma-reparam' });
    const [, joined] = comparison.runs;
    comparison.configure(settings('locater', 'sigma-reparam'));
    expect(comparison.runs[0]).not.toBe(first);
    expect(comparison.runs[1]).toBe(joined);
    expect(comparison.runs.map(({ step }) => step)).toEqual([10, 0]);
    comparison.reset();
    comparison.configure(settings('none'));
    expect(comparison.runs.map(({ step }) => step)).toEqual([0]);
  });

  test('a run that is taken out rests after its piece, and a comparison of fresh runs keeps it', async () => {
    const { asked, train, close, open } = engine();
    const comparison = new RunComparison(train, text);
    comparison.configure(settings('none'));
    close();
    const played = comparison.play();
    await vi.waitFor(() => expect(asked).toHaveLength(1));
    comparison.configure(settings('locater'));
    comparison.pause();
    open();
    await played;
    comparison.configure(settings('locater').map((it) => ({ ...it, batch: 2 })));
    comparison.configure(settings('none', 'locater'));
    expect(comparison.runs.map(({ step }) => step)).toEqual([asked[0].more, 0]);
  });

  test('leaving loses runs that are not over and whose steps no file has', async () => {
    const comparison = new RunComparison(engine().train, text);
    comparison.configure(settings('none', 'locater'));
    expect(comparison.losable).toBe(false);
    await comparison.advance();
    expect(comparison.losable).toBe(true);
    for (const run of comparison.runs) run.filed = run.saved;
    expect(comparison.losable).toBe(false);
    await comparison.advance();
    comparison.configure(settings('sigma-reparam'));
    expect(comparison.losable).toBe(true);
    comparison.configure(settings('none', 'locater'));
    const played = comparison.play();
    expect(comparison.losable).toBe(true);
    await played;
    expect(comparison.losable).toBe(false);
  });

  test('a run that breaks keeps its curve and its last good checkpoint; the others go on', async () => {
    const comparison = new RunComparison(engine({ locater: 25 }).train, text);
    comparison.configure(settings('none', 'locater'));
    await comparison.play();
    const [good, broken] = comparison.runs;
    expect(good.step).toBe(40);
    expect(broken.failure).toMatch(/^step 25/);
    expect(steps(broken.rows)).toEqual([0, 10, 20]);
    expect(stepOf(broken.checkpoint)).toBeLessThan(25);
    expect(broken.saved).toBe(stepOf(broken.checkpoint));
    expect(broken.config).toBe(`config of step ${broken.saved}`);
    expect(comparison.done).toBe(true);
  });

  test('a refused setting stops the comparison and is told, and mending it needs no reset', async () => {
    const refused = new Error('heads must divide the width: width 64, heads 3');
    const comparison = new RunComparison(() => Promise.reject(refused), text);
    comparison.configure(settings('none', 'locater'));
    const errors: (Error | undefined)[] = [];
    comparison.changed.subscribe(({ error }) => error && errors.push(error));
    await comparison.play();
    expect(errors[0]).toBe(refused);
    expect(comparison.playing).toBe(false);
    expect(comparison.begun).toBe(false);
    comparison.configure(settings('none', 'locater').map((it) => ({ ...it, batch: 2 })));
    expect(comparison.stale).toBe(false);
  });

  test('a text that does not come is told, and asked for again', async () => {
    let calls = 0;
    const comparison = new RunComparison(engine().train, () =>
      calls++ === 0 ? Promise.reject(new Error('no text')) : text(),
    );
    comparison.configure(settings('none', 'locater'));
    const errors: string[] = [];
    comparison.changed.subscribe(({ error }) => error && errors.push(error.message));
    await comparison.advance();
    expect(errors).toEqual(['no text']);
    await comparison.advance();
    expect(comparison.runs[0].step).toBe(10);
  });

  test('a checkpoint takes the place of the run of its kind and goes on at its step', async () => {
    const comparison = new RunComparison(engine().train, text);
    comparison.configure(settings('none', 'locater'));
    const [, training] = settings('none', 'locater');
    comparison.resume({ training, step: 30, checkpoint: checkpointOf(30), config: 'its own' });
    expect(comparison.find('locater')?.step).toBe(30);
    expect(comparison.find('locater')?.config).toBe('its own');
    await comparison.play();
    expect(steps(comparison.runs[1].rows)).toEqual([40]);
    expect(steps(comparison.runs[0].rows)).toEqual([0, 10, 20, 30, 40]);
  });
});

test('what a comparison keeps grows with its models, not with its steps', async () => {
  const [training] = settings('none');
  const last = 3 * MOST_ROWS;
  const long = { ...training, steps: last, log_every: 1 };
  const comparison = new RunComparison(engine().train, text);
  comparison.configure([long, { ...long, regularizer: 'locater' }]);
  let most = 0;
  comparison.changed.subscribe(() => (most = Math.max(most, ...comparison.runs.map(({ rows }) => rows.length))));
  await comparison.play();
  for (const { step, rows } of comparison.runs) {
    expect(step).toBe(last);
    expect([rows[0].step, rows.at(-1)?.step]).toEqual([0, last]);
    expect(rows.length).toBeGreaterThan(MOST_ROWS / 4); // thinned, not cut off
  }
  expect(most).toBeLessThanOrEqual(MOST_ROWS);
});

describe('the rows of a run', () => {
  const whole = { width: 16, heads: 4 };

  test('hold means over heads and layers, and the heads in the units of the map', () => {
    const [row] = rowsOf(logOf([5]), whole);
    expect(row.step).toBe(5);
    expect(row.value.entropy).toBeCloseTo(0.9, 12);
    expect(row.value.residual).toBe(0.5);
    expect(row.value.train_bits).toBe(3); // the training loss is the validation loss here
    expect(row.value.localization).toBeNaN();
    expect([row.value.self_mass, row.value.self_reference]).toEqual([0.3, 0.25]);
    const parts = LOGIT_PARTS.map((part) => row.value[part]);
    expect(parts).toEqual([1, -0.5, 0.5, 0.75, 0.25]);
    expect(parts.reduce((sum, part) => sum + part)).toBe(row.value.logit_variance);
    // What alarms watch: extremes over the heads that have a value, and numbers of the run and of the last layer.
    expect([row.signals['spread.largest'], row.signals['stable_rank.smallest']]).toEqual([2, 0]);
    expect([row.signals.gradient_norm, row.signals.last_residual]).toEqual([0.5, 0.5]);
    expect(row.signals['entropy.smallest']).toBe(0.9);
    expect(row.heads).toHaveLength(4);
    expect(row.heads[0]).toEqual({ x: 4, y: Math.sqrt(32) / 2 });
  });

  test('give the training loss in bits a byte, also where a token is several bytes', () => {
    const log = logOf([5]);
    log.run.bits_per_byte = Float64Array.of(2 / Math.LN2 / 5.5); // words of 5.5 bytes
    const [row] = rowsOf({ ...log, run: { ...log.run, train_loss: Float64Array.of(4) } }, whole);
    // 2.5 nats for a token of 5.5 bytes.
    expect(row.value.bigram_bits).toBeCloseTo(2.5 / Math.LN2 / 5.5, 12);
    expect(referencesText(referencesOf(row), 'bits')).toBe(
      'Tables of n-grams of the training text reach on the same text: ' +
        'unigrams 0.787, bigrams 0.656, trigrams 0.393 bits.',
    );
    expect(row.value.train_bits).toBeCloseTo(4 / Math.LN2 / 5.5, 12);
  });

  test('are shown up to a step, or to the newest', () => {
    const rows = [0, 10, 20].map((step) => ({ step }) as Row);
    expect(steps(upTo(rows, momentOf({ moment: '10' })))).toEqual([0, 10]);
    expect(steps(upTo(rows, momentOf({ moment: '19' })))).toEqual([0, 10]);
    for (const moment of ['newest', '-1', 'soon', '']) {
      expect(upTo(rows, momentOf({ moment }))).toEqual(rows);
    }
  });

  test('of a piece that is told again replace what it told before', () => {
    const row = (step: number) => ({ step }) as Row;
    expect(steps(joined([row(0), row(10), row(20)], [row(20), row(30)]))).toEqual([0, 10, 20, 30]);
    expect(joined([row(1)], [])).toEqual([row(1)]);
  });

  test('are thinned: memory does not grow with the steps', () => {
    let rows: Row[] = [];
    for (let step = 0; step < 3 * MOST_ROWS; step++) rows = joined(rows, [{ step } as Row]);
    expect(rows.length).toBeLessThanOrEqual(MOST_ROWS);
    expect(rows.at(-1)?.step).toBe(3 * MOST_ROWS - 1);
    expect(rows[0].step).toBe(0);
  });
});

test('a run is asked for with everything that the controls hold', () => {
  const held = { ...trainView.defaults, mlp_ratio: 2, key_heads: 2, layer_norm: 'post', tokenizer: 'words' };
  const asked = trainingOf(held as State, 'qk-decay');
  expect(asked).toMatchObject({ mlp_ratio: 2, key_heads: 2, layer_norm: 'post', regularizer: 'qk-decay' });
  expect(asked).toMatchObject({ tokenizer: 'words', min_count: 3, positions: 'learned', beta2: 0.99 });
});
