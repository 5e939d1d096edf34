// `eigenscope train`: comparisons, options from a file, refusals.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { expectRefused, json, MINILM, root, run, temporaryFolder } from './eigenscope.ts';

describe('eigenscope train', () => {
  const folder = temporaryFolder();
  const file = (name: string, content: string) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const text = file('text.txt', 'It was the best of times,\nit was the worst of times.\n'.repeat(40));
  const small = { text, width: 8, depth: 1, heads: 2, length: 8, batch: 2, steps: 4, log_every: 2, eval_batches: 1 };

  test('leaves a checkpoint whose heads can be measured and predicted on a text', () => {
    const out = join(folder, 'measured');
    expect(run('train', { ...small, out }).status).toBe(0);
    const model = join(out, 'none-seed1');
    const { passages, heads } = json('attend', { text: 'It was.' }, model);
    expect(passages[0].tokens.slice(0, 3)).toEqual(['I', 't', '\u0120']);
    expect(heads).toHaveLength(2);
    const { summary, level } = json('predict', { file: text, length: 8, passages: 4 }, model);
    expect(level.length).toBeGreaterThan(7);
    expect(summary).toHaveLength(level.length + 2); // the ceiling and the null too
  });

  test.each(['learned', 'rotary'])(
    'leaves a checkpoint with %s positions whose attention is that of the run',
    (positions) => {
      const out = join(folder, `positions-${positions}`);
      expect(run('train', { ...small, positions, steps: 20, out }).status).toBe(0);
      const model = join(out, 'none-seed1');
      const prompt = 'was the';
      const trained: number[][][][] = json('run-attention', {
        checkpoint: join(model, 'model.safetensors'),
        prompt,
      }).weights;
      const { weights } = json('attend', { text: prompt }, model, '--weights');
      expect(weights).toHaveLength(2);
      weights.forEach((found: { weights: number[][] }, head: number) => {
        const expected = trained[0]![head]!.flat();
        found.weights.flat().forEach((weight, i) => expect(weight).toBeCloseTo(expected[i]!, 5));
      });
      const rotary = json('heads', {}, model).heads.map((it: { rotary: boolean }) => it.rotary);
      expect(rotary).toEqual([positions === 'rotary', positions === 'rotary']);
    },
  );

  test('keeps the weights at steps as checkpoints, whose heads name their step', () => {
    const out = join(folder, 'steps');
    const { stdout } = run('train', { ...small, steps: 10, step_weights: 4, out }, '--csv');
    expect(stdout).toBe(run('train', { ...small, steps: 10, out: join(folder, 'plain') }, '--csv').stdout);
    const { heads } = json('heads', {}, join(out, 'none-seed1', 'steps'), join(out, 'none-seed1'));
    expect(heads.map((it: { step: number }) => it.step)).toEqual([0, 0, 4, 4, 8, 8, 10, 10]);
    expect(heads[0].model).toBe(join(out, 'none-seed1', 'steps', 'step00'));
    expect(new Set(heads.map((it: { variance: number }) => it.variance)).size).toBe(8);
    expect(json('heads', {}, MINILM).heads[0].step).toBeNull();
    expect(run('train', { ...small, step_weights: 4 }).stderr).toContain('--step-weights must be given with --out');
  });

  test('leaves a LLaMA-like checkpoint, whose rotary base is compared with the measured decay', () => {
    const out = join(folder, 'rotary');
    const kind = { normalization: 'rms', mlp_kind: 'gated', positions: 'rotary' };
    const exported = { ...kind, linear_bias: 'without', export: 'f32', out };
    expect(run('train', { ...small, ...exported }).status).toBe(0);
    const model = join(out, 'none-seed1', 'export');
    const found = json('predict', { file: text, length: 8, passages: 4 }, model);
    const names = found.summary.map((row: { name: string }) => row.name);
    expect(names).toEqual([...found.name, 'rotary-base', 'ceiling', 'null']);
    const row = found.summary.at(-3);
    expect([row.entropy_pairs, row.decay_pairs, row.decay_rank_correlation]).toEqual([0, 2, null]);
    const [first, second] = found.measured_decay.map((it: number) => Math.abs(it - found.rotary_decay));
    expect(row.decay_mean_absolute_error).toBeCloseTo((first + second) / 2, 12);
  });

  test('compares regularizers run by run, and evaluates with interventions', () => {
    const several = { ...small, regularizer: 'none,qk-decay', seeds: 3, intervention: 'hard,tame' };
    const { runs, table } = json('train', several);
    expect(runs.map((run: { seed: number }) => run.seed)).toEqual([1, 2, 3, 1, 2, 3]);
    expect(runs[0].rows.map((row: { step: number }) => row.step)).toEqual([0, 2, 4]);
    expect(runs[0].with_hard.entropy).toBe(0);
    expect(runs[0].with_tame.bits_per_byte).toBeGreaterThan(0);
    const bits = table.filter((row: { measure: string }) => row.measure === 'bits_per_byte');
    expect(bits.map((row: { regularizer: string }) => row.regularizer)).toEqual(['none', 'qk-decay']);
    expect(bits[0].p).toBeNull();
    expect(bits[1].runs).toBe(3);
    expect(bits[1].p).toBeGreaterThanOrEqual(0);
    expect(bits[1].difference).toBeCloseTo(bits[1].mean - bits[0].mean, 12);
  });

  test('prints the attention of the trained models on a prompt, as run-attention does', () => {
    const [prompt, out] = ['the whale', join(folder, 'prompted')];
    const { runs } = json('train', { ...small, prompt, out });
    const checkpoint = join(out, 'none-seed1', 'model.safetensors');
    const expected = json('run-attention', { checkpoint, prompt });
    const { tokens, weights } = runs[0].attention;
    expect(tokens).toEqual(expected.tokens.map(({ token }: { token: string }) => token));
    expect(weights.flat(4)).toEqual(expected.weights.flat(4));
    expectRefused(run('train', { ...small, prompt: 'a' }), 'prompt must have at least two tokens');
    expectRefused(run('train', { ...small, prompt }, '--csv'), 'prompt must be omitted with --csv');
  });

  test('reads a file of options, which flags override', () => {
    const config = file('config.json', JSON.stringify({ ...small, seed: 9, layer_norm: 'post' }));
    const { runs } = json('train', { config, steps: 2 });
    expect(runs[0].seed).toBe(9);
    expect(runs[0].rows.at(-1).step).toBe(2);
    expect(runs[0].rows).toEqual(json('train', { ...small, seed: 9, layer_norm: 'post', steps: 2 }).runs[0].rows);
    expectRefused(run('train', { config: file('unknown.json', '{"widht": 8}') }), "has 'widht'");
    expect(run('train', { config: file('bad.json', '[1') }).status).toBe(1);
  });

  test('reads the grid with which the published comparison was tuned', () => {
    const grid = { ...JSON.parse(readFileSync(join(root, 'docs/grids/tune.grid.json'), 'utf8')), text };
    // A share without cells reads the grid and trains nothing.
    const options = { grid: file('tune.json', JSON.stringify(grid)), out: join(folder, 'tune') };
    expect(run('train', { ...options, shard: '51/51' })).toMatchObject({ status: 0, stderr: '' });
  });

  test('refuses settings before it reads the text', () => {
    expect(run('train', { text: '/nonexistent', width: 10, heads: 3 }).stderr).toContain(
      '--heads must divide the width: width 10, heads 3',
    );
  });

  test.each([
    [{ text: '/nonexistent' }, 1, 'there is no such file'],
    [{ text: file('empty.txt', '') }, 2, '--text must have text to learn: it is empty'],
    [{ text: file('one.txt', 'a') }, 2, 'in its last tenth, for validation: found 1 bytes'],
    [{ text: file('short.txt', 'abc'.repeat(5)) }, 2, 'must have at least 17'],
    [{ validation: '/nonexistent' }, 1, 'validation: /nonexistent: there is no such file'],
    [{ validation: file('few.txt', 'a'.repeat(8)) }, 2, '--validation must have at least '],
    [
      { validation: file('unknown.txt', 'never read '.repeat(9)), tokenizer: 'words' },
      2,
      '--validation must have a word that occurs in the training text',
    ],
    [{ regularizer: 'none,nonsense' }, 2, 'none, locater, locater-frobenius'],
    [{ heads: 3 }, 2, '--heads must divide the width'],
    [{ tokenizer: 'letters' }, 2, 'bytes, words'],
    [{ layer_norm: 'none' }, 2, 'pre, post'],
    [{ intervention: 'soft' }, 2, 'none, hard, tame'],
  ])('%j is refused', (change, status, message) => {
    const ran = run('train', { ...small, ...change });
    expect(ran.stderr).toContain(message);
    expect(ran.status).toBe(status);
    expect(ran.stdout).toBe('');
  });

  test('goes on only with a run of the same settings', () => {
    const out = join(folder, 'same');
    expect(run('train', { ...small, out }).status).toBe(0);
    expectRefused(
      run('train', { ...small, out, width: 16 }, '--resume'),
      '--width must be that of the resumed run, 8: found 16',
    );
    const other = file('other.txt', 'it was the age of foolishness, '.repeat(99));
    expectRefused(
      run('train', { ...small, out, text: other }, '--resume'),
      '--text must be that of the resumed run: its tokens differ',
    );
  });

  test('evaluates on a validation text of its own, and goes on only with the same', () => {
    const validation = file('validation.txt', 'it was the age of wisdom, '.repeat(9));
    const out = join(folder, 'validation');
    const options = { ...small, tokenizer: 'words', min_count: 1 };
    const own = json('train', { ...options, validation, out });
    const bits = (found: typeof own) => found.runs[0].bits_per_byte;
    expect(bits(own)).not.toBe(bits(json('train', { ...options, out: join(folder, 'tenth') })));
    expect(bits(json('train', { ...options, validation, out }, '--resume'))).toBe(bits(own));
    expectRefused(
      run('train', { ...options, out }, '--resume'),
      `--validation must be that of the resumed run, ${validation}: found the last tenth of the text`,
    );
  });
});
