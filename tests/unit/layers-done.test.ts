// Layers of a pass: which are shown while it goes on, after it failed and after it was cancelled.
import { expect, test, vi } from 'vitest';
import { attendByLayers, layersDoneText } from '../../web/chapters/model/reading/reading';
import type { FigureContext } from '../../web/chapters/model/state';
import type { Attended } from '../../web/engine/protocol';

const found = (layers: number) => ({ layers: Array.from({ length: layers }) }) as unknown as Attended;

let now = 0;
vi.spyOn(performance, 'now').mockImplementation(() => now);

/** A pass that posts layers at these milliseconds, and ends as `end` does; gives the layers that were shown. */
async function shown(posts: [number, number][], end: () => Attended, controller = new AbortController()) {
  const list: number[] = [];
  now = 0;
  const run = async (_: unknown, __: unknown, take: (part: Attended, progress: number) => void) => {
    for (const [time, layers] of posts) {
      now = time;
      take(found(layers), layers / 9);
    }
    return end();
  };
  const context = { run, signal: controller.signal } as unknown as FigureContext;
  const answer = await attendByLayers(context, {} as never, ({ layers }) => list.push(layers.length)).catch(
    (error: Error) => error.message,
  );
  return { list, answer };
}

const fails = () => {
  throw new Error('a tensor');
};

test('a quick answer is shown at once, a slow one by layers', async () => {
  expect(await shown([[100, 3]], () => found(9))).toEqual({ list: [], answer: found(9) });
  const posts: [number, number][] = [
    [500, 1],
    [600, 2],
    [1200, 2],
    [1300, 3],
  ];
  expect((await shown(posts, () => found(9))).list).toEqual([1, 2]);
});

test('the layers before one that failed are shown, not those of a pass that was cancelled', async () => {
  expect(await shown([[100, 3]], fails)).toEqual({ list: [3], answer: 'a tensor' });
  const controller = new AbortController();
  controller.abort();
  expect((await shown([[100, 3]], fails, controller)).list).toEqual([]);
  expect((await shown([[100, 0]], fails)).list).toEqual([]);
});

test('layers are named from 0', () => {
  expect(layersDoneText(found(1))).toBe('Layer 0 is computed. ');
  expect(layersDoneText(found(7))).toBe('Layers 0 to 6 are computed. ');
});
