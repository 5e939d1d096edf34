// The labs of Uses: their cards, numbers, presets and what they say.
import { expect, test } from 'vitest';
import entryAnswers from '../../web/generated/uses/attention-entries.json';
import priorAnswers from '../../web/generated/uses/attention-prior.json';
import { figuresOf } from '../../web/ui/registry';
import {
  browser,
  caption,
  csv,
  exported,
  expectPlaced,
  expectStraight,
  go,
  host,
  marks,
  openBrowser,
  settled,
  unfold,
  visit,
} from './browser';
import { openModel } from './gestures';
import { trainedModel } from './trained';

openBrowser();

/** A state of each lab that is soon computed; the other labs keep the answer of the build. */
const SOON = {
  position: 'uses?token_width=20&datasets=2',
  latent: 'uses?repeats=2',
  prior: 'uses?head_width=4&trainings=2',
  tokens: 'uses?trainings=2&steps=20',
  agents: 'uses?feature_width=4&trainings=2',
  models: 'uses?sequences=16',
};
const open = (hash: string, options = {}) => visit(browser, `${host.address}#${hash}`, options);

test('each of several presets of one state has its sentence, and no step of the history', async () => {
  const { page } = await open('uses?figure=parallel-contexts', { settle: false });
  await settled(page, 'parallel-contexts');
  const strip = page.locator('#figure-parallel-contexts .presets');
  const steps = () => page.evaluate(() => history.length);
  const before = await steps();
  for (const name of ['Positions kept', 'Entropy restored', 'Positions reset']) {
    await strip.locator('a.preset', { hasText: name }).click();
    expect(await strip.locator('a.preset[aria-current]').allTextContents()).toEqual([name]);
    expect(await strip.locator('.preset-text:visible').textContent()).toContain(name);
  }
  expect(await steps()).toBe(before);
});

test('after a control has moved, the numbers of a lab stand once', async () => {
  const { page, errors } = await open('uses?figure=token-prior', { settle: false });
  await settled(page, 'token-prior');
  const figure = page.locator('#figure-token-prior');
  const estimates = async () => (await figure.innerText()).replaceAll('\u00a0', ' ').match(/\S+ ± [\d.]*\d/g) ?? [];
  const before = await estimates();
  expect(before.length).toBeGreaterThan(1);
  expect(new Set(before).size).toBe(before.length);
  await page.locator('#field-uses-prior_weight').fill('2');
  const claim = figure.locator('[data-claim]');
  await expect.poll(() => claim.getAttribute('class')).toContain('before');
  expect(await claim.isVisible()).toBe(true);
  const after = await estimates();
  expect(after.length).toBeGreaterThan(1);
  expect(new Set(after).size, after.join()).toBe(after.length);
  expect(errors).toEqual([]);
});

test('the presets of a lab leave the settings of other labs alone', async () => {
  const { page } = await open('uses?figure=agent-attention&teacher_position=0.5', { settle: false });
  const shown = () => page.locator('#uses .figure:visible').evaluateAll((all) => all.map(({ id }) => id));
  await page.waitForFunction(() => document.querySelector('#figure-agent-attention .preset[aria-current]'));
  await expect.poll(shown).toEqual(['figure-agent-attention']);
  await settled(page, 'agent-attention');
  const strip = page.locator('#figure-agent-attention .presets');
  const current = strip.locator('a.preset[aria-current]');
  expect(await current.count()).toBe(1);
  await strip.locator('a.preset', { hasText: 'Policy gradient' }).click();
  expect(await current.allTextContents()).toEqual(['Policy gradient']);
  expect(page.url()).toContain('teacher_position=0.5');
});

