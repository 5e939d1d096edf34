// The findings of README.md and the tables of docs, against the commands beside them.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { json } from '../cli/eigenscope.ts';

const readme = readFileSync('README.md', 'utf8');
const notes = readFileSync('docs/theory-notes.md', 'utf8');

/** Expects that a document has a number with the digits that it shows. */
function expectWritten(text: string, value: number): void {
  expect(value.toFixed(text.split('.')[1]?.length ?? 0)).toBe(text);
}

/** The numbers that a pattern finds in the notes. */
function inNotes(pattern: RegExp): string[] {
  const found = pattern.exec(notes);
  if (!found) throw new Error(`docs/theory-notes.md has no ${pattern.source}`);
  return found.slice(1);
}

interface Row {
  theory_localization: number;
  theory_rho_mean: number;
  theory_entropy: number;
}

test('README: localization, level and entropy over the variance', () => {
  const { rows } = json('sweep', { mean: 0.25, variances: '0.001,30,10000' }) as { rows: Row[] };
  const [small, large, vast] = rows as [Row, Row, Row];
  const three = (value: number) => value.toFixed(3);
  expect(readme).toContain(
    `L ${three(small.theory_localization)} at v = 0.001, ${three(large.theory_localization)} at v = 30 (mean 0.25)`,
  );
  expect(readme).toContain(
    `mean of rho ${three(small.theory_rho_mean)} at v = 0.001, ${vast.theory_rho_mean.toFixed(4)} at v = 10000; ` +
      `row entropy ${three(small.theory_entropy)}, ${three(vast.theory_entropy)}`,
  );
});

test('README and docs/theory-notes.md: the mean keeps the residual of deep stacks, the variance decides on the entropy', () => {
  const stack = { tokens: 'normalized-walk', length: 64, depth: 24, stacks: 48 };
  const last = (mean: number, variance: number) => {
    const found = json('collapse', { ...stack, mean, variance }) as Record<string, number[][]>;
    const at = (name: string) => found[name]![0]!.at(-1)!;
    return { residual: at('residual'), error: at('residual_error'), entropy: at('entropy') };
  };
  const variances = [0.1, 10, 10_000];
  const held = variances.map((it) => last(1, it));
  const without = variances.map((it) => last(0, it));

  const [, from, to, flat] = /residual ([\d.]+) to ([\d.]+) with mean 1, ([\d.]+) with mean 0/.exec(
    readme,
  )!;
  const span = inNotes(/the residual is between ([\d.]+) and ([\d.]+) at all variances/);
  expect(span).toEqual([from, to]);
  for (const { residual, error } of held) {
    expect(residual).toBeGreaterThan(Number(from) - error);
    expect(residual).toBeLessThan(Number(to) + error);
  }
  const [first, end] = inNotes(/entropy falls from ([\d.]+) to ([\d.]+)\. Without/);
  expectWritten(first!, held[0]!.entropy);
  expectWritten(end!, held[2]!.entropy);
  const [few, many] = inNotes(
    /Without a mean the residual is ([\d.]+) up to v = 10; at v = 10\^4, .*, it is ([\d.]+) as well/,
  );
  expect(few).toBe(flat);
  expectWritten(few!, without[0]!.residual);
  expectWritten(few!, without[1]!.residual);
  expectWritten(many!, without[2]!.residual);
}, 120_000);

test('docs/theory-notes.md: level and entropy over the variance', () => {
  const table = /\| v \| L \|[^\n]*\n[^\n]*\n((?:\|[^\n]*\n)+)/.exec(notes)![1]!;
  const lines = table
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((it) => it.trim()));
  expect(lines.length).toBe(3);
  for (const [, variance, localization, rho, entropy] of lines) {
    const at = { mean: 0.25, variance: Number(variance!.replace('10^4', '10000')) };
    const theory = json('propagation', at);
    const sampled = json('simulate', at);
    expectWritten(localization!, theory.localization);
    expectWritten(rho!, theory.rho_mean);
    expect(Math.abs(sampled.entropy - Number(entropy))).toBeLessThan(
      4 * sampled.entropy_error + 0.5 * 10 ** -entropy!.split('.')[1]!.length,
    );
  }
});

test('docs/theory-notes.md: a zero mean, and the limit of large variance', () => {
  const [index, entropy] = inNotes(
    /at m = 0, v = 0\.01 L is ([\d.]+), but the row entropy is ([\d.]+)/,
  );
  const zero = { mean: 0, variance: 0.01 };
  expectWritten(index!, json('propagation', zero).localization);
  const sampled = json('simulate', zero);
  expect(Math.abs(sampled.entropy - Number(entropy))).toBeLessThan(
    4 * sampled.entropy_error + 0.005,
  );

  const [limit, short] = inNotes(/index of 1\/s: ([\d.]+) for T from 24 on \(([\d.]+) at T = 8\)/);
  const [small, medium, large] = inNotes(
    /v = 10 it is ([\d.]+) for m near 0, ([\d.]+) for m = 0\.25 and ([\d.]+) for m = 1/,
  );
  const indexAt = (length: number, mean: number, variance: number) =>
    json('propagation', { length, mean, variance }).localization;
  for (const length of [24, 48, 256]) expectWritten(limit!, indexAt(length, 0.25, 1e9));
  expectWritten(limit!, indexAt(24, 1, 1e9));
  expectWritten(short!, indexAt(8, 0.25, 1e9));
  expectWritten(small!, indexAt(24, 1e-4, 10));
  expectWritten(medium!, indexAt(24, 0.25, 10));
  expectWritten(large!, indexAt(24, 1, 10));
});

test('docs/theory-notes.md: entropy of a row of independent logits', () => {
  const table = /\| s, at T = 128 \|[^\n]*\n[^\n]*\n((?:\|[^\n]*\n)+)/.exec(notes)![1]!;
  const lines = table.trim().split('\n');
  const drawn = { lengths: '128', logit_stds: '1,2,3', samples: 100_000 };
  const { rows } = json('row-entropy', drawn) as { rows: Record<string, number>[] };
  expect(lines.length).toBe(rows.length);
  rows.forEach(({ logit_std, limit_entropy, theory_entropy, entropy }, i) => {
    const [s, limit, exact, simulated] = lines[i]!.split('|')
      .slice(1)
      .map((it) => it.trim());
    expect(Number(s)).toBe(logit_std);
    expectWritten(limit!, limit_entropy!);
    expectWritten(exact!, theory_entropy!);
    expectWritten(simulated!, entropy!);
  });
});
