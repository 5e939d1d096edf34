// `eigenscope heads` on the checkpoints of a run that another trainer saved.
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { LLAMA, LLAMA_CONFIG, safetensorsOf, type Tensors } from '../checkpoints.ts';
import { parseCsv } from '../csv.ts';
import { expectRefused, json, raw, temporaryFolder } from './eigenscope.ts';

/** The small LLaMA with other queries at each step. */
const at = (step: number): Tensors => {
  const [query] = Object.keys(LLAMA).filter((name) => name.includes('q_proj'));
  return { ...LLAMA, [query!]: { ...LLAMA[query!]!, value: (i) => (1 + step / 1000) * LLAMA[query!]!.value(i) } };
};

function checkpoint(folder: string, step: number, state?: string, config: object = {}): string {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'model.safetensors'), safetensorsOf(at(step)));
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ ...JSON.parse(LLAMA_CONFIG), ...config }));
  if (state !== undefined) writeFileSync(join(folder, 'trainer_state.json'), state);
  return folder;
}

/** What the Trainer saves, as Python writes it. */
const stateOf = (step: number, loss = '2.5') =>
  `{"best_model_checkpoint": null, "global_step": ${step}, "log_history": [{"loss": 9.5, "step": 1}, ` +
  `{"grad_norm": NaN, "loss": ${loss}, "step": ${step}}, {"eval_loss": ${step / 1000}, "step": ${step}}]}`;

/** A run of the Trainer with two checkpoints. */
function trainerRun(): string {
  const run = join(temporaryFolder(onTestFinished), 'run');
  for (const step of [1000, 500]) checkpoint(join(run, `checkpoint-${step}`), step, stateOf(step));
  return run;
}

test('its steps come in their order, with the losses of trainer_state.json', () => {
  const run = trainerRun();
  const ran = raw('heads', run, '--csv');
  const rows = parseCsv(ran.stdout);
  expect(rows.map(({ model, head, step, loss, eval_loss }) => [model, head, step, loss, Number(eval_loss)])).toEqual(
    [500, 1000].flatMap((step) =>
      ['0', '1'].map((head) => [join(run, `checkpoint-${step}`), head, `${step}`, '2.5', step / 1000]),
    ),
  );
  expect(ran.stderr).toBe('');
  expect(Number(rows[2]!.mean) / Number(rows[0]!.mean)).toBeCloseTo(2 / 1.5, 6);
  // In the shell's order, as files, and from inside.
  const named = ['checkpoint-1000', 'checkpoint-500/model.safetensors'].map((it) => join(run, it));
  expect(json('heads', {}, ...named).heads.map(({ step }: { step: number }) => step)).toEqual([500, 500, 1000, 1000]);
});

test('a checkpoint that is missing or damaged is named, the others are listed', () => {
  const run = trainerRun();
  mkdirSync(join(run, 'checkpoint-1500'));
  symlinkSync('checkpoint-1600', join(run, 'checkpoint-1600'));
  writeFileSync(join(checkpoint(join(run, 'checkpoint-1700'), 1700), 'model.safetensors'), 'broken');
  checkpoint(join(run, 'checkpoint-1800'), 1800, stateOf(1801));
  checkpoint(join(run, 'checkpoint-99999999999'), 1);
  mkdirSync(join(run, 'runs')); // of TensorBoard
  const { status, stdout, stderr } = raw('heads', run);
  const found = JSON.parse(stdout);
  expect(found.heads.map(({ step }: { step: number }) => step)).toEqual([500, 500, 1000, 1000]);
  for (const [name, reason] of [
    ['1500', ': there is no .safetensors, '],
    ['1600', ': it cannot be read: Too many levels of symbolic links'],
    ['1700', ''],
    [
      '1800/trainer_state.json',
      ": global_step must be the step in the name of its folder, 'checkpoint-1800': found 1801",
    ],
    ['99999999999', ': the step in the name must be an integer from 0 to 1e+07'],
  ]) {
    expect(
      found.excluded.filter((it: string) => it.includes(`checkpoint-${name}${reason}`)),
      name,
    ).toHaveLength(1);
    expect(stderr).toContain(`checkpoint-${name}${reason}`);
  }
  expect([status, found.excluded.length]).toEqual([0, 5]);
});

