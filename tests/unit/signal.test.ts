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