test('every lab has a card with a question, a picture of its task and a stamp, which leads to its figure', async () => {
  const { page, errors } = await open('uses');
  const cards = page.locator('.lab-cards a');
  expect(await cards.count()).toBe(figuresOf('uses').length);
  for (const [i, { id }] of figuresOf('uses').entries()) {
    expect(await cards.nth(i).getAttribute('href')).toBe(`#figure-${id}`);
    expect((await cards.nth(i).innerText()).trim()).toMatch(/\?\n+.*20\d\d\n+Source’s claim: (half )?(holds|fails)$/);
    expect(await cards.nth(i).locator('svg :is(path, circle, rect, text)').count()).toBeGreaterThan(4);
    expect(await page.locator(`#figure-${id} .task`).textContent()).toMatch(/^\s*Task: .+\.\s*$/s);
  }
  const places = await cards.evaluateAll((all) => all.map((card) => card.getBoundingClientRect()));
  expect([new Set(places.map(({ x }) => x)).size, new Set(places.map(({ y }) => y)).size]).toEqual([5, 2]);
  const shown = () => page.locator('#uses .figure:visible').evaluateAll((all) => all.map(({ id }) => id));
  expect(await shown()).toEqual(['figure-position-meaning']);
  // The panel has the controls of this lab alone, before it is scrolled to.
  const controls = page.locator('#uses .panel [data-control]:not([hidden])');
  const names = () => controls.evaluateAll((all) => all.map((it) => (it as HTMLElement).dataset.control));
  await expect.poll(names).toEqual(expect.not.arrayContaining(['prior_weight', 'trainings']));
  expect(await names()).toContain('seed');
  await cards.nth(1).click();
  await expect
    .poll(() => page.evaluate(() => document.querySelector('#figure-latent-posterior')!.getBoundingClientRect().top))
    .toBeLessThan(500);
  expect(await shown()).toEqual(['figure-latent-posterior']);
  expect(await page.locator('.lab-cards [aria-current]').count()).toBe(1);
  await page.getByRole('link', { name: 'Previous lab: Position' }).click();
  await expect.poll(shown).toEqual(['figure-position-meaning']);
  await page.getByRole('link', { name: 'Next lab: Posterior' }).click();
  await expect.poll(shown).toEqual(['figure-latent-posterior']);
  await page.goto(`${host.address}#figure-attention-prior`);
  await expect.poll(shown).toEqual(['figure-attention-prior']);
  expect(errors).toEqual([]);
});

test('a lab opens with the answer of the build, computes another, and comes back to it', async () => {
  const { page, errors } = await open('uses');
  const accuracies = async () => {
    await settled(page, 'attention-prior');
    return (await csv(page, 'attention-prior')).map((row) => Number(row.accuracy));
  };
  const shipped = priorAnswers[0]!.answer.rows.map(({ accuracy }) => accuracy);
  const findings = page.locator('#figure-attention-prior figcaption');
  expect(await accuracies()).toEqual(shipped);
  expect(await findings.innerText()).toMatch(/^A prior/);
  await go(page, SOON.prior);
  await expect.poll(accuracies).not.toEqual(shipped);
  expect(await findings.innerText()).toMatch(/^This caption describes the default settings. A prior/);
  await page.locator('#uses').getByRole('button', { name: 'Reset' }).click();
  await expect.poll(accuracies).toEqual(shipped);
  expect(errors).toEqual([]);
});

test('a preset shows the answer of the build at once, and every kind of models of attention-entries has one', async () => {
  const kinds = entryAnswers.map(({ state }) => JSON.stringify(state)).sort();
  expect(kinds).toEqual(
    [{}, { attention_skip: 'without' }, { objective: 'next' }, { objective: 'next', attention_skip: 'without' }]
      .map((state) => JSON.stringify(state))
      .sort(),
  );
  const { page, errors } = await open('uses?figure=attention-prior', { settle: false });
  await settled(page, 'attention-prior');
  await page.locator('#figure-attention-prior a.preset', { hasText: 'Strict prior' }).click();
  const strict = priorAnswers.find(({ state }) => 'prior_weight' in state)!.answer;
  await expect
    .poll(async () => (await csv(page, 'attention-prior')).map((row) => Number(row.accuracy)), { timeout: 5000 })
    .toEqual(strict.rows.map(({ accuracy }) => accuracy));
  expect(await page.locator('#figure-attention-prior figcaption').innerText()).toMatch(/^This caption describes/);
  expect(errors).toEqual([]);
});

