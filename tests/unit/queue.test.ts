import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { draw, drawNow } from '../../web/ui/queue';

let frames: (() => void)[] = [];
let tasks: (() => void)[] = [];
/** Milliseconds that the clock says. */
let now = 0;

beforeEach(() => {
  vi.stubGlobal('requestAnimationFrame', (call: () => void) => frames.push(call));
  vi.stubGlobal('setTimeout', (call: () => void) => tasks.push(call));
  vi.spyOn(performance, 'now').mockImplementation(() => now);
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** Runs what the next frame and its task hold; returns what was drawn. */
function nextFrame(drawn: string[]): string[] {
  const before = drawn.length;
  for (const call of frames.splice(0)) call();
  for (const call of tasks.splice(0)) call();
  return drawn.slice(before);
}

/** Long enough that no further step begins before the next frame. */
const LONG = 10;

test('a drawing has a task for each of its long steps, and ends before the next one begins', () => {
  const drawn: string[] = [];
  const put = (name: string) => {
    now += LONG;
    drawn.push(name);
  };
  const steps = (name: string) =>
    function* () {
      put(`${name}1`);
      yield;
      put(`${name}2`);
    };
  const whole = () => put('whole');
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

test('short steps and drawings share a task until its time is used', () => {
  const drawn: string[] = [];
  const put = (name: string, milliseconds: number) => {
    now += milliseconds;
    drawn.push(name);
  };
  draw(function* () {
    put('a1', 1);
    yield;
    put('a2', 1);
  });
  draw(() => put('long', LONG));
  draw(() => put('late', 1));
  expect(nextFrame(drawn)).toEqual(['a1', 'a2', 'long']);
  expect(nextFrame(drawn)).toEqual(['late']);
});

test('a drawing that fails does not hold up the others', () => {
  const drawn: string[] = [];
  const fails = function* () {
    now += LONG;
    yield;
    throw new Error('no room');
  };
  draw(fails);
  draw(() => void drawn.push('next'));
  expect(nextFrame(drawn)).toEqual([]);
  expect(() => nextFrame(drawn)).toThrow('no room');
  expect(nextFrame(drawn)).toEqual(['next']);
});
