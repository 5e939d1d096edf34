import { expect, test } from 'vitest';
import { brushed } from '../../web/heads/brush.ts';
import { columnOf, columns, conditionsOf, ordered } from '../../web/chapters/model/table/columns.ts';
import { quoted } from '../../web/state/described';
import {
  checkpointsOf,
  partNames,
  shardText,
  sourceOf,
  withoutCheckpoint,
} from '../../web/chapters/model/files/files.ts';
import { leftOutText } from '../../web/chapters/model/files/files.ts';
import { readText, reportOf } from '../../web/chapters/model/opening/checkpoints.ts';
import { modelView } from '../../web/chapters/model/state.ts';
import type { Output } from '../../web/engine/protocol.ts';

const at = (path: string) => {
  const folder = path.split('/').slice(0, -1).join('/');
  return { file: new File([''], path.split('/').at(-1) ?? ''), folder };
};
const opened = (...paths: string[]) =>
  checkpointsOf(paths.map(at)).map(({ name, config, tokenizer }) => ({
    name,
    config: config?.name ?? null,
    tokenizer: tokenizer?.name ?? null,
  }));

test('the files of one checkpoint are told apart by their names', () => {
  expect(opened('tokenizer.json', 'model.safetensors', 'config.json', 'vocab.json')).toEqual([
    { name: 'model.safetensors', config: 'config.json', tokenizer: 'tokenizer.json' },
  ]);
  expect(opened('weights.safetensors', 'my-config.json')[0].config).toBe('my-config.json');
  expect(opened('weights.safetensors', 'a.json', 'b.json')[0].config).toBe(null);
  expect(opened('config.json')).toEqual([]);
  expect(opened('garbage.bin')[0].name).toBe('garbage.bin');
});

test('a LoRA adapter joins the one model beside it, or the one that is open', () => {
  const adapter = ['lora/adapter_model.safetensors', 'lora/adapter_config.json'];
  const base = ['base/model.safetensors', 'base/config.json'];
  const [plain, adapted, ...none] = checkpointsOf([...base, ...adapter].map(at));
  expect(none).toEqual([]);
  expect([plain.name, adapted.name]).toEqual(['base', 'base with lora']);
  expect(plain.adapter).toBeUndefined();
  expect(adapted.model.map(({ name }) => name)).toEqual(
    ['base/model.safetensors', ...adapter].map((path) => path.split('/')[1]),
  );
  expect(adapted.config).toBe(plain.config);
  expect(checkpointsOf(adapter.map(at), [plain, adapted]).map(({ name }) => name)).toEqual([plain.name, adapted.name]);
  // Which of two models has the adapter is not known.
  expect(opened(...base, 'other/model.safetensors', ...adapter)).toHaveLength(3);
  expect(opened(...adapter)).toHaveLength(1);
  // Its config is none of the model.
  expect(opened('model.safetensors', 'adapter_model.safetensors', 'adapter_config.json')[0].config).toBeNull();
});

test('a folder of checkpoints keeps their order, and each finds what is nearest', () => {
  const files = ['run/tokenizer.json', 'run/step-10/model.safetensors', 'run/step-10/config.json'];
  files.push('run/step-9/model.safetensors', 'run/step-9/config.json');
  expect(opened(...files)).toEqual([
    { name: 'step-9', config: 'config.json', tokenizer: 'tokenizer.json' },
    { name: 'step-10', config: 'config.json', tokenizer: 'tokenizer.json' },
  ]);
  expect(opened('x/a.safetensors', 'x/b.safetensors').map(({ name }) => name)).toEqual([
    'a.safetensors',
    'b.safetensors',
  ]);
});

test('a link names a checkpoint by its folder, or by where it was read from', () => {
  const [local] = checkpointsOf(['run/step-9/model.safetensors'].map(at));
  expect(sourceOf(local)).toBe('step-9');
  const url = 'https://host.example/a/b/model.safetensors?token=secret';
  const remote = { ...local, name: 'a/b', model: [{ name: 'model.safetensors', url }] };
  expect(sourceOf(remote as typeof local)).toBe('host.example/a/b/model.safetensors');
});

test('what was read of a small file is told in kilobytes', () => {
  expect(readText(41_200, 212_900)).toBe('42 of 213 kB');
  expect(readText(200_000, 91_600_000)).toBe('0.2 of 91.6 MB');
  expect(readText(5_600, 4_900)).toBe('5 of 5 kB'); // ranges overlap
});

