import { describe, expect, test } from 'vitest';
import {
  domainOf,
  lineVariances,
  otherTokens,
  sweepVariances,
  valueOn,
  type Lines,
} from '../../web/chapters/localize/answers';
import { othersText, otherTokensText, risesOf, titleOf } from '../../web/chapters/localize/lead/words';
import { localizeView } from '../../web/chapters/localize/state';
import { isInEveryRow } from '../../web/chapters/uses/lab-figure';
import { viewNames } from '../../web/chapters/views';
import { borders } from '../../web/charts/borders';
import { cellsAround, labelPlaces } from '../../web/charts/regions';
import { distinct, type Spot } from '../../web/heads/head-dots';
import { elementsIn, replaced } from '../../web/plugins/markup.mts';
import { chapterHtml } from '../../web/plugins/partials.mts';
import { limitsOf } from '../../web/state/control';
import { FIGURES, referTo } from '../../web/ui/registry';

test('the lead figure names the lines on which the index rises, and shades those of the first', () => {
  const lines = {
    measure: 'localization',
    means: [0.5, 0.1, 0.2],
    variances: [1, 10, 100],
    value: [0.5, 0.4, 0.1, 0.3, 0.1, 0.2, 0.4, 0.3, 0.3],
  } as unknown as Lines;
  expect(risesOf(lines)).toEqual([]);
  expect(risesOf(lines, 1)).toEqual([[10, 100]]);
  expect(othersText(lines)).toBe('L rises, against the claim, for m = 0.1 from v = 10 to 100.');
  const first = { ...lines, value: [0.4, 0.5, 0.1, ...lines.value.slice(3)] } as unknown as Lines;
  expect(risesOf(first)).toEqual([[1, 10]]);
  expect(othersText(first)).toBe('L rises, against the claim, for m = 0.1 from v = 10 to 100; only m = 0.5 is shaded.');
  expect(othersText({ ...lines, measure: 'entropy' })).toBe('');
});

test('the lead figure tells of which tokens its claim holds, and compares the others', () => {
  expect(otherTokens({ tokens: 'random-walk' })).toEqual(['normalized-walk', 'ar1']);
  expect(otherTokens({ tokens: 'ar1' })).toEqual(['random-walk', 'normalized-walk']);
  const lines = {
    measure: 'localization',
    means: [0.25],
    variances: [1, 10],
    value: Float64Array.of(0.5, 0.1),
    tokens: 'random-walk',
    others: [
      { tokens: 'normalized-walk', value: Float64Array.of(0.01, 0.027) },
      { tokens: 'ar1', value: Float64Array.of(0.003, NaN) },
    ],
  } as unknown as Lines;
  expect(otherTokensText(lines)).toBe(
    'With other tokens L is at most 0.027 (normalized random walk) and 0.003 (stationary AR(1)) at m = 0.25.',
  );
  expect(otherTokensText({ ...lines, measure: 'entropy' })).toBe('');
  expect(titleOf(lines, 0)).toBe('Localization of random-walk tokens falls with the variance');
  // Of two positions both pass alike, but for rounding.
  const flat = {
    ...lines,
    value: Float64Array.of(0, 0),
    others: [{ tokens: 'ar1', value: Float64Array.of(1e-16, 0) }],
  };
  expect(titleOf(flat as unknown as Lines, 0)).toBe('Here attention does not localize');
  expect(otherTokensText(flat as unknown as Lines)).toBe(
    'With other tokens L is at most 0 (stationary AR(1)) at m = 0.25.',
  );
  const normalized = { ...lines, tokens: 'normalized-walk' as const };
  expect(titleOf(lines, 72)).toBe('72 trained heads beside the theory');
  expect(titleOf(normalized, 0)).toBe('Localization falls with the variance');
  expect(titleOf({ ...normalized, value: Float64Array.of(0.004, 0.001) }, 0)).toBe('Here attention does not localize');
});

