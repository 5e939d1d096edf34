import { expect, test } from 'vitest';
import { Signal } from '../../web/state/signal';

test('every listener hears of a value when one throws, and the sender has its error', () => {
  const signal = new Signal<number>();
  const heard: number[] = [];
  signal.subscribe(() => {
    throw new Error('one');
  });
  signal.subscribe((value) => heard.push(value));
  expect(() => signal.send(3)).toThrow('one');
  expect(heard).toEqual([3]);
});

test('a listener of the next value alone hears no other, and leaves those beside it', () => {
  const signal = new Signal<number>();
  const heard: number[] = [];
  signal.once((value) => heard.push(value));
  signal.subscribe((value) => heard.push(10 * value));
  for (const value of [3, 4]) signal.send(value);
  expect(heard).toEqual([3, 30, 40]);
});
