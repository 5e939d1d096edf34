// Controls change the numbers of the figure beside which they stand: one of each kind. What the others change
// in a training run or a lab is tested in tests/unit/job-inputs.test.ts; labs compute other settings in uses.test.ts.
import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { VIEWS, type ViewName } from '../../web/chapters/views';
import { sliderOf, type Controls, type NumberControl } from '../../web/state/control';
import { entryOf, figuresOf, type FigureId } from '../../web/ui/registry';
import {
  browser,
  caption,
  exported,
  go,
  host,
  openBrowser,
  openMore,
  openTable,
  saved,
  settled,
  unfold,
  visit,
} from './browser';
import { enter, openModel } from './gestures';
import { trainedModel } from './trained';

openBrowser();

/** States that are soon computed, and those in which controls are of use that are not always there. */
const BASES = {
  localize: {
    base: 'samples=100&length=16&width=16&temperature=4&detail=all',
    more: {
      head_width: 'ensemble=factored&head_width=4',
      eigenvalues: 'ensemble=list&eigenvalues=2,1,0,-1',
      correlation: 'tokens=ar1',
      query: 'queries=one&query=8',
      window: 'mask=window',
      blocks: 'mask=blocks',
      prefix: 'mask=blocks',
      selected: 'mask=blocks&selected=2',
    },
  },
  collapse: {
    base: 'depth=3&stacks=2&length=16&width=16&temperature=4&residual_weight=0.5&mean=1&layer=2',
    more: {
      head_width: 'ensemble=factored&head_width=4',
      eigenvalues: 'ensemble=list&eigenvalues=2,1,0,-1',
      correlation: 'tokens=ar1',
      window: 'mask=window',
      blocks: 'mask=blocks',
      prefix: 'mask=blocks',
      selected: 'mask=blocks&selected=2',
      shear: 'values=shear',
      norm: 'layer_norm=pre',
      rows: 'mask=blocks',
    },
  },
  uses: { base: 'sequences=16', more: { relevant: 'angles=3', spectrum_variance: 'angles=3' } },
} as const;

/** Everything that a figure says in numbers. */
async function numbersOf(page: Page, id: FigureId): Promise<string> {
  await settled(page, id);
  if (entryOf(id).chapter === 'localize') await openMore(page);
  const handles = page.locator(`#figure-${id} .handle`);
  const points = await handles.evaluateAll((all) => all.map((it) => it.getAttribute('aria-valuetext')));
  const rows = (await exported(page, id, 'csv')).toString();
  return [await caption(page, id), ...points, rows].join('\n');
}

/** Opens what a chapter folds away: further controls, and figures, but those of which only one can be open. */
async function unfolded(page: Page, chapter: ViewName): Promise<void> {
  await page
    .locator(`#${chapter} details:not([name])`)
    .evaluateAll((all) => all.forEach((it) => it.setAttribute('open', '')));
}

/** Controls that a person sees while a figure is looked at: those of the panel, and its own. */
async function controlsBeside(page: Page, id: FigureId): Promise<string[]> {
  const { chapter } = entryOf(id);
  await unfolded(page, chapter);
  const places = `#${chapter} .panel [data-control], #figure-${id} [data-control]`;
  const names = await page
    .locator(places)
    .evaluateAll((hosts) =>
      hosts.filter((it) => it.checkVisibility()).map((it) => (it as HTMLElement).dataset.control ?? ''),
    );
  return [...new Set(names)] as string[];
}

/** Another value of a number, near its present one and inside the slider. */
function other(view: ViewName, name: string, control: NumberControl, value: number): number {
  const slider = sliderOf(control, VIEWS[view].defaults);
  if (view === 'train' && /^(width|heads)$/.test(name)) return 2 * value; // one divides the other
  if (control.limits.integer) return value + 1 <= (slider?.to ?? Infinity) ? value + 1 : value - 1;
  return value === 0 ? 0.5 : 0.7 * value;
}

async function change(place: Locator, view: ViewName, name: string): Promise<void> {
  const boxes = place.locator('input[type="checkbox"]:not(:checked)');
  if ((await boxes.count()) > 0) return boxes.first().check();
  const radios = place.locator('input[type="radio"]:not(:checked)');
  if ((await radios.count()) > 0) return radios.first().check();
  const select = place.locator('select');
  if ((await select.count()) > 0) {
    const values = await select.evaluate((it: HTMLSelectElement) =>
      [...it.options].map(({ value }) => value).filter((value) => value !== it.value),
    );
    await select.selectOption(values[0]!);
    return;
  }
  const field = place.locator('input[type="text"]');
  const now = await field.inputValue();
  const control = (VIEWS[view].controls as Controls)[name]!;
  const next = control.kind === 'number' ? String(other(view, name, control, Number(now))) : `${now}, 3`;
  await enter(field, next);
}

/** Beside which figure a control of each kind is changed, and in which state: number, choice, list, button, switch. */
const KINDS: [FigureId, string, string][] = [
  ['lead', 'temperature', `localize?${BASES.localize.base}`],
  ['lead', 'ensemble', `localize?${BASES.localize.base}`],
  ['lead', 'eigenvalues', `localize?${BASES.localize.base}&${BASES.localize.more.eigenvalues}`],
  ['lead', 'queries', `localize?${BASES.localize.base}`],
  ['depth', 'depth', `collapse?${BASES.collapse.base}`],
  ['depth', 'values', `collapse?${BASES.collapse.base}`],
  ['depth', 'blocks', `collapse?${BASES.collapse.base}&${BASES.collapse.more.blocks}`],
  ['latent-posterior', 'norms', 'uses?repeats=2'],
  ['attention-explanation', 'removal', 'uses'],
];

