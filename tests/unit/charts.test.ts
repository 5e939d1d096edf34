import { expect, test, vi } from 'vitest';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { pathOf } from '../../web/charts/contour';
import { count, decade, fixed, listed, padded, short, tick, subscriptParts } from '../../web/charts/format';
import { fieldRamp, layerColour, parts } from '../../web/charts/palette';
import { csvOf, jsonOf, linesOf, wrapped } from '../../web/charts/files';
import { citationOf } from '../../web/charts/provenance';
import { VERSION, YEAR } from '../../web/generated/version';
import type { Table } from '../../web/charts/table';
import { withError } from '../../web/charts/with-error';
import { aboveText, panelsOf, rangeOf, settled } from '../../web/chapters/train/runs/panels';

test.each([
  [0.1234567, '0.123'],
  [-2.5, '−2.5'],
  [0, '0'],
  [123456, '1.23·10⁵'],
  [0.00001, '1·10⁻⁵'],
  [-4.5e-12, '−4.5·10⁻¹²'],
  [Infinity, '∞'],
  [-Infinity, '−∞'],
  [NaN, 'none'],
  [null, 'none'],
])('%d is shown as %s', (value, text) => {
  expect(short(value)).toBe(text);
});

test.each([
  [1.2345, 0.07, '1.23 ± 0.14'],
  [0.000505, 0.00065, '0.0005 ± 0.0013'],
  [-3.14159, 12, '−3 ± 24'],
  [0.5, 0, '0.5'],
  [0.9992, 0.000375, '0.99920 ± 0.00075'],
  [0.05, 0.0079, '0.050 ± 0.016'],
  [1e-25, 2e-27, '1·10⁻²⁵ ± 4·10⁻²⁷'],
  [0.25, NaN, '0.25'],
  [0.25, null, '0.25'],
])('%d with the standard error %d is shown as %s', (value, error, text) => {
  expect(withError(value, error)).toBe(text);
});

test('ticks of a logarithmic axis are plain near 1 and powers of ten elsewhere', () => {
  expect([0.001, 0.01, 1, 100, 1000, 0.02, 0, -1, Infinity, NaN].map(decade)).toEqual([
    '10⁻³',
    '0.01',
    '1',
    '100',
    '10³',
    '',
    '',
    '',
    '',
    '',
  ]);
});

test('a letter after a symbol is a subscript, one in the name of a file is not', () => {
  expect(subscriptParts('√η_F/λ of W_QK, ‖A‖_F and ||W||_F')).toEqual([
    '√η',
    'F',
    '/λ of W',
    'QK',
    ', ‖A‖',
    'F',
    ' and ||W||',
    'F',
    '',
  ]);
  for (const name of ['run_a.safetensors', 'a_b.safetensors', 'pytorch_model.bin', 'layer_2_h', 'model.w_q.weight']) {
    expect(subscriptParts(`${name}: 12 heads`)).toEqual([`${name}: 12 heads`]);
  }
});

test('numbers that stand side by side keep their zeros', () => {
  expect([3.4999, 11.26, 104].map(padded)).toEqual(['3.50', '11.3', '104']);
});

test('ticks have no rounding noise, and thousands a comma', () => {
  expect(tick(0.1 + 0.2)).toBe('0.3');
  expect(tick(-1)).toBe('−1');
  expect(count(1234567)).toBe('1,234,567');
  expect([short(12_345), padded(12_345), fixed(-1234.5, 1), tick(1000)]).toEqual([
    '12,300',
    '12,300',
    '−1,234.5',
    '1,000',
  ]);
});

const origin = {
  title: 'Figure 1. Localization',
  caption: 'One\n line of caption.',
  link: 'https://a.host/#m=0.25',
  settings: 'Mean m: 0.25, Seed: 1',
  parameters: { mean: 0.25, seed: 1 },
};