test('files beside an index are the shards of one checkpoint', () => {
  const index = 'a/model.safetensors.index.json';
  const [first, second] = checkpointsOf(
    [index, 'a/model-1.safetensors', 'a/model-2.safetensors', 'b.safetensors'].map(at),
  );
  expect(first.name).toBe('b.safetensors');
  expect(second.name).toBe('a');
  expect(second.model.map(({ name }) => name)).toEqual(['model-1.safetensors', 'model-2.safetensors']);
  expect(second.index?.name).toBe('model.safetensors.index.json');
  expect([first.index, first.model.length, first.config]).toEqual([null, 1, null]);
});

test('shards of PyTorch are one checkpoint where their folder has no other weights', () => {
  const shards = ['pytorch_model-00001-of-00002.bin', 'pytorch_model-00002-of-00002.bin'];
  const index = 'pytorch_model.bin.index.json';
  const [only, ...none] = checkpointsOf([index, ...shards, 'config.json'].map((name) => at(`a/${name}`)));
  expect(none).toEqual([]);
  expect(only.model.map(({ name }) => name)).toEqual(shards);
  expect([only.name, only.index?.name, only.config?.name]).toEqual(['a', index, 'config.json']);
  const both = checkpointsOf([...shards, index, 'model.safetensors'].map((name) => at(`a/${name}`)));
  expect(both.map(({ name, model }) => [name, model.length])).toEqual([['a', 1]]);
});

test('every file of weights is a checkpoint, of whatever format and folder', () => {
  const names = (...paths: string[]) => opened(...paths).map(({ name }) => name);
  expect(names('a/model.safetensors', 'b/pytorch_model.bin')).toEqual(['a', 'b']);
  expect(names('x/one.pt', 'x/two.pt', 'x/three.pth', 'x/four.safetensors', 'x/five.gguf')).toEqual([
    'five.gguf',
    'four.safetensors',
    'one.pt',
    'three.pth',
    'two.pt',
  ]);
  const copies = ['m/pytorch_model.bin', 'm/model-00001-of-00001.safetensors', 'm/vae.safetensors', 'm/vae.bin'];
  expect(names(...copies)).toEqual(['model-00001-of-00001.safetensors', 'vae.safetensors']);
  expect(leftOutText(copies.map(at))).toBe(
    'Copies are not opened: m/pytorch_model.bin (model-00001-of-00001.safetensors is opened), ' +
      'm/vae.bin (vae.safetensors is opened).',
  );
});

test('training state is never taken for weights, also where it is the largest file', () => {
  const states = ['optimizer.pt', 'scheduler.pt', 'rng_state_0.pth', 'training_args.bin', 'optimizer.bin'];
  states.push(
    'random_states_0.pkl',
    'global_step8/zero_pp_rank_0_mp_rank_00_optim_states.pt',
    'optimizer_0/__0_0.distcp',
  );
  const large = (path: string) => ({ ...at(path), file: new File(['x'.repeat(999)], at(path).file.name) });
  for (const state of states) {
    const files = [large(`run/${state}`), at('run/pytorch_model.bin'), at('run/trainer_state.json')];
    expect(checkpointsOf(files).map(({ model }) => model.map(({ name }) => name))).toEqual([['pytorch_model.bin']]);
    expect(leftOutText(files)).toBe(`Training state is not opened: run/${state}.`);
    expect(checkpointsOf([large(state)])).toEqual([]);
    expect(withoutCheckpoint([large(state)])).toBe(`Training state is not opened: ${state}.`);
  }
  const shards = ['pytorch_model.bin.index.json', 'pytorch_model-00001-of-00001.bin', 'training_args.bin'];
  const [only] = checkpointsOf(shards.map((name) => at(`run/${name}`)));
  expect(only.model.map(({ name }) => name)).toEqual(['pytorch_model-00001-of-00001.bin']);
  for (const weights of ['optimal.pt', 'schedulers-net.pt', 'mp_rank_00_model_states.pt']) {
    expect(opened(weights).map(({ name }) => name)).toEqual([weights]);
  }
});

