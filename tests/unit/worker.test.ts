// The worker with an engine of the test: which of its jobs it advances.
import { beforeEach, expect, test, vi } from 'vitest';
import type { FromWorker, ToWorker } from '../../web/engine/protocol';

/** Milliseconds of the clock that the worker reads. */
let clock = 0;
/** Names of jobs: as they were created, and as they were advanced. */
let created: string[] = [];
let advanced: string[] = [];
/** Milliseconds of a step, steps, and steps after which the result differs, of each job. */
const steps: Record<string, { slow: number; count: number; parts: number }> = {
  fast: { slow: 1, count: 60, parts: 1 },
  slow: { slow: 20, count: 3, parts: 1 },
  background: { slow: 1, count: 2, parts: 1 },
  layers: { slow: 100, count: 6, parts: 2 },
};

const engine = {
  createJob(name: string) {
    created.push(name);
    const { slow, count, parts } = steps[name];
    let left = count;
    return {
      advance() {
        advanced.push(name);
        clock += slow;
        return --left === 0;
      },
      progress: () => 1 - left / count,
      revision: () => Math.floor((count - left) / parts),
      output: () => ({ left }),
      delete() {},
    };
  },
};

vi.mock('../../build/wasm/engine.js', () => ({ default: () => Promise.resolve(engine) }));
vi.stubGlobal('onmessage', null);
vi.stubGlobal('performance', { now: () => clock });
vi.stubGlobal('navigator', { locks: { request: () => new Promise(() => {}) } });
const done: number[] = [];
let partials: unknown[] = [];
vi.stubGlobal('postMessage', (message: FromWorker) => {
  if (message.kind === 'done') done.push(message.id);
  if (message.kind === 'partial') partials.push(message.output);
});
await import('../../web/engine/worker');

const send = (data: ToWorker) => (globalThis.onmessage as unknown as (event: { data: ToWorker }) => void)({ data });
let id = 0;
const run = (job: string, background = false) =>
  send({ kind: 'run', id: ++id, job: job as 'check', input: {}, partition: null, background });

beforeEach(() => {
  created = [];
  advanced = [];
  done.length = 0;
  partials = [];
  send({ kind: 'load', engine: {} as WebAssembly.Module });
});

test('jobs with steps of different lengths have the same time', async () => {
  run('slow');
  run('fast');
  await vi.waitFor(() => expect(done).toHaveLength(2));
  const fast = advanced.flatMap((name, i) => (name === 'slow' ? [advanced.slice(0, i).length] : []));
  expect(fast.map((at, i) => at - i)).toEqual([0, 20, 40]);
});

test('a background job begins when no other is left', async () => {
  run('background', true);
  run('fast');
  await vi.waitFor(() => expect(done).toHaveLength(2));
  expect(created).toEqual(['fast', 'background']);
  expect(advanced.lastIndexOf('fast')).toBeLessThan(advanced.indexOf('background'));
});

test('a job that comes into the background lets others go before it, until it leaves it', async () => {
  const move = (background: boolean) => send({ kind: 'move', id: id - 1, background });
  run('slow');
  run('fast');
  move(true);
  await vi.waitFor(() => expect(done).toHaveLength(2));
  expect(advanced.slice(0, 60)).toEqual(Array(60).fill('fast'));
  advanced = [];
  run('slow', true);
  run('fast');
  move(false);
  await vi.waitFor(() => expect(done).toHaveLength(4));
  expect(advanced.lastIndexOf('slow')).toBeLessThan(advanced.lastIndexOf('fast'));
});

test('a partial result is posted where it differs from the one before', async () => {
  run('layers');
  await vi.waitFor(() => expect(done).toHaveLength(1));
  expect(partials).toEqual([{ left: 5 }, { left: 4 }, null, { left: 2 }, null]);
});
