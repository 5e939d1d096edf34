// A job that is divided among workers.
import { expect, test, vi } from 'vitest';
import { divided } from '../../web/engine/divided';
import type { RunOptions } from '../../web/engine/run-options';
import type { Partition } from '../../web/engine/protocol';

/** A partition that was asked for, and how to answer it. */
interface Asked {
  partition: Partition;
  options: RunOptions<'predict'>;
  answer: (found: never) => void;
  fail: (error: Error) => void;
}

function started(options: RunOptions<'predict'> = {}, joins = true) {
  const asked: Asked[] = [];
  const result = divided<'predict'>(
    (partition, own) =>
      new Promise((answer, fail) => {
        own.signal?.addEventListener('abort', () => fail(own.signal?.reason));
        asked.push({ partition, options: own, answer: answer as Asked['answer'], fail });
      }),
    { partitions: 2, joins },
    options,
  );
  return { asked, result };
}

const pause = () => new Promise((done) => setTimeout(done));

test('the result is made of what the partitions have found, in their order', async () => {
  const { asked, result } = started();
  expect(asked.map(({ partition }) => partition)).toEqual([{ number: 0 }, { number: 1 }]);
  asked[1].answer('second' as never);
  asked[0].answer('first' as never);
  await pause();
  expect(asked[2].partition).toEqual({ found: ['first', 'second'] });
  asked[2].answer('both' as never);
  expect(await result).toBe('both');
});

test('what is shown is the first partition, with the progress of all', () => {
  const onPartial = vi.fn();
  const { asked } = started({ onPartial });
  asked[1].options.onPartial?.('other' as never, 0.5);
  expect(onPartial).not.toHaveBeenCalled();
  asked[0].options.onPartial?.('own' as never, 0.2);
  expect(onPartial).toHaveBeenLastCalledWith('own', 0.35);
  asked[1].options.onPartial?.('other' as never, 0.6);
  expect(onPartial).toHaveBeenLastCalledWith('own', 0.4);
});

test('rows of all partitions are shown as they come, and are the result', async () => {
  const onPartial = vi.fn();
  const { asked, result } = started({ onPartial }, false);
  expect(asked.map(({ partition }) => partition)).toEqual([0, 1].map((number) => ({ number, rows: true })));
  const rows = (heads: string[]) =>
    ({ heads: heads.map((name) => ({ name })), read: heads.length, notes: ['alike'] }) as never;
  asked[1].options.onPartial?.(rows(['c']), 0.5);
  expect(onPartial).toHaveBeenLastCalledWith(rows(['c']), 0.25);
  asked[0].options.onPartial?.(rows(['a']), 0.5);
  expect(onPartial).toHaveBeenLastCalledWith(rows(['a', 'c']), 0.5);
  asked[1].answer(rows(['c', 'd']));
  asked[0].answer(rows(['a', 'b']));
  expect(await result).toEqual(rows(['a', 'b', 'c', 'd']));
  expect(asked).toHaveLength(2);
});

test('the failure of a partition ends the other', async () => {
  const { asked, result } = started();
  asked[1].fail(new Error('broken'));
  await expect(result).rejects.toThrow('broken');
  expect(asked[0].options.signal?.aborted).toBe(true);
  expect(asked).toHaveLength(2);
});

test('a cancel ends both partitions', async () => {
  const controller = new AbortController();
  const { asked, result } = started({ signal: controller.signal });
  controller.abort(new Error('enough'));
  await expect(result).rejects.toThrow('enough');
  for (const { options } of asked) expect(options.signal?.aborted).toBe(true);
});