test('a control of each kind changes the figure beside which it stands', async () => {
  const { page, errors } = await visit(browser, `${host.address}#${KINDS[0][2]}`, { settle: false });
  for (const [id, name, hash] of KINDS) {
    await go(page, hash);
    const before = await numbersOf(page, id);
    const { chapter } = entryOf(id);
    const place = page.locator(`#figure-${id} [data-control="${name}"], #${chapter} .panel [data-control="${name}"]`);
    await unfolded(page, chapter);
    await change(place.first(), chapter, name);
    await expect.poll(() => numbersOf(page, id), { message: `${id}, ${name}`, timeout: 30_000 }).not.toBe(before);
  }
  expect(errors).toEqual([]);
}, 120_000);

test.each(['localize', 'collapse', 'uses'] as const)(
  'every control of %s is there beside a figure that it changes',
  async (view) => {
    const { base, more } = BASES[view];
    const { page } = await visit(browser, `${host.address}#${view}?${base}`, { settle: false });
    const met = new Set<string>();
    const all = await page
      .locator(`#${view} .panel [data-control], #${view} .figure [data-control]`)
      .evaluateAll((hosts) => hosts.map((it) => (it as HTMLElement).dataset.control as string));
    for (const [needed, given] of [['', ''], ...Object.entries(more)] as [string, string][]) {
      if (met.has(needed)) continue;
      await go(page, `${view}?${base}&${given}`);
      await unfolded(page, view);
      for (const { id } of figuresOf(view)) {
        if (met.has(needed)) break;
        await unfold(page.locator(`#figure-${id}`));
        await page.locator(`#figure-${id}`).evaluate(async (it) => {
          it.scrollIntoView({ behavior: 'instant' });
          for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame); // the panel follows what is in sight
        });
        await page.waitForTimeout(100);
        for (const name of await controlsBeside(page, id)) met.add(name);
      }
    }
    expect(all.length).toBeGreaterThan(10);
    expect(all.filter((name) => !met.has(name))).toEqual([]);
  },
);

test('a control that changes nothing beside a figure is not there', async () => {
  const { page } = await visit(browser, `${host.address}#localize?${BASES.localize.base}`);
  await settled(page, 'lead');
  expect(await controlsBeside(page, 'lead')).not.toContain('head_width'); // symmetric ensemble
  expect(await controlsBeside(page, 'lead')).toContain('ensemble');
  const besideOnly = async (id: FigureId, absent: string[], present: string[]) => {
    await page.locator(`#figure-${id}`).evaluate((it) => it.scrollIntoView());
    await expect
      .poll(async () => {
        const names = await controlsBeside(page, id);
        return [absent.some((it) => names.includes(it)), present.every((it) => names.includes(it))];
      })
      .toEqual([false, true]);
  };
  await besideOnly(
    'phase-map',
    ['ensemble', 'seed', 'samples', 'queries', 'spread'],
    ['mean', 'variance', 'length', 'sigma'],
  );
  await besideOnly('softmax-row', [], ['logit']);
  await besideOnly('row-entropy', ['mean', 'variance', 'length'], ['samples', 'sigma']);
});

/** Runs that are soon over. */
const RUNS = 'steps=6&width=16&depth=1&heads=2&length=8&batch=1&log_every=3&eval_batches=1&warmup=2';

test('a control of each kind of train changes the numbers of the runs', async () => {
  const { page, errors } = await visit(browser, `${host.address}#train?${RUNS}`);
  page.on('dialog', (dialog) => void dialog.accept()); // the runs before are not saved
  await page
    .locator('#train details')
    .evaluateAll((all) => all.forEach((it) => ((it as HTMLDetailsElement).open = true)));
  const numbers = async () => {
    await page.locator('[data-action="runs-reset"]').click();
    await page.locator('[data-action="play"]').click();
    await page.locator('[data-comparison-status]', { hasText: 'All runs have ended' }).waitFor();
    return numbersOf(page, 'run-curves');
  };
  let before = await numbers();
  for (const name of ['runs', 'learning_rate', 'positions', 'seed']) {
    await change(page.locator(`#train [data-control="${name}"]`), 'train', name);
    await page.waitForTimeout(400); // the change settles
    const after = await numbers();
    expect(after, name).not.toBe(before);
    before = after;
  }
  expect(errors).toEqual([]);
});

/** All that the view of a model says in numbers. */
async function numbersOfModel(page: Page): Promise<string> {
  const shown = [];
  for (const id of ['head-text', 'head-spectra', 'predictors'] as const) {
    shown.push(await numbersOf(page, id));
  }
  await openTable(page);
  const table = await saved(page.locator('[data-action="table-csv"]'));
  return [...shown, table.toString().replace(/^#.*$/gm, '')].join('\n');
}

test('a control of each kind of a model that was opened changes its table or figures', async () => {
  const { page, errors } = await visit(browser, `${host.address}#model?passages=1`);
  await openModel(page, trainedModel());
  for (const name of ['reading', 'level', 'length'] as const) {
    const before = await numbersOfModel(page);
    const place = page.locator(`#model [data-control="${name}"]`);
    if (name === 'reading') {
      await enter(place.locator('input'), 'A whale swam by.');
    } else {
      await change(place, 'model', name);
    }
    await expect.poll(() => numbersOfModel(page), { message: name, timeout: 60_000 }).not.toBe(before);
  }
  expect(errors).toEqual([]);
}, 120_000);