test('the lab of position and meaning shows the numbers that it exports', async () => {
  const { page, errors } = await open(SOON.position);
  await settled(page, 'position-meaning');
  const rows = await csv(page, 'position-meaning');
  expect(rows.map((row) => row.samples_over_width)).toEqual(['0.5', '0.75', '1', '1.25', '1.5', '1.75', '2']);
  expect(rows.every((row) => row.datasets === '2')).toBe(true);
  const picture = (await exported(page, 'position-meaning', 'svg')).toString();
  const rings = await marks(page, picture, 'meaning_meaning_overlap');
  expectPlaced(rows, 'meaning_meaning_overlap', rings, 'y');
  expect(await page.locator('#figure-position-meaning [data-claim]').innerText()).toMatch(/theory for large d/);
  // While the numbers are those of the settings before, the sentence says so.
  const claim = page.locator('#figure-position-meaning [data-claim]');
  const classes = await claim.evaluateHandle((it) => {
    const seen: string[] = [];
    new MutationObserver(() => seen.push(it.className)).observe(it, { attributes: true });
    return seen;
  });
  await go(page, `${SOON.position}&token_std=0.3`);
  await settled(page, 'position-meaning');
  await expect
    .poll(() => page.locator('#figure-position-meaning [data-claim]').innerText(), { timeout: 30_000 })
    .toMatch(/The theory for large d has none/);
  expect(await classes.jsonValue()).toContain('claim before');
  expect(await claim.getAttribute('class')).toBe('claim');
  expect(errors).toEqual([]);
});

test('the lab of the latent posterior shows the numbers that it exports, and refuses too much variance', async () => {
  const { page, errors } = await open(SOON.latent);
  await settled(page, 'latent-posterior');
  const rows = await csv(page, 'latent-posterior');
  const classes = rows.filter((row) => row.kind === 'classes');
  expect(classes.length).toBe(9);
  const picture = (await exported(page, 'latent-posterior', 'svg')).toString();
  const rings = await marks(page, picture, 'tuned_loss');
  expectPlaced(classes, 'tuned_loss', rings, 'y');
  for (const row of rows.filter(({ kind }) => kind === 'values')) {
    expect(Number(row.error)).toBeGreaterThan(Number(row.posterior));
    expect(Number(row.error)).toBeCloseTo(Number(row.bias) + Number(row.noise_part), 10);
  }
  await go(page, `${SOON.latent}&angles=2&spectrum_variance=1.5`);
  await page
    .locator('#error-uses-spectrum_variance')
    .filter({ hasText: /number of angles minus 1/ })
    .waitFor();
  expect(errors).toEqual([]);
});

test('the lab of attention priors shows the numbers that it exports, with a line for each prior', async () => {
  const { page, errors } = await open(SOON.prior);
  await settled(page, 'attention-prior');
  const rows = await csv(page, 'attention-prior');
  const priors = [...new Set(rows.map(({ prior }) => prior!))];
  expect(priors).toEqual(['none', 'correct', 'half', 'random', 'uniform', 'wrong']);
  expect(rows.every((row) => row.trainings === '2')).toBe(true);
  const picture = (await exported(page, 'attention-prior', 'svg')).toString();
  for (const prior of priors) {
    const own = rows.filter((row) => row.prior === prior);
    const rings = await marks(page, picture, `accuracy, ${prior}`);
    expectPlaced(own, 'accuracy', rings, 'y');
  }
  expect(await page.locator('#figure-attention-prior [data-claim]').innerText()).toMatch(
    /the prior on the target adds/,
  );
  expect(errors).toEqual([]);
});

