import { describe, expect, test } from 'vitest';
import { readLink, writeLink } from '../../web/state/link';
import { described } from '../../web/state/described';
import { inPageWords } from '../../web/state/help';
import { quoted } from '../../web/state/quoted';
import {
  meansOf,
  parseList,
  settingOf,
  stackOf,
  variancesOf,
  widthOf,
} from '../../web/state/setting';
import {
  defaults,
  names,
  parse,
  plainSettings,
  sliderOf,
  table,
  type State,
  type StateName,
} from '../../web/state/table';
import { defaultsOf, linkName, namesOf, viewNames } from '../../web/state/views';

/** Another value than a setting of training runs begins with. */
function another(name: StateName): number | string {
  const row = table[name];
  if (row.kind === 'choice') return Object.keys(row.choices).find((it) => it !== row.default)!;
  if (row.kind !== 'number') throw new Error(`${name} is neither a number nor a choice`);
  return row.limits.integer ? row.default + 1 : (row.default + row.limits.maximum) / 2;
}

/** Every parameter with another value than it begins with. */
const changed = {
  ...Object.fromEntries(plainSettings.map((name) => [name, another(name)])),
  mean: -0.125,
  variance: 1e-7,
  width: 17,
  head_width: 5,
  length: 33,
  temperature: 5.656854249492381,
  correlation: 0.3,
  seed: 9007199254740991,
  samples: 12345,
  asymmetry: -0.5,
  queries: 'one',
  query: 9,
  sigma: 'layer',
  logit: -1.5,
  ensemble: 'list',
  tokens: 'normalized-walk',
  measure: 'entropy',
  spread: 'variance',
  softmax: 'piecewise-linear',
  mask: 'blocks',
  window: 5,
  blocks: 3,
  prefix: 2,
  selected: 1,
  depth: 0,
  heads: 4,
  stacks: 3,
  skip: 0.5,
  layer_norm: 'post',
  norm: 'rms-norm',
  values: 'shear',
  shear: -2.5,
  weights: 'shared',
  mlp: 1.5,
  rank: 'cosine',
  rows: 'last',
  floor: 0.05,
  layer: 7,
  runs: 'qk-decay,none,locater',
  steps: 77,
  model_width: 24,
  model_depth: 3,
  model_heads: 6,
  model_length: 20,
  key_heads: 2,
  model_mlp: 2,
  block_norm: 'post',
  positions: 'rotary',
  output: 'free',
  batch: 5,
  learning_rate: 0.01,
  log_every: 3,
  mean_weight: 2,
  scale_weight: 0.5,
  target: -0.25,
  target_kind: 'own',
  initialization: 'mimetic',
  qk_decay: 0.125,
  final_rate: 0.5,
  warmup: 7,
  weight_decay: 0.25,
  beta1: 0.5,
  beta2: 0.75,
  clip: 3,
  eval_batches: 2,
  tokenizer: 'words',
  min_count: 4,
  intervention: 'tame',
  tame: 2.5,
  run_spread: 'variance',
  prompt: 'a whale, & more',
  watched: 'locater:1.2',
  moment: '75',
  quantity: 'sink',
  level: 2,
  passages: 5,
  tokens_source: 'uniform',
  tokens_order: 'embedding',
  zipf_exponent: 1.5,
  zipf_offset: 1,
  reading: 'a whale, & more: 1',
  order: '-mean',
  filter: 'layer=3 entropy<0.5',
  brush: '0.1,3.11',
  zoom: 'common',
  fold_gains: 'no',
  frame: 'embeddings',
  offset_kind: 'average',
  offset: 7,
  map_query: 'blk.{n}.q & more',
  map_key: 'blk.{n}.k',
  map_gain: 'blk.{n}.g',
  map_layout: 'interleaved',
  map_heads: '4',
  map_key_heads: '2',
  sample: 'hidden',
  eigenvalues: '1, -2.5 & 3',
  model: 'a model & its name',
  head: 'file:3.11',
  schedule: 'linear',
  query_key_bias: 'without',
  query_key_norm: 'rms',
  attention: 'self',
  final_evaluation: 'whole',
  normalization: 'rms',
  mlp_kind: 'gated',
  linear_bias: 'without',
  alpha: -0.5,
  init_scale: 2,
} as State;

const present = defaultsOf;