describe('the variances of the lead figure', () => {
  test('cover whole decades around where the logits meet the clips', () => {
    const [low, high] = domainOf(localizeView.defaults, []);
    expect([Math.log10(low), Math.log10(high)]).toEqual([-5, 2]);
    const { length } = lineVariances([low, high], 20);
    expect(length).toBe(141);
  });

  test('have the present one, where the slider goes beyond them', () => {
    const upTo = (variance: number) => domainOf({ ...localizeView.defaults, variance }, [])[1];
    expect([0.1, 100, 101, 10_000, 3e11, 1e12].map(upTo)).toEqual([100, 100, 1000, 10_000, 1e12, 1e12]);
    expect(domainOf({ ...localizeView.defaults, variance: 3e-7 }, [])[0]).toBeCloseTo(1e-7, 15);
  });

  test('stay within what the library allows, whatever the setting', () => {
    for (const temperature of [1e-6, 1, 1e6]) {
      for (const length of [2, 2048]) {
        const domain = domainOf({ ...localizeView.defaults, temperature, length, tokens: 'ar1' }, []);
        const variances = [...lineVariances(domain, 5), ...sweepVariances(domain)];
        expect(Math.max(...variances)).toBeLessThanOrEqual(limitsOf('variance').maximum);
        expect(Math.min(...variances)).toBeGreaterThan(0);
      }
    }
  });

  test('of the simulation are two a decade, at the same round places in every domain', () => {
    expect(sweepVariances([0.1, 10])).toEqual([0.1, 0.316, 1, 3.16, 10]);
    expect(sweepVariances([0.01, 10])).toEqual(expect.arrayContaining(sweepVariances([0.1, 10])));
  });

  test('have values on the line between its points', () => {
    const lines = {
      means: [1, 2],
      variances: [1, 10, 100],
      value: Float64Array.of(0, 1, 4, 8, 8, 8),
    } as unknown as Lines;
    expect(valueOn(lines, 0, 10)).toBeCloseTo(1, 12);
    expect(valueOn(lines, 0, Math.sqrt(10))).toBeCloseTo(0.5, 12);
    expect(valueOn(lines, 0, 1e9)).toBe(4);
    expect(valueOn(lines, 1, 50)).toBe(8);
  });
});

describe('the regions of the map', () => {
  const columns = 12;
  const rows = 10;
  // Two halves, and a strip of one column that is too thin for a name.
  const region = Uint8Array.from({ length: columns * rows }, (_, at) => {
    const column = at % columns;
    return column === 6 ? 7 : column < 6 ? 1 : 2;
  });
  const map = { columns, rows, region };
  const nothing = new Uint8Array(columns * rows);

  const small = (): [number, number] => [1, 1];
  const placesOf = (...asked: Parameters<typeof labelPlaces>) => {
    const steps = labelPlaces(...asked);
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
    }
  };

  test('are named inside, with all of the name', () => {
    const places = placesOf(map, 1, small, nothing);
    expect(places.map((place) => place.region).sort()).toEqual([1, 2]);
    for (const { region: own, column, row, fit } of places) {
      expect(region[row * columns + column]).toBe(own);
      expect(fit).toBe(1);
      expect(row).toBeGreaterThan(1);
      expect(row).toBeLessThan(rows - 2);
    }
  });

  test('are named away from a name that is already there', () => {
    const [first, second] = placesOf(map, 0, () => [6, 1], nothing);
    expect(Math.abs(first.row - second.row)).toBeGreaterThan(2);
    expect(first.fit).toBeLessThan(1);
  });

  test('are named clear of points where there is room, and over them where there is none', () => {
    const points = [
      { column: 2.4, row: 4.6 },
      { column: -3, row: 20 },
    ];
    const taken = cellsAround(map, points, [1, 3.5]);
    const cells = [...taken.keys()].filter((at) => taken[at] === 1);
    expect(new Set(cells.map((at) => at % columns))).toEqual(new Set([2, 3]));
    expect(new Set(cells.map((at) => Math.floor(at / columns)))).toEqual(new Set([2, 3, 4, 5, 6, 7, 8]));
    const [left] = placesOf(map, 0, () => [0, 0], taken).filter((it) => it.region === 1);
    expect(taken[left!.row * columns + left!.column]).toBe(0);
    const everywhere = new Uint8Array(columns * rows).fill(1);
    expect(placesOf(map, 1, small, everywhere).map(({ fit }) => fit)).toEqual([0, 0]);
  });

  const same = (edge: number) => edge;

  test('have borders only where the number changes', () => {
    const path = borders(map)(same, same);
    expect(path).toBe('M6,0L6,5L6,10M7,0L7,5L7,10');
  });

  test('have borders without the steps of the cells, but with corners', () => {
    const size = 60;
    const cells = (inside: (column: number, row: number) => boolean) => ({
      columns: size,
      rows: size,
      region: Uint8Array.from({ length: size * size }, (_, at) => Number(inside(at % size, Math.floor(at / size)))),
    });
    const points = (path: string) => path.match(/[\d.]+,[\d.]+/g)!.map((it) => it.split(',').map(Number));
    const slanted = points(borders(cells((column, row) => row + 0.5 < 0.13 * (column + 0.5)))(same, same));
    expect(slanted.length).toBeGreaterThan(10);
    for (const [x, y] of slanted) expect(Math.abs(y - 0.13 * x)).toBeLessThan(0.8);
    const square = points(borders(cells((x, y) => x >= 10 && x < 40 && y >= 20 && y < 50))(same, same));
    for (const corner of [
      [10, 20],
      [40, 20],
      [40, 50],
      [10, 50],
    ]) {
      expect(square).toContainEqual(corner);
    }
  });
});