test('the folder of a model alone has the step of trainer_state.json, but for the best model of a run', () => {
  const folder = checkpoint(join(temporaryFolder(onTestFinished), 'final'), 1, stateOf(7));
  expect(json('heads', {}, folder).heads[0]).toMatchObject({ step: 7, loss: 2.5, eval_loss: 0.007 });
  writeFileSync(join(folder, 'trainer_state.json'), stateOf(7).replace('null', '"run/checkpoint-5"'));
  const { stdout, stderr } = raw('heads', folder);
  expect(JSON.parse(stdout).heads[0]).toMatchObject({ step: null, loss: null, eval_loss: null });
  expect(stderr).toContain('step is null, because the weights may be those of best_model_checkpoint');
  rmSync(join(folder, 'trainer_state.json'));
  const named = json('heads', {}, folder).heads;
  expect(named.map(({ step }: { step: number }) => step)).toEqual([null, null]);
  checkpoint(join(folder, 'checkpoint-3'), 3);
  expect(raw('heads', folder).stderr).toContain(`${folder} has weights, which are read, and 1 steps of a run`);
});

test('a loss that is not finite is null, with a note', () => {
  const run = trainerRun();
  checkpoint(join(run, 'checkpoint-500'), 500, stateOf(500, 'NaN'));
  const { stdout, stderr } = raw('heads', run);
  const losses = JSON.parse(stdout).heads.map(({ loss }: { loss: number | null }) => loss);
  expect(losses).toEqual([null, null, 2.5, 2.5]);
  expect(stderr).toContain('checkpoint-500/trainer_state.json is not finite');
});

test.each([
  ['step10', 10],
  ['step-10', 10],
  ['global_step10', 10],
  ['checkpoint_010', 10],
  ['stage1-step10-tokens5B', 10],
  ['checkpoint-10-merged', null],
  ['checkpoint--10', null],
  ['checkpoint-', null],
  ['footstep10', null],
  ['step10.5', null],
])('a folder %s is of step %s', (name, step) => {
  const folder = checkpoint(join(temporaryFolder(onTestFinished), name), 1);
  expect(json('heads', {}, folder).heads[0].step).toBe(step);
});

describe('refused with what must hold', () => {
  test.each([
    ['no JSON', '{"global_step": ', /trainer_state.json: /],
    ['no object', '[7]', /global_step must be an integer from 0 to 1e\+07: found none/],
    ['without a step', '{}', /global_step must be an integer from 0 to 1e\+07: found none/],
    ['a step that is NaN', '{"global_step": NaN}', /global_step must be an integer from 0 to 1e\+07: found NaN/],
    ['a negative step', '{"global_step": -5}', /global_step must be .*: found -5/],
    ['a step with a fraction', '{"global_step": 5.5}', /global_step must be .*: found 5\.5/],
    ['a large step', '{"global_step": 10000001}', /global_step must be .*: found 10000001/],
    ['a step as a text', '{"global_step": "5"}', /global_step must be .*: found '5'/],
    ['a step that is null', '{"global_step": null}', /global_step must be .*: found null/],
    ['a step in a list', '{"global_step": [5]}', /global_step must be .*: found an array/],
    ['two steps', '{"global_step": 5, "global_step": 5}', /global_step must be .*: found two/],
    [
      'a loss as a text',
      '{"global_step": 5, "log_history": [{"loss": "low"}]}',
      /log_history must have numbers as 'loss': found 'low'/,
    ],
    ['65 MB', `{"global_step": 5, "x": "${'x'.repeat(65_000_000)}"}`, /has 650000\d\d bytes; .* at most 64000000/],
    ['deep lists', `{"global_step": 5, "x": ${'['.repeat(1e6)}`, /trainer_state.json: /],
  ])('%s', (_, state, message) => {
    const folder = checkpoint(join(temporaryFolder(onTestFinished), 'model'), 1, state);
    expectRefused(raw('heads', folder), message, 1);
  });

  test('two checkpoints of one step', () => {
    const run = trainerRun();
    cpSync(join(run, 'checkpoint-500'), join(run, 'checkpoint-0500'), { recursive: true });
    expectRefused(raw('heads', run), /MODEL must have each step of a run once: .*checkpoint-0?500 and .* of step 500/);
  });

  test('steps of different architectures, by the field', () => {
    const run = trainerRun();
    checkpoint(join(run, 'checkpoint-1000'), 1000, undefined, { num_attention_heads: 4, num_key_value_heads: 2 });
    expectRefused(
      raw('heads', run),
      /checkpoint-1000: the number of heads must be that of the other steps of the run: 4, but 2 in .*checkpoint-500/,
      1,
    );
  });

  test('trainer_state.json of one checkpoint for several', () => {
    const run = trainerRun();
    const state = join(run, 'checkpoint-500', 'trainer_state.json');
    expectRefused(
      raw('heads', run, '--trainer-state', state),
      '--trainer-state must be given with one checkpoint only',
    );
  });
});
