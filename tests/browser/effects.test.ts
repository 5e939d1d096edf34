// No control without effect: each control that stands beside a figure changes its numbers.
import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { sliderOf, table, type NumberName, type StateName } from '../../web/state/table';
import { defaultsOf } from '../../web/state/views';
import { entryOf, figuresOf, type FigureId } from '../../web/ui/registry';
import { LLAMA, LLAMA_CONFIG, safetensorsOf } from '../checkpoints';
import {
  browser,
  caption,
  exported,
  go,
  host,
  openBrowser,
  saved,
  settled,
  visit,
} from './browser';
import { trainedModel } from './trained';

openBrowser();

/** States that are soon computed, and those in which controls are of use that are not always there. */
const BASES = {
  localize: {
    base: 'samples=100&length=16&width=16&temperature=4',
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
    base: 'depth=3&stacks=2&length=16&width=16&temperature=4&skip=0.5&mean=1&layer=2',
    more: {
      head_width: 'ensemble=factored&head_width=4',
      eigenvalues: 'ensemble=list&eigenvalues=2,1,0,-1',
      correlation: 'tokens=ar1',
      window: 'mask=window',
      blocks: 'mask=blocks',
      prefix: 'mask=blocks',
      selected: 'mask=blocks&selected=2',
      shear: 'values=shear',
    },
  },
} as const;

/** Everything that a figure says in numbers. */
async function numbersOf(page: Page, id: FigureId): Promise<string> {
  await settled(page, id);
  const handles = page.locator(`#figure-${id} .handle`);
  const points = await handles.evaluateAll((all) =>
    all.map((it) => it.getAttribute('aria-valuetext')),
  );
  const rows = (await exported(page, id, 'csv')).toString();
  return [await caption(page, id), ...points, rows].join('\n');
}

/** Controls that a person sees while a figure is looked at: those of the panel, and its own. */
async function controlsBeside(page: Page, id: FigureId): Promise<StateName[]> {
  const { chapter } = entryOf(id);
  const places = `#${chapter} .panel [data-control], #figure-${id} [data-control]`;
  const names = await page
    .locator(places)
    .evaluateAll((hosts) =>
      hosts
        .filter((it) => it.checkVisibility())
        .map((it) => (it as HTMLElement).dataset.control ?? ''),
    );
  return [...new Set(names)] as StateName[];
}

/** Another value of a number, near its present one and inside the slider. */
function other(name: NumberName, value: number): number {
  const slider = sliderOf(name, defaultsOf('localize'));
  if (name === 'model_width' || name === 'model_heads') return 2 * value; // one divides the other
  if (table[name].limits.integer)
    return value + 1 <= (slider?.to ?? Infinity) ? value + 1 : value - 1;
  return value === 0 ? 0.5 : 0.7 * value;
}

async function change(place: Locator, name: StateName): Promise<void> {
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
  const next =
    table[name].kind === 'number' ? String(other(name as NumberName, Number(now))) : `${now}, 3`;
  await field.fill(next);
  await field.press('Enter');
}

async function expectEffect(page: Page, id: FigureId, name: StateName, hash: string) {
  await go(page, hash);
  const before = await numbersOf(page, id);
  const { chapter } = entryOf(id);
  const place = page
    .locator(`#figure-${id} [data-control="${name}"], #${chapter} .panel [data-control="${name}"]`)
    .first();
  await change(place, name);
  await expect
    .poll(() => numbersOf(page, id), { message: `${name} in ${id}`, timeout: 30_000 })
    .not.toBe(before);
}

test.each(['localize', 'collapse'] as const)(
  'every control of %s changes the figure beside which it is first met',
  async (view) => {
    const { base, more } = BASES[view];
    const { page, errors, close } = await visit(browser, `${host.address}#${view}?${base}`);
    const met = new Set<StateName>();
    for (const { id } of figuresOf(view)) {
      await go(page, `${view}?${base}`);
      await settled(page, id);
      for (const name of await controlsBeside(page, id)) {
        if (!met.has(name)) await expectEffect(page, id, name, `${view}?${base}`);
        met.add(name);
      }
      for (const [name, given] of Object.entries(more) as [StateName, string][]) {
        if (met.has(name)) continue;
        const hash = `${view}?${base}&${given}`;
        await go(page, hash);
        await settled(page, id);
        if (!(await controlsBeside(page, id)).includes(name)) continue;
        await expectEffect(page, id, name, hash);
        met.add(name);
      }
    }
    for (const name of Object.keys(more)) expect(met).toContain(name);
    expect(met.size).toBeGreaterThan(20);
    expect(errors).toEqual([]);
    await close();
  },
  400_000,
);