describe('the page’s own elements', () => {
  test('are replaced whatever their attributes’ order, line breaks and quotes, and all else stays as written', () => {
    const html = `<p title='x-a' >a &lt; b<br></p>\n<x-a\n  two='2'\n  one="1 > 0 &amp; so on"\n><X-B></x-b> in </x-a ><td>`;
    const shown = replaced(html, {
      'x-a': ({ attributes, inner }) =>
        `[${attributes.one}|${attributes.two}|${replaced(inner, { 'x-b': () => 'b' })}]`,
    });
    expect(shown).toBe(`<p title='x-a' >a &lt; b<br></p>\n[1 > 0 & so on|2|b in ]<td>`);
  });

  test('must have an end tag', () => {
    expect(() => replaced('<p><x-a>text</p>', { 'x-a': () => '' })).toThrow(
      'every <x-a> must have an end tag: found one without',
    );
  });

  test('a computed number loses the comment that names it and gets a sign for its minus', () => {
    expect(replaced('from <!--=low runs-->-0.3 to -0.1 bits, x-y <!-- a note -->', {})).toBe(
      'from −0.3 to −0.1 bits, x-y <!-- a note -->',
    );
  });
});

describe('the registry of figures', () => {
  test('has each figure of the HTML once', () => {
    const html = viewNames.map((view) => chapterHtml(view)).join('');
    expect(FIGURES.length).toBe(html.match(/<x-figure\b/g)!.length);
    expect(new Set(FIGURES.map(({ id }) => id)).size).toBe(FIGURES.length);
  });

  test('each view opens with one to three sentences', () => {
    for (const view of viewNames) {
      const html = chapterHtml(view);
      const [, opening] = /<h1>[^]*?<p class="lede">([^]*?)<\/p>/.exec(html)!;
      const count = opening!.trim().split(/(?<=\.)\s+/).length;
      expect([1, 2, 3], view).toContain(count);
    }
  });

  test('no caption is longer than 45 words', () => {
    /** What a caption does not show beside controls and details: the text for another model or a picture, tags. */
    const hidden = [/<!--[^]*?-->/g, /<span data-(of="file"|reads="picture") hidden[^]*?<\/span\s*>/g, /<[^>]*>/g];
    for (const view of viewNames) {
      const figures = elementsIn(chapterHtml(view), 'x-figure');
      expect(figures.length).toBeGreaterThan(0);
      for (const { attributes, inner } of figures) {
        const shown = replaced(inner, { 'x-tools': () => '', 'x-task': () => '', 'x-details': () => '' });
        const caption = hidden.reduce((text, pattern) => text.replace(pattern, ''), shown).trim();
        expect(caption.split(/\s+/).length, attributes.name).toBeLessThanOrEqual(45);
      }
    }
  });

  test('no figure’s number is typed in the page', () => {
    for (const view of viewNames) {
      const html = chapterHtml(view);
      expect(html).not.toMatch(/figures?\s+\d/i);
    }
    expect(referTo('phase-map')).toBe('figure 2');
  });
});

test('heads of the sample are left out where the same heads of the opened checkpoint lie', () => {
  const spot = (key: string, head: number, x: number) =>
    ({ head: { model: { key }, stack: '', layer: 0, head }, x, y: 2 }) as unknown as Spot;
  const sample = [spot('sample', 0, 1), spot('sample', 1, 1), spot('sample', 2, 1)];
  const file = [spot('file', 0, 1.00001), spot('file', 1, 1.1)];
  expect(distinct(sample)).toEqual(sample);
  expect(distinct([...sample, ...file])).toEqual([sample[1], sample[2], ...file]);
});

test('a lab shows a new answer once each of its rows has a training run', () => {
  const rows = (...trainings: number[]) => ({ rows: trainings.map((it) => ({ trainings: it, loss: 1 })) });
  expect([rows(1, 0), rows(0, 0), rows(1, 1), { rows: [{ loss: 1 }] }, {}].map(isInEveryRow)).toEqual([
    false,
    false,
    true,
    true,
    true,
  ]);
});