test('the lab of token priors shows the numbers that it exports, with a line for each prior', async () => {
  const { page, errors } = await open(SOON.tokens);
  await settled(page, 'token-prior');
  const rows = await csv(page, 'token-prior');
  expect(rows.every((row) => row.trainings === '2')).toBe(true);
  const picture = (await exported(page, 'token-prior', 'svg')).toString();
  const rings = async (name: string, prior: string) => {
    const own = rows.filter((row) => row.prior === prior);
    expect(own.map(({ bytes }) => bytes)).toEqual(['2000', '16000', '128000']);
    expectPlaced(own, name, await marks(page, picture, `${name}, ${prior}`), 'y');
  };
  for (const prior of ['none', 'previous', 'far']) await rings('loss', prior);
  for (const prior of ['previous', 'far']) await rings('added', prior);
  expect(picture).toContain('128k');
  expect(await page.locator('#figure-token-prior [data-claim]').innerText()).toMatch(
    /With 2,000 training bytes the prior on the previous token adds/,
  );
  expect(errors).toEqual([]);
});

test('the lab of distractors shows the numbers that it exports, with a line for each policy', async () => {
  const { page, errors } = await open(SOON.agents);
  await settled(page, 'agent-attention');
  const rows = await csv(page, 'agent-attention');
  const policies = [...new Set(rows.map(({ policy }) => policy!))];
  expect(policies).toEqual(['attention', 'uniform', 'gate', 'sparse', 'plain']);
  expect(rows.every((row) => row.trainings === '2')).toBe(true);
  const picture = (await exported(page, 'agent-attention', 'svg')).toString();
  for (const policy of policies) {
    const own = rows.filter((row) => row.policy === policy);
    const panels = {
      distractors: own.filter(({ scale }) => scale === '1'),
      scale: own.filter(({ distractors }) => distractors === '32'),
    };
    for (const [name, shown] of Object.entries(panels)) {
      expect(shown.length).toBe(4);
      const rings = await marks(page, picture, `accuracy over ${name}, ${policy}`);
      expectPlaced(shown, 'accuracy', rings, 'y');
    }
  }
  expect(await page.locator('#figure-agent-attention [data-claim]').innerText()).toMatch(/self-attention adds/);
  expect(errors).toEqual([]);
});

test('the lab of hard retrieval shows the numbers that it exports, above and below the diagonal', async () => {
  const { page, errors } = await open(SOON.models);
  await settled(page, 'hard-retrieval');
  const rows = await csv(page, 'hard-retrieval');
  const [heads, models] = [rows.filter(({ layer }) => layer !== ''), rows.filter(({ layer }) => layer === '')];
  expect(heads.length).toBe(32);
  expect(models.map(({ trained }) => trained)).toEqual([...Array(4).fill('softmax'), ...Array(4).fill('hard')]);
  const picture = (await exported(page, 'hard-retrieval', 'svg')).toString();
  const dots = await marks(page, picture, 'heads');
  const scale = (value: number) => Math.log(Math.max(3e-4, value));
  expectPlaced(heads, 'hard', dots, 'y', scale);
  expectPlaced(heads, 'uniform', dots, 'x', scale);
  for (const kind of ['softmax', 'hard']) {
    const rings = await marks(page, picture, `losses, ${kind}`);
    expectStraight(
      models
        .filter(({ trained }) => trained === kind)
        .flatMap((row) => ['soft', 'hard', 'uniform', 'random'].map((name) => Number(row[`loss_${name}`]))),
      rings.map(({ y }) => y),
    );
  }
  const worse = heads.filter(({ hard, uniform }) => Number(hard) > Number(uniform)).length;
  expect(await page.locator('#figure-hard-retrieval [data-claim]').innerText()).toContain(`In ${worse} of 32 heads`);
  expect(errors).toEqual([]);
});