test('the text under an exported chart breaks at spaces, and a link anywhere', () => {
  expect(wrapped('one two three', 7)).toEqual(['one two', 'three']);
  expect(wrapped('https://a.host/', 8)).toEqual(['https://', 'a.host/']);
  expect(linesOf({ ...origin, caption: '', settings: '' })).toEqual([
    origin.title,
    origin.link,
    `Eigenscope ${VERSION}`,
  ]);
});

test('a citation has the version, the figure and its link', () => {
  expect(citationOf(origin)).toBe(
    '@software{eigenscope,\n' +
      '  author  = {{The Eigenscope authors}},\n' +
      '  title   = {{Eigenscope}: when does attention localize?},\n' +
      `  year    = {${YEAR}},\n` +
      `  version = {${VERSION}},\n` +
      '  note    = {Figure 1. Localization},\n' +
      '  url     = {https://a.host/#m=0.25}\n}\n',
  );
});

test('CSV keeps every digit, leaves nothing where there is none, and quotes what needs it', async () => {
  const table = {
    columns: ['a', 'b,c'],
    rows: [
      [1 / 3, null],
      ['say "so"', 1e-300],
    ],
  };
  const text = await csvOf(table, origin).text();
  const [title, caption, settings, link, version, ...lines] = text.split('\n');
  expect([title, caption]).toEqual(['# Figure 1. Localization', '# One line of caption.']);
  expect([settings, link, version]).toEqual([
    '# Mean m: 0.25, Seed: 1',
    '# https://a.host/#m=0.25',
    `# Eigenscope ${VERSION}`,
  ]);
  expect(lines.join('\n')).toBe('a,"b,c"\n0.3333333333333333,\n"say ""so""",1e-300\n');
});

test('names from a file are no formulas and no control characters in CSV', async () => {
  const names = ['=HYPERLINK("http://x","y")', '+1', '-1', '@a', '\ta', 'a\u001b[2J\u009b\u007f', 'a=b'];
  const text = await csvOf({ columns: ['head', 'number'], rows: names.map((name) => [name, -1]) }, origin).text();
  expect(text.split('\n').slice(6, -1)).toEqual([
    '"\'=HYPERLINK(""http://x"",""y"")",-1',
    "'+1,-1",
    "'-1,-1",
    "'@a,-1",
    "'\ta,-1",
    'a\ufffd[2J\ufffd\ufffd,-1',
    'a=b,-1',
  ]);
});

test('cells of a grid are rows in CSV; JSON has axes and arrays once, floats with their own digits', async () => {
  const table = {
    columns: ['kind', 'x', 'y', 'value', 'regime', 'head'],
    rows: [['head', 0.5, 2, null, null, '1.2']],
    grid: {
      kind: 'cell',
      axes: [
        { name: 'y', at: [1, 2] },
        { name: 'x', at: [0, 0.1] },
      ],
      values: { value: Float32Array.of(0.1, NaN, 0.3, 1) },
      choices: { regime: { index: [0, 1, 1, 0], names: ['late', 'early'] } },
    },
  } as const satisfies Table;
  const csv = (await csvOf({ ...table, columns: [...table.columns] }, origin).text()).split('\n');
  expect(csv.slice(5)).toEqual([
    'kind,x,y,value,regime,head',
    'cell,0,1,0.100000001,late,',
    'cell,0.1,1,,early,',
    'cell,0,2,0.300000012,early,',
    'cell,0.1,2,1,late,',
    'head,0.5,2,,,1.2',
    '',
  ]);
  expect(Math.fround(Number(csv[6].split(',')[3]))).toBe(Math.fround(0.1));
  const { grid, rows, columns, ...told } = JSON.parse(
    await jsonOf({ ...table, columns: [...table.columns] }, origin).text(),
  );
  expect(told).toEqual({ ...origin, version: VERSION });
  expect(columns).toEqual(table.columns);
  expect(rows).toEqual([['head', 0.5, 2, null, null, '1.2']]);
  expect(grid.axes[1]).toEqual({ name: 'x', at: [0, 0.1] });
  expect(grid.values.value).toEqual([0.100000001, null, 0.300000012, 1]);
  expect(grid.values.regime).toEqual({ names: ['late', 'early'], index: [0, 1, 1, 0] });
});

