import { expect, test, vi } from 'vitest';
import type { Pool } from '../../web/engine/pool';
import { estimated, shrunk } from '../../web/ui/estimate';
import { downloadText, durationText, silenceText, waitText } from '../../web/ui/wait';

test('durations are told in the largest unit of which there are two', () => {
  expect([0.2, 1, 119, 120, 7199, 7200, 172_800].map(durationText)).toEqual([
    '1 s',
    '1 s',
    '119 s',
    '2 min',
    '120 min',
    '2 h',
    '2 days',
  ]);
});

test('the time left follows from the work so far', () => {
  expect(waitText(30, 0.25, 0.9, 7)).toBe('Computing for 30 s; about 90 s left.');
  expect(waitText(60, 0, 0.01, 7)).toBe('Computing for 60 s; the first values come in about 99 min.');
  expect(waitText(5, 0, 0, NaN)).toBe('Computing for 5 s; the first step is not done yet.');
  expect(waitText(5, 0, 0, 605)).toBe(
    'Computing for 5 s; about 10 min left, estimated from a problem an eighth as large.',
  );
});

test('a large problem is estimated from one an eighth as large, with all its parts', () => {
  expect(shrunk({ width: 512, length: 64, depth: 100, stacks: 8 })).toBeNull();
  const input = { width: 4096, length: 2048, depth: 512, stacks: 4, heads: 8, first_stack: 4 };
  expect(shrunk({ ...input, means: [0, 0], variances: [1, 10], tokens: 'ar1' })).toEqual({
    small: {
      width: 512,
      length: 256,
      depth: 1,
      stacks: 1,
      heads: 1,
      first_stack: 0,
      means: [0],
      variances: [1],
      tokens: 'ar1',
    },
    times: 512 * 512 * 4 * 2,
  });
});

test('a download is told with how much of it is there', () => {
  const file = { url: 'train.wasm', name: 'engine (train.wasm)', bytes: 349_990, crc32: 0 };
  expect(downloadText([{ file, received: 1500, wanted: true }])).toBe('Loading the engine (train.wasm), 2 of 350 kB.');
});

test('a question that is withdrawn does not take the estimate from another one of its kind', async () => {
  const pool = {
    run: vi.fn(
      (_job: string, _input: object, { signal }: { signal: AbortSignal }) =>
        new Promise<void>((resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error));
          setTimeout(resolve, 5);
        }),
    ),
  };
  const ask = (signal: AbortSignal) =>
    estimated(pool as unknown as Pool, 'random-head', { width: 2048, head_width: 2048 } as never, signal);
  const [first, second] = [new AbortController(), new AbortController()];
  const answers = [ask(first.signal), ask(second.signal)];
  first.abort();
  expect(await answers[1]).toBeGreaterThan(0);
  expect(pool.run).toHaveBeenCalledTimes(2); // one measurement, of two runs
  // Where nobody waits any more, it ends.
  const [alone, later] = [new AbortController(), new AbortController()];
  const other = (signal: AbortSignal) =>
    estimated(pool as unknown as Pool, 'random-head', { width: 4096, head_width: 2048 } as never, signal);
  const left = other(alone.signal);
  alone.abort();
  expect(await left).toBeNull();
  expect(await other(later.signal)).toBeGreaterThan(0);
});

test('a worker that gives no sign of work is told before it counts as stuck', () => {
  expect(silenceText(29, 120, 0)).toBe('');
  expect(silenceText(31, 120, 0)).toBe(
    ' It may be stuck: no worker has answered for 31 s; after 2 min it starts again in a new one.',
  );
  expect(silenceText(1, 480, 1)).toBe(' It started again, because its worker did not answer.');
  expect(silenceText(120, 480, 1)).toBe(
    ' It started again, because its worker did not answer. Now no worker has answered for 2 min; ' +
      'after 8 min the computation is given up.',
  );
});