test('the lab of parallel contexts shows the numbers that it exports, each reading in both charts', async () => {
  const { page, errors } = await open(SOON.models);
  await settled(page, 'parallel-contexts');
  const rows = await csv(page, 'parallel-contexts');
  expect(rows.length).toBe(17);
  const picture = (await exported(page, 'parallel-contexts', 'svg')).toString();
  const of = (reading: string) => rows.filter((row) => row.reading === reading || row.reading === 'full');
  for (const reading of ['reset', 'kept', 'prefix', 'sharpened']) {
    const dots = await marks(page, picture, `added loss, ${reading}`);
    expect(dots.length).toBe(4);
    // Losses of kept positions differ by less than a pixel: all lines have one scale.
    if (reading !== 'kept') expectPlaced(of(reading), 'added', dots, 'y');
    expectPlaced(of(reading), 'blocks', dots, 'x', Math.log2);
  }
  expectPlaced(of('reset'), 'entropy_added', await marks(page, picture, 'entropy, reset'), 'x');
  for (const reading of ['mass', 'random', 'last']) {
    expect((await marks(page, picture, `entropy, ${reading}`)).length).toBe(1);
  }
  expect(picture.match(/data-mark="entropy, none"/g)).toHaveLength(1); // a cross, which is no circle
  const factor = rows.find(({ reading, blocks }) => reading === 'sharpened' && blocks === '8')!.factor;
  expect(Number(factor)).toBeGreaterThan(1);
  const claim = await page.locator('#figure-parallel-contexts [data-claim]').innerText();
  expect(claim).toMatch(/Eight parallel blocks with reset positions add 0\.\d+ ± 0\.\d+ bits per byte/);
  expect(errors).toEqual([]);
});

test('the lab of attention sinks shows the numbers that it exports, in each of its charts', async () => {
  const { page, errors } = await open('uses');
  await settled(page, 'attention-sinks');
  const rows = await csv(page, 'attention-sinks');
  const of = (kind: string) => rows.filter((row) => row.kind === kind);
  expect(of('head').length).toBe(72);
  const order = [
    'zero-value',
    'mean-value',
    'random-value',
    'dropped',
    'direction',
    'zero-other',
    'dropped-other',
    'random',
  ];
  const changes = order.map((change) => of('change').find((row) => row.change === change)!);
  const drawn = async () => (await exported(page, 'attention-sinks', 'svg')).toString();
  const values = await drawn();
  const scale = (value: number) => Math.log(Math.max(1e-4, value));
  expectPlaced(changes, 'output_change', await marks(page, values, 'rows'), 'x', scale);
  const norms = await marks(page, values, 'norms');
  expectPlaced(of('head'), 'sink', norms, 'x');
  expectPlaced(of('head'), 'value_norm', norms, 'y', Math.log);
  const charts = { tags: ['along the tag', 'tag_cosine'], direction: ['sink direction', 'sink_without'] } as const;
  for (const [chart, [name, field]] of Object.entries(charts)) {
    await go(page, `uses?sink_chart=${chart}`);
    await expect.poll(drawn).toContain(`data-mark="${name}"`);
    expectPlaced(of('head'), field, await marks(page, await drawn(), name), 'y');
  }
  await go(page, 'uses?sink_chart=moved');
  await expect.poll(drawn).toContain('data-mark="position"');
  expectPlaced(of('layer'), 'token', await marks(page, await drawn(), 'token'), 'y');
  expect(errors).toEqual([]);
});

test('the lab of explanations shows the numbers that it exports, for both removals and scales', async () => {
  const { page, errors } = await open('uses');
  await settled(page, 'attention-explanation');
  const rows = await csv(page, 'attention-explanation');
  const of = (kind: string) => rows.filter((row) => row.kind === kind);
  const drawn = async () => (await exported(page, 'attention-explanation', 'svg')).toString();
  const said = () => caption(page, 'attention-explanation');
  const dropped = await said();
  const shown = async (removal: string) => {
    const picture = await drawn();
    for (const own of ['attention', 'norm']) {
      expectPlaced(of('head'), `${own}_${removal}`, await marks(page, picture, `heads, ${own}`), 'y');
    }
    expectPlaced(of('explanation'), removal, await marks(page, picture, 'rows'), 'x');
  };
  await shown('dropped');
  await go(page, 'uses?removal=masked');
  await expect.poll(said).not.toBe(dropped);
  await shown('masked');
  await go(page, 'uses?agreement_scale=information');
  await expect.poll(said).toBe(dropped);
  expectPlaced(of('explanation'), 'dropped_bits', await marks(page, await drawn(), 'rows'), 'x');
  expect(errors).toEqual([]);
});