/** Contrast of two colours as WCAG defines it. */
function contrast(a: number[], b: number[]): number {
  const luminance = (rgb: number[]) => {
    const [red, green, blue] = rgb.map((it) => {
      const part = it / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
  };
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high! + 0.05) / (low! + 0.05);
}

/** The colours of the style sheet whose names match, light or dark. */
function coloursOf(name: RegExp, dark: boolean): number[][] {
  const styles = readFileSync('web/styles/base.css', 'utf8');
  return [...styles.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)/g)]
    .filter(([, it]) => name.test(it!))
    .map((found) => [1, 3, 5].map((at) => parseInt(found[dark ? 3 : 2]!.slice(at, at + 2), 16)));
}

test.each([false, true])('every layer has a contrast of 3 with the paper, dark: %s', (dark) => {
  const [paper] = coloursOf(/^paper$/, dark);
  for (const count of [2, 6, 32]) {
    for (let layer = 0; layer < count; layer++) {
      const colour = layerColour(layer, count, dark).match(/\d+/g)!.map(Number);
      expect(contrast(colour, paper!), `layer ${layer} of ${count}`).toBeGreaterThanOrEqual(3);
    }
  }
});

test.each([false, true])('parts of a sum stand out from the paper and from each other, dark: %s', (dark) => {
  const [paper] = coloursOf(/^paper$/, dark);
  const colours = coloursOf(/^part-\d$/, dark);
  expect(colours).toHaveLength(parts.length);
  for (const [i, colour] of colours.entries()) {
    expect(contrast(colour, paper!), `part ${i + 1}`).toBeGreaterThanOrEqual(3);
    if (i > 0) expect(contrast(colour, colours[i - 1]!), `${i}, ${i + 1}`).toBeGreaterThan(1.4);
  }
});

test('the axis of the loss leaves out the first tenth of the steps, and says how far up they lie', () => {
  const [loss] = panelsOf('variance');
  const points = Array.from({ length: 21 }, (_, i): [number, number] => [10 * i, 3 + 5 / (1 + i)]);
  const top = rangeOf(loss!, settled(points))[1];
  expect(top).toBeGreaterThan(points[3]![1]);
  expect(top).toBeLessThan(points[0]![1]);
  expect(aboveText(top, [...points, [210, NaN]])).toBe('above this axis: up to 8');
  expect(aboveText(top, settled(points))).toBe('');
});

test('the largest cell of a matrix stands out from an empty one, in light and in dark', () => {
  for (const theme of ['light', 'dark']) {
    vi.stubGlobal('document', { documentElement: { dataset: { theme } } });
    const ramp = fieldRamp();
    expect(contrast(ramp(0), ramp(1)), theme).toBeGreaterThan(9);
    expect(contrast(ramp(0), ramp(0.5)), theme).toBeGreaterThan(2);
  }
  vi.unstubAllGlobals();
});

test('contours are drawn as d3-geo draws them', async () => {
  const { geoPath } = await import(pathToFileURL(createRequire(import.meta.url).resolve('d3-geo')).href);
  const ring = (by: number) => [[by, 0], [by + 1.23456, 0], [by, 2.00049], [by, 0]]; // prettier-ignore
  const coordinates = [[ring(0), ring(0.25)], [ring(7)]];
  expect(pathOf(coordinates, ([x, y]) => [x!, y!])).toBe(geoPath()({ type: 'MultiPolygon', coordinates }));
});

test('numbers that are listed side by side have the same digits, and what is none is named', () => {
  expect([3.6, 3.59, 0.94, 0, NaN, Infinity].map(listed)).toEqual(['3.60', '3.59', '0.940', '0', 'none', '∞']);
});