describe('the link', () => {
  test('of a view as it begins is its name, empty for the first, and says nothing', () => {
    expect(viewNames.map((view) => writeLink(view, defaultsOf(view)))).toEqual([
      ...['', '#collapse', '#train', '#model'],
    ]);
  });

  test.each(viewNames)(
    'to %s holds every parameter of the view: what is written is read',
    (view) => {
      const plain = defaultsOf(view);
      const state = { ...plain };
      for (const name of namesOf(view)) {
        expect(changed[name], name).not.toBe(plain[name]);
        Object.assign(state, { [name]: changed[name] });
      }
      const hash = writeLink(view, state, 'cosines');
      expect(hash).toMatch(new RegExp(`^#${view}[?]`));
      expect(readLink(hash, present)).toEqual({
        ...{ view, figure: 'cosines', states: new Map([[view, state]]) },
        ...{ refused: new Map(), unknown: [], repeated: [] },
      });
    },
  );

  test('every parameter belongs to a view', () => {
    const all = new Set(viewNames.flatMap((view) => [...namesOf(view)]));
    expect(names.filter((name) => !all.has(name))).toEqual([]);
  });

  test('gives every parameter of a view a name of its own', () => {
    for (const view of viewNames) {
      const given = namesOf(view).map((name) => linkName(view, name));
      expect(new Set(given).size).toBe(given.length);
    }
    expect(linkName('train', 'model_width')).toBe('width');
  });

  test('of the short form has a key of its own for every parameter', () => {
    expect(new Set(names.map((name) => table[name].key)).size).toBe(names.length);
  });

  test.each([
    ['m=0.5&v=1', 'localize'],
    ['m=0.5&D=24&S=2', 'collapse'],
    ['ts=12&td=16&s=3', 'train'],
    ['lr=2&p=sample:1.2', 'model'],
  ] as const)('of the short form, %s, opens %s and sets all views', (hash, view) => {
    const link = readLink(`#${hash}`, present);
    expect(link.view).toBe(view);
    expect(link.unknown).toEqual([]);
    const given = new URLSearchParams(hash);
    for (const [name, text] of given) {
      const parameter = names.find((it) => table[it].key === name);
      if (!parameter) throw new Error(`no parameter ${name}`);
      for (const it of viewNames) {
        const state = link.states.get(it);
        const begins = String(defaultsOf(it)[parameter]);
        const has = namesOf(it).includes(parameter);
        expect(String(state?.[parameter])).toBe(has ? text : begins);
      }
    }
  });

  test('with a refused text keeps the present value and remembers the text', () => {
    const current = () => ({ ...defaults(), width: 99 });
    for (const hash of ['#localize?width=-3&mean=0.5&ensemble=nothing', '#d=-3&m=0.5&e=nothing']) {
      const { states, refused } = readLink(hash, current);
      expect(states.get('localize')).toMatchObject({ width: 99, mean: 0.5 });
      expect(Object.fromEntries(refused)).toEqual({ width: '-3', ensemble: 'nothing' });
    }
  });

  test('tells what it does not know and what it says twice', () => {
    const link = readLink('#collapse?depth=3&runs=none&nonsense=1&depth=4', present);
    expect(link.states.get('collapse')?.depth).toBe(3);
    expect(link.unknown).toEqual(['runs', 'nonsense']);
    expect(link.repeated).toEqual(['depth']);
    expect(readLink('#m=1&zz=2&m=3', present)).toMatchObject({ unknown: ['zz'], repeated: ['m'] });
  });
});

describe('a text for a number', () => {
  test.each([
    ['width', '2', 2],
    ['width', '1', undefined],
    ['width', '2.5', undefined],
    ['width', '', undefined],
    ['width', '0x10', undefined],
    ['width', '1e2', 100],
    ['temperature', '0', undefined],
    ['temperature', '.5', 0.5],
    ['correlation', '0', 0],
    ['correlation', '1', undefined],
    ['mean', '-1e-3', -0.001],
    ['mean', 'NaN', undefined],
    ['mean', 'Infinity', undefined],
    ['mean', '1,5', undefined],
    ['tokens', 'ar1', 'ar1'],
    ['tokens', 'toString', undefined],
  ] as const)('%s %j', (name, text, value) => {
    expect(parse(name, text)).toBe(value);
  });
});

