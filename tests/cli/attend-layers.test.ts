// Text through the layers of a checkpoint: what a person sees meanwhile, and where a layer cannot be run.
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { spoil } from '../checkpoints.ts';
import { parseCsv } from '../csv.ts';
import type { Output } from '../../web/engine/protocol.ts';
import { bash, engine, json, MINILM, run, source, temporaryFolder } from './eigenscope.ts';

const folder = temporaryFolder();

const DEPTH = 9;
const VALUES = 'model.layers.7.self_attn.v_proj.weight';
const model = join(folder, 'none-seed1', 'export');

beforeAll(() => {
  const parts = { normalization: 'rms', mlp_kind: 'gated', positions: 'rotary', linear_bias: 'without' };
  const size = { width: 16, depth: DEPTH, heads: 2, length: 16 };
  json('train', { ...size, ...parts, steps: 1, export: 'f32', out: folder });
});

test('a NaN in layer 7 is named, and the heads of the layers before it are printed', () => {
  const whole = parseCsv(run('attend', { text: 'whale' }, model, '--csv').stdout);
  expect(whole).toHaveLength(2 * DEPTH);
  spoil(join(model, 'model.safetensors'), VALUES);
  const ran = run('attend', { text: 'whale' }, model, '--csv');
  expect(ran.status).toBe(1);
  expect(ran.stderr).toContain(`${VALUES}: it holds NaN or infinite values`);
  expect(parseCsv(ran.stdout)).toEqual(whole.slice(0, 14));
  const { error, heads } = JSON.parse(run('attend', { text: 'whale' }, model).stdout);
  expect(ran.stderr).toContain(error);
  expect(heads).toHaveLength(14);
});

test('on a terminal the progress is in layers', () => {
  const line = `"$EIGENSCOPE" attend ${MINILM} --text "${'The whale swam. '.repeat(500)}" --passages 8 --csv`;
  const ran = bash(`script -qec '${line}' /dev/null`);
  expect(ran.status).toBe(0);
  expect(ran.stdout).toMatch(/\r\x1b\[K[1-5] of 6 layers/);
});

test.each([
  ['small', 1, 1],
  ['large', 500, 0],
])('a result before the end has the matrices of finished layers where they are %s', async (_, words, layers) => {
  const of = (name: string) => source(join(MINILM, name));
  const files = { model: [of('model.fp16.safetensors')], config: of('config.json'), tokenizer: of('tokenizer.json') };
  const input = { ...files, index: null, text: 'whale '.repeat(words), weights: true };
  const job = (await engine()).createJob('attend', input);
  const found = () => job.output() as Output<'attend'>;
  while (found().layers.length < 1) job.advance(1e6);
  expect(found().heads).toHaveLength(12);
  expect(found().weights).toHaveLength(12 * layers);
  while (!job.advance(1e9));
  expect(found().weights).toHaveLength(72);
  job.delete();
});
