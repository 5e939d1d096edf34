// The folder that HeadVis shows, against what `attend` gives of the same passages.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BOOK, expectRefused, json, MINILM, run, temporaryFolder } from './eigenscope.ts';

const folder = temporaryFolder();
const read = (path: string) => JSON.parse(readFileSync(join(folder, 'data', path), 'utf8'));
const rounded = (value: number) => Math.round(value * 1e4) / 1e4;

interface Sequence {
  sequence_id: number;
  interval: number;
  tokens: string[];
  attention_indices: number[];
  attention_values: number[];
  seq_len: number;
  max_activation: number;
}

test('the folder has the measures of every head and its passages by their largest weight', () => {
  const text = { file: BOOK, length: 16, passages: 25 };
  const { status, stderr } = run('headvis', { ...text, to: join(folder, 'data') }, MINILM);
  expect([status, stderr.split('\n').length]).toEqual([0, 2]);
  const { heads, weights, passages } = json('attend', text, MINILM, '--weights');

  const config = read('config.json');
  expect(config.heads).toEqual(heads.map((it: { layer: number; head: number }) => [it.layer, it.head]));
  expect([config.n_layers, config.n_heads, config.n_intervals, config.has_umap]).toEqual([6, 12, 10, false]);
  expect(Object.keys(config.metric_descriptions)).toEqual(config.metrics);
  expect(config.metrics).toContain('induction');
  expect(config.metrics).not.toContain('learned_sink'); // null
  for (const [i, point] of read('scatter_data.json').entries()) {
    for (const metric of ['layer', 'head', ...config.metrics]) expect(point[metric]).toBe(rounded(heads[i][metric]));
  }

  expect(readdirSync(join(folder, 'data', 'heads'))).toHaveLength(heads.length);
  const head = read('heads/L2H5.json');
  const sequences: Sequence[] = head.sequences;
  expect(sequences.map((it) => it.sequence_id).sort((a, b) => a - b)).toEqual(
    passages.map((_: unknown, i: number) => i),
  );
  const largest = sequences.map((it) => it.max_activation);
  expect(largest).toEqual([...largest].sort((a, b) => b - a));
  expect([...new Set(sequences.map((it) => it.interval))]).toEqual([10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
  for (const it of sequences) {
    const { weights: matrix } = weights.find(
      (own: { passage: number; layer: number; head: number }) =>
        own.passage === it.sequence_id && own.layer === 2 && own.head === 5,
    );
    expect(it.tokens).toEqual(passages[it.sequence_id].tokens);
    const kept = it.attention_indices.map((place) => matrix[Math.floor(place / 16)][place % 16]);
    expect(it.attention_values).toEqual(kept.map(rounded));
    for (let query = 0; query < 16; query++) {
      const row = kept.filter((_, i) => Math.floor(it.attention_indices[i]! / 16) === query);
      const all = [...matrix[query]].sort((a, b) => b - a).slice(0, 8);
      expect(row).toEqual(all.filter((weight) => weight >= 0.005));
    }
    const others = matrix
      .slice(1)
      .flatMap((row: number[], i: number) => row.filter((_, key) => key > 0 && key !== i + 1));
    expect(it.max_activation).toBe(rounded(Math.max(...others)));
  }
  const sum = (values: number[]) => values.reduce((a, b) => a + b, 0);
  expect(sum(head.qk_distance_histogram.bin_values)).toBe(sum(sequences.map((it) => it.attention_values.length)));
  expect(head.histogram.bin_edges).toHaveLength(head.histogram.bin_values.length + 1);
  expect(head.statistics).toEqual({ n_samples: 25, mean_max_activation: expect.closeTo(sum(largest) / 25, 3) });
  const queries = new Map<string, number>();
  for (const it of sequences)
    it.attention_indices.forEach((place, i) => {
      const token = it.tokens[Math.floor(place / 16)]!;
      queries.set(token, (queries.get(token) ?? 0) + it.attention_values[i]!);
    });
  const [first] = [...queries].sort(([, a], [, b]) => b - a);
  expect(head.top_query_tokens[0]).toEqual({ token: first![0], weight: expect.closeTo(first![1], 3) });
});

test('a folder with files is left as it is', () => {
  const used = join(folder, 'used');
  mkdirSync(used);
  writeFileSync(join(used, 'note.txt'), 'mine');
  expectRefused(
    run('headvis', { text: 'a b', to: used }, MINILM),
    /--to must name a folder that is empty or not there/,
  );
  expect(readdirSync(used)).toEqual(['note.txt']);
  expectRefused(run('headvis', { text: 'a b' }, MINILM), /--to must be given/);
});