test('labs on a checkpoint compute other settings with the one that is opened', async () => {
  const { page, errors } = await open('uses?passages=2&length=16');
  const figures = ['attention-sinks', 'attention-explanation'] as const;
  for (const id of figures) {
    const message = page.locator(`#figure-${id} .message`);
    await unfold(page.locator(`#figure-${id}`));
    await page.locator(`#figure-${id}`).evaluate((it) => it.scrollIntoView());
    const tools = page.locator(`#figure-${id} .tools`);
    await expect.poll(() => tools.innerText()).toContain('Other settings need the weights of all-MiniLM-L6-v2');
    await page.locator(`#figure-${id} [data-action="load-weights"]`).waitFor();
    expect(await message.innerText()).toBe(''); // a slider that waits for weights is no error
    expect(await caption(page, id)).toContain('8 passages of 24 tokens');
  }
  await go(page, 'model');
  await openModel(page, trainedModel());
  await go(page, 'uses?passages=2&length=16');
  for (const id of figures) {
    await unfold(page.locator(`#figure-${id}`));
    await page.locator(`#figure-${id}`).evaluate((it) => it.scrollIntoView());
    await expect
      .poll(() => caption(page, id), { timeout: 30_000 })
      .toMatch(/^(?!all-MiniLM).*, 2 passages of 16 tokens/);
    await settled(page, id);
    expect((await csv(page, id)).filter(({ kind }) => kind === 'head').length).toBe(8);
    const text = page.locator(`#figure-${id} :is(.message, .tools)`);
    expect((await text.allInnerTexts()).join()).not.toContain('Other settings');
    expect(await page.locator(`#figure-${id} [data-action="load-weights"]`).isVisible()).toBe(false);
  }
  // GPT-2's vocabulary of bytes has no mask token.
  expect((await csv(page, figures[1])).every(({ masked }) => !masked)).toBe(true);
  expect(errors).toEqual([]);
});

test('the lab on attention entries shows the numbers that it exports, of the chosen models', async () => {
  const { page, errors } = await open(`${SOON.models}&objective=next&attention_skip=without`);
  await settled(page, 'attention-entries');
  const rows = await csv(page, 'attention-entries');
  const picture = (await exported(page, 'attention-entries', 'svg')).toString();
  const numbers = (own: typeof rows, name: string) => own.map((row) => Number(row[name]));
  const known = (name: string) => rows.filter((row) => row[name] !== '');
  expect(known('ablated').length).toBe(14);
  const scaled = (name: string, value: number) =>
    name === 'kept' ? value : Math.sign(value) * Math.log1p(Math.abs(value) / 0.01);
  for (const series of [{ ablated: 'cost, ablated', trained: 'cost, trained' }, { kept: 'probability at 0.002' }]) {
    const points = { distances: [] as number[], values: [] as number[], x: [] as number[], y: [] as number[] };
    for (const [name, mark] of Object.entries(series)) {
      const dots = await marks(page, picture, mark);
      const own = known(name);
      expect(dots.length).toBe(own.length);
      points.distances.push(...numbers(own, 'distance').map(Math.sqrt));
      points.values.push(...numbers(own, name).map((value) => scaled(name, value)));
      points.x.push(...dots.map(({ x }) => x));
      points.y.push(...dots.map(({ y }) => y));
    }
    expectStraight(points.distances, points.x);
    expectStraight(points.values, points.y);
  }
  // Without a skip connection a causal model needs the diagonal.
  const [diagonal, neighbour] = known('ablated');
  expect(Number(diagonal!.ablated)).toBeGreaterThan(Number(neighbour!.ablated));
  const claim = await page.locator('#figure-attention-entries [data-claim]').innerText();
  expect(claim).toMatch(
    /^Without the diagonal trained models lose \d[\d.]* ± [\d.]+ bits per byte, without the adjacent keys \d/,
  );
  expect(errors).toEqual([]);
});
