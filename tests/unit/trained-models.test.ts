// docs/trained-models.md must say what its results file holds.
import { expect, test } from 'vitest';
// @ts-expect-error a script without types
import { page, results, tables } from '../../docs/results/trained-models.mjs';
// @ts-expect-error a script without types
import { rewritten } from '../../docs/results/tables.mjs';

interface Row {
  name: string;
  level: number | null;
  entropy_rank_correlation: number;
  entropy_mean_absolute_error: number;
}
interface Result {
  name: string;
  bits_per_byte: number;
  heads: { layer: number; induction: number; sink: number }[];
  predictions: { source: string; summary: Row[] }[];
}
const models = results() as Result[];
const largest = (model: Result, score: 'induction' | 'sink') =>
  Math.max(...model.heads.map((head) => head[score]));
const errors = (model: Result, source: string) =>
  Object.fromEntries(
    model.predictions
      .find((it) => it.source === source)!
      .summary.map((row) => [row.name, row.entropy_mean_absolute_error]),
  ) as Record<string, number>;

test('every table of the page is that of the results', () => {
  expect(rewritten(page(), tables(models))).toBe(page());
});

test('induction heads appear with repeated text only, and no attention sinks', () => {
  const [gpt2, llama, repeated, strongest] = models as [Result, Result, Result, Result];
  for (const model of [gpt2, llama]) {
    expect(largest(model, 'induction')).toBeLessThan(0.03);
    for (const it of [repeated, strongest]) {
      expect(it.bits_per_byte).toBeLessThan(0.8 * model.bits_per_byte);
    }
  }
  for (const layer of [1, 2]) {
    const scores = repeated.heads.filter((it) => it.layer === layer).map((it) => it.induction);
    expect(Math.max(...scores)).toBeGreaterThan(3 * 0.021);
  }
  const late = strongest.heads.filter((it) => it.layer > 0).map((it) => it.induction);
  const strong = late.filter((it) => it > 10 * 0.021).map((it) => it.toFixed(3));
  expect(late).toHaveLength(8);
  expect(strong).toHaveLength(7);
  const [least, most] = [strong.sort()[0], strong.sort().at(-1)];
  expect(page()).toContain(
    `seven of the eight heads of these layers have scores of ${least} to ${most}`,
  );
  for (const model of models) expect(largest(model, 'sink')).toBeLessThan(0.15);
});

test('a text predicts every model, independent bytes none', () => {
  expect(models).toHaveLength(4);
  for (const model of models) {
    const text = errors(model, 'text');
    expect(text.keys).toBeGreaterThan(0.01);
    expect(text.keys).toBeLessThan(0.034);
    expect(text.sequences).toBeCloseTo(text.ceiling!, 12);
    if (model.name.startsWith('LLaMA')) {
      expect(text.mean).toBeLessThan(0.0305);
      for (const level of ['isotropic', 'spectrum', 'covariance']) {
        expect(text[level]).toBeGreaterThan(text.null!);
      }
    }
    for (const source of ['Zipf', 'Zipf, order of the embeddings', 'uniform']) {
      const own = errors(model, source);
      const known = ['mean', 'sink', 'position', 'separator', 'neighbours'];
      const real = ['keys', 'mean-field', 'sequences'];
      for (const level of model === models[3] ? real : [...known, ...real]) {
        expect(own[level]).toBeGreaterThan(own.null!);
      }
    }
  }
});

test('independent bytes order the heads of the model with the strongest induction heads', () => {
  const rows = models[3]!.predictions
    .filter(({ source }) => source !== 'text')
    .flatMap(({ summary }) => summary.filter(({ level }) => level !== null && level > 2));
  expect(rows).toHaveLength(3 * 8);
  const ends = (values: number[]) =>
    `${Math.min(...values).toFixed(3)} to ${Math.max(...values).toFixed(3)}`;
  const ranks = ends(rows.map((row) => row.entropy_rank_correlation));
  const real = rows.filter(({ level }) => level! > 7).map((row) => row.entropy_mean_absolute_error);
  const constant = errors(models[3]!, 'uniform').null!.toFixed(3);
  expect(page()).toContain(`(rank correlation ${ranks} from level 3 on)`);
  expect(page()).toContain(
    `their error, ${ends(real)}, is above that of a constant too, ${constant}`,
  );
});