test('a control that changes nothing beside a figure is not there', async () => {
  const { page, close } = await visit(browser, `${host.address}#localize?${BASES.localize.base}`);
  await settled(page, 'lead');
  expect(await controlsBeside(page, 'lead')).not.toContain('head_width'); // symmetric ensemble
  expect(await controlsBeside(page, 'lead')).toContain('ensemble');
  const besideOnly = async (id: FigureId, absent: StateName[], present: StateName[]) => {
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
  await besideOnly('spectrum', ['length', 'temperature', 'tokens', 'samples'], ['mean', 'width']);
  await close();
});

/** Runs that are soon over, and what some controls need in order to have an effect. */
const RUNS = {
  base: 'steps=6&width=16&depth=1&heads=2&length=8&batch=1&log_every=3&eval_batches=1&warmup=2',
  more: {
    qk_decay: 'runs=none,qk-decay',
    alpha: 'initialization=correlated',
    init_scale: 'initialization=correlated',
    min_count: 'tokenizer=words',
    attention: 'runs=none',
    tame: 'intervention=tame',
    patience: 'learning_rate=0.1&log_every=1&steps=30&warmup=0',
    logit_limit: 'learning_rate=0.1&steps=12',
    growth_limit: 'learning_rate=0.1&steps=12',
  } as Partial<Record<StateName, string>>,
};

test('every control of train changes the numbers of the runs or of its figure', async () => {
  const { page, errors, close } = await visit(browser, `${host.address}#train?${RUNS.base}`);
  await page
    .locator('#train details')
    .evaluateAll((all) => all.forEach((it) => ((it as HTMLDetailsElement).open = true)));
  const named = await page
    .locator('#train [data-control]')
    .evaluateAll((all) => all.map((it) => (it as HTMLElement).dataset.control as StateName));
  const names = named.filter((name) => name !== 'asymmetry'); // its figure follows without a run
  expect(names.length).toBeGreaterThan(40);
  const placeOf = (name: StateName) => page.locator(`#train [data-control="${name}"]`);
  const numbers = async (name: StateName) => {
    await page.locator('[data-action="runs-reset"]').click();
    await page.locator('[data-action="play"]').click();
    const status = page.locator('[data-comparison-status]', { hasText: 'All runs have ended' });
    await status.waitFor();
    const own = (await page.locator(`#figure-run-attention [data-control="${name}"]`).count()) > 0;
    return numbersOf(page, own ? 'run-attention' : 'run-curves');
  };
  const before = new Map<string, string>();
  for (const name of names) {
    const given = RUNS.more[name];
    const hash = `train?${RUNS.base}${given ? `&${given}` : ''}`;
    await go(page, hash);
    await expect.poll(() => placeOf(name).isVisible(), { message: name }).toBe(true);
    const key = `${hash} ${name === 'prompt' || name === 'intervention'}`;
    if (!before.has(key)) before.set(key, await numbers(name));
    await change(placeOf(name), name);
    await page.waitForTimeout(400); // the change settles
    expect(await numbers(name), name).not.toBe(before.get(key));
  }
  expect(errors).toEqual([]);
  await close();
}, 400_000);

/** What is typed into the controls that take a text. */
const TEXTS: Partial<Record<StateName, string>> = {
  reading: 'A whale swam by.',
  filter: 'layer=0',
};

/** All that the view of a model says in numbers. */
async function numbersOfModel(page: Page): Promise<string> {
  const figures = ['head-text', 'head-spectra', 'predictors'] as const;
  const shown = [];
  for (const id of figures) {
    if (await page.locator(`#figure-${id}`).isVisible()) shown.push(await numbersOf(page, id));
  }
  const table = await saved(page.locator('[data-action="table-csv"]'));
  return [...shown, table.toString().replace(/^#.*$/gm, '')].join('\n');
}

test('every control of a model that was opened changes its table or figures', async () => {
  const { page, errors, close } = await visit(browser, `${host.address}#model?passages=1`);
  const met = new Set<string>();
  const controls = page.locator('#model [data-control]');
  const report = page.locator('[data-report]', { hasText: /heads of .* read/ });
  const open = async (files: Parameters<Locator['setInputFiles']>[0]) => {
    await page.locator('[data-files]').setInputFiles(files);
    await report.waitFor();
  };
  const tryAll = async () => {
    const names = await controls.evaluateAll((hosts) =>
      hosts
        .filter((it) => it.checkVisibility())
        .map((it) => (it as HTMLElement).dataset.control ?? ''),
    );
    // The average over offsets has no use for an offset, nor uniform tokens for an exponent: they come last.
    const late = (name: string) => Number(name === 'offset_kind' || name === 'tokens_source');
    for (const name of names.sort((a, b) => late(a) - late(b)) as StateName[]) {
      if (met.has(name)) continue;
      met.add(name);
      const before = await numbersOfModel(page);
      const place = page.locator(`#model [data-control="${name}"]`);
      if (name in TEXTS) {
        await place.locator('input').fill(TEXTS[name] ?? '');
        await place.locator('input').press('Enter');
      } else {
        await change(place, name);
      }
      await expect
        .poll(() => numbersOfModel(page), { message: name, timeout: 60_000 })
        .not.toBe(before);
    }
  };
  await open(trainedModel());
  await tryAll();
  await go(page, 'model?tokens=ar1');
  await open([
    { name: 'model.safetensors', mimeType: '', buffer: safetensorsOf(LLAMA) },
    { name: 'config.json', mimeType: '', buffer: Buffer.from(LLAMA_CONFIG) },
  ]);
  await tryAll();
  for (const name of [
    'reading',
    'level',
    'passages',
    'seed',
    'length',
    'correlation',
    'offset',
    'fold_gains',
  ]) {
    expect(met).toContain(name);
  }
  expect(errors).toEqual([]);
  await close();
}, 400_000);