test('a folder of the cache of the Hub says where its files are', () => {
  const hash = '0123456789abcdef0123456789abcdef01234567';
  const blob = `models--google-bert--bert-base-uncased/blobs/${hash}`;
  for (const files of [
    [blob, 'models--google-bert--bert-base-uncased/refs/main'],
    [`hub/${blob}`],
    [`blobs/${hash}`],
  ]) {
    const given = files.map(at);
    const text = checkpointsOf(given).length > 0 ? leftOutText(given) : withoutCheckpoint(given);
    expect(text).toMatch(/Hub’s cache: .*symbolic links.*“Choose files”/);
  }
  const followed = [blob, `models--google-bert--bert-base-uncased/snapshots/${hash}/model.safetensors`];
  expect(opened(...followed).map(({ name }) => name)).toEqual([hash]);
  expect(leftOutText(followed.map(at))).toBe('');
  expect(withoutCheckpoint([])).toContain('symbolic links');
});

test('the parts of a GGUF model are one checkpoint, also where one is missing', () => {
  const part = (number: number) => `m-0000${number}-of-00003.gguf`;
  const files = ['a/config.json', `a/${part(3)}`, `a/${part(1)}`, `a/${part(2)}`, 'a/n.gguf', `b/${part(2)}`];
  const found = checkpointsOf(files.map(at));
  expect(found.map(({ name, model }) => [name, model.map((it) => it.name).sort()])).toEqual([
    [part(1), [part(1), part(2), part(3)]],
    ['n.gguf', ['n.gguf']],
    ['b', [part(2)]],
  ]);
  expect(partNames(part(2))).toEqual([part(1), part(2), part(3)]);
  for (const name of ['m.gguf', 'm-00004-of-00003.gguf', '-00001-of-00002.gguf']) {
    expect(partNames(name)).toEqual([name]);
  }
});

test('a shard that is opened without its index is named as a part', () => {
  const file = (name: string) => new File([], name);
  const said = (name: string, index: File | null = null) => shardText({ model: [file(name)], index });
  const second = 'model-00002-of-00003.safetensors';
  expect(said(second)).toMatch(/^This is part 2 of 3 of a model: open all parts/);
  expect(said(second, file('model.safetensors.index.json'))).toBe('');
  for (const whole of ['model.safetensors', 'model-00001-of-00001.safetensors']) expect(said(whole)).toBe('');
});

test('a filter is conditions that all hold, and names what it does not know', () => {
  const [layer, entropy] = conditionsOf('layer=3, entropy<=.5');
  expect([layer.name, layer.holds(3), layer.holds(2)]).toEqual(['layer', true, false]);
  expect([entropy.holds(0.5), entropy.holds(0.51), entropy.holds(NaN)]).toEqual([true, false, false]);
  const [stack] = conditionsOf('stack=decoder');
  expect([stack.holds(1, 'decoder'), stack.holds(0, 'encoder')]).toEqual([true, false]);
  expect(conditionsOf('  ')).toEqual([]);
  expect(conditionsOf('layer = 3 entropy <= .5').map(({ name }) => name)).toEqual(['layer', 'entropy']);
  for (const wrong of ['layer', 'depth=3', 'layer=', 'layer=three', 'layer==3']) {
    expect(() => conditionsOf(`head>1 ${wrong}`)).toThrow(`found '${wrong}'`);
  }
  expect(() => conditionsOf('x=1')).toThrow(columns.map(({ name }) => name).join(', '));
});

test('rows are ordered by a column either way, what is not known last', () => {
  const list = [2, NaN, 3, 1];
  expect(ordered(list, 'x', (it) => it)).toEqual([1, 2, 3, NaN]);
  expect(ordered(list, '-x', (it) => it)).toEqual([3, 2, 1, NaN]);
  expect(columnOf('-mean').name).toBe('mean');
  expect(() => columnOf('depth')).toThrow('order must be a column, with a minus for the largest first');
  const long = 'a'.repeat(20_000);
  expect(() => columnOf(long)).toThrow(`found '${quoted(long)}'`);
  expect(() => conditionsOf(long)).toThrow(`found '${quoted(long)}'`);
});

test('a brush is the places between its commas', () => {
  expect([...brushed({ brush: '0.1,5.11' })]).toEqual(['0.1', '5.11']);
  expect(brushed({ brush: '' }).size).toBe(0);
});

test('the report of a scan has its notes as sentences', () => {
  const files = { name: 'm', model: [], index: null, config: null, tokenizer: null, preprocessor: null };
  const output = { heads: [], bytes_read: 0, excluded: [], notes: ['the scale of the logits is not known'] };
  const report = reportOf(files, output as unknown as Output<'heads'>, modelView.defaults, 1);
  expect(report).toContain(' The scale of the logits is not known.');
});