describe('the slider', () => {
  test('of the layer ends at the depth', () => {
    expect(sliderOf('layer', { ...defaults(), depth: 5 })).toMatchObject({ from: 0, to: 5 });
    expect(sliderOf('depth', defaults())).toEqual((table.depth as { slider: unknown }).slider);
    expect(sliderOf('seed', defaults())).toBeNull();
  });
});

describe('the setting', () => {
  test('has eigenvalues only for the list, whose length is the width', () => {
    expect(settingOf(defaults()).eigenvalues).toEqual([]);
    const list = { ...defaults(), ensemble: 'list' as const, eigenvalues: '3 1;-2,0' };
    expect(settingOf(list).eigenvalues).toEqual([3, 1, -2, 0]);
    expect(widthOf(list)).toBe(4);
    expect(widthOf(defaults())).toBe(defaults().width);
  });

  test('passes what is no number on, for the library to refuse', () => {
    expect(parseList('1, x')).toEqual([1, NaN]);
  });

  test('compares the mean with a quarter and twice of it, and zero with both signs', () => {
    expect(meansOf({ ...defaults(), mean: 0.4 })).toEqual([0.4, 0.1, 0.8]);
    expect(meansOf({ ...defaults(), mean: 0 })).toEqual([0, 0.25, -0.25]);
  });

  test('compares only means that the library allows', () => {
    expect(meansOf({ ...defaults(), mean: 6e5 })).toEqual([6e5, 1.5e5, 1e6]);
    expect(meansOf({ ...defaults(), mean: 1e6 })).toEqual([1e6, 2.5e5]);
  });

  test('compares the variance with a hundredth of it and a hundred times it', () => {
    expect(variancesOf({ ...defaults(), variance: 0.3 })).toEqual([0.3, 0.003, 30]);
    expect(variancesOf({ ...defaults(), variance: 0 })).toEqual([0, 0.001, 10]);
    expect(variancesOf({ ...defaults(), variance: 1e12 })).toEqual([1e12, 1e10]);
  });
});

describe('the stack', () => {
  test('is the setting with the mask and the block, and nothing of what is only looked at', () => {
    const state = { ...defaults(), ensemble: 'list' as const, eigenvalues: '1 2', depth: 3 };
    const stack = stackOf(state);
    expect(stack).toMatchObject({
      ...settingOf(state),
      depth: 3,
      mask: 'causal',
      values: 'orthogonal',
    });
    for (const name of ['layer', 'floor', 'rank', 'rows']) expect(stack).not.toHaveProperty(name);
  });
});

test('a message quotes a text of any length in one line that can be read', () => {
  expect(quoted('1e9')).toBe('1e9');
  expect(quoted('a\0b\nc\u202e')).toBe('a\uFFFDb\uFFFDc\uFFFD');
  expect(quoted('x'.repeat(100_000))).toBe(`${'x'.repeat(40)}…`);
});

test('a text of 100 kB is refused at once', () => {
  const start = performance.now();
  expect(parse('mean', `${'1'.repeat(100_000)}x`)).toBeUndefined();
  expect(performance.now() - start).toBeLessThan(100);
});

test.each(['1e999', '-1e999', '1e-999', '2.5e+20', `${'9'.repeat(30)}e99999…`])(
  'the refusal of %s quotes it as it was typed, and gives the range in the words of the page',
  (text) => {
    const message = `temperature: ${text} is not allowed; it must be a number from 1e-06 to 1e+12`;
    const words = `Temperature: ${text} is not allowed; it must be a number from 10⁻⁶ to 10¹²`;
    expect(inPageWords('temperature', message)).toBe(words);
  },
);

test('settings are told by labels and names of choices, without what is empty or of no use', () => {
  const { mean, tokens, correlation, brush } = defaults();
  const settings = {
    mean,
    variance: 0.5,
    tokens,
    correlation,
    brush,
    head: '',
    runs: 'none,locater',
  };
  expect(described({ ...settings, beta1: 0.9, experiment: 'regularizers' })).toBe(
    'Mean m: 0.25; Variance v: 0.5; Tokens: random walk; Runs: baseline and LocAteR; Adam β_1: 0.9; ' +
      'Experiment: regularizers',
  );
  expect(described({ tokens: 'ar1', correlation })).toBe(
    'Tokens: stationary AR(1); Correlation a: 0.9',
  );
});
