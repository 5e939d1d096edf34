import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { draw, drawNow } from '../../web/ui/queue';

let frames: (() => void)[] = [];
let tasks: (() => void)[] = [];

beforeEach(() => {
  vi.stubGlobal('requestAnimationFrame', (call: () => void) => frames.push(call));
  vi.stubGlobal('setTimeout', (call: () => void) => tasks.push(call));
});

afterEach(() => {
  vi.unstubAllGlobals();
});

/** Runs what the next frame and its task hold; returns what was drawn. */
function nextFrame(drawn: string[]): string[] {
  const before = drawn.length;
  for (const call of frames.splice(0)) call();
  for (const call of tasks.splice(0)) call();
  return drawn.slice(before);
}

test('a drawing has a task for each of its steps, and ends before the next one begins', () => {
  const drawn: string[] = [];
  const steps = (name: string) =>
    function* () {
      drawn.push(`${name}1`);
      yield;
      drawn.push(`${name}2`);
    };
  const whole = () => void drawn.push('whole');
  const first = steps('a');
  draw(first);
  draw(steps('b'));
  draw(whole);
  draw(first); // it waits already
  expect(drawn).toEqual([]);
  const frames = Array.from({ length: 6 }, () => nextFrame(drawn));
  expect(frames).toEqual([['a1'], ['a2'], ['b1'], ['b2'], ['whole'], []]);
  drawNow(first);
  expect(drawn.slice(5)).toEqual(['a1', 'a2']);
});

test('a drawing that fails does not hold up the others', () => {
  const drawn: string[] = [];
  const fails = function* () {
    yield;
    throw new Error('no room');
  };
  draw(fails);
  draw(() => void drawn.push('next'));
  expect(nextFrame(drawn)).toEqual([]);
  expect(() => nextFrame(drawn)).toThrow('no room');
  expect(nextFrame(drawn)).toEqual(['next']);
});
