// The pool with workers of the test: what it does when they fail to start, vanish or crash.
import { beforeEach, expect, test, vi } from 'vitest';
import type { FromWorker, ToWorker } from '../../web/engine/protocol';

/** A worker that does nothing by itself. */
class FakeWorker {
  static made: FakeWorker[] = [];
  /** What new workers do when they are made. */
  static start: (worker: FakeWorker) => void = () => {};
  onmessage: (event: { data: FromWorker }) => void = () => {};
  onerror: (event: { message: string; preventDefault(): void }) => void = () => {};
  posted: ToWorker[] = [];
  lock = `lock ${FakeWorker.made.length}`;

  constructor() {
    FakeWorker.made.push(this);
    queueMicrotask(() => FakeWorker.start(this));
  }
  postMessage(message: ToWorker): void {
    this.posted.push(message);
  }
  terminate(): void {}
  send(data: FromWorker): void {
    this.onmessage({ data });
  }
  fail(): void {
    this.onerror({ message: '', preventDefault: () => {} });
  }
  get jobs(): number[] {
    return this.posted.flatMap((it) => (it.kind === 'run' ? [it.id] : []));
  }
}

vi.mock('../../web/engine/worker?worker&inline', () => ({ default: FakeWorker }));
vi.mock('../../web/engine/modules', () => ({ compileModule: () => Promise.resolve({}) }));
const { Pool } = await import('../../web/engine/pool');

/** Those who wait until a worker is gone. */
const watchers = new Map<string, () => void>();
vi.stubGlobal('window', globalThis);
vi.stubGlobal('navigator', {
  hardwareConcurrency: 2,
  locks: {
    request: (name: string, _: object, granted: () => void) => {
      watchers.set(name, granted);
      return new Promise(() => {});
    },
  },
});

const pause = () => new Promise((done) => setTimeout(done));
const ready = (worker: FakeWorker) => worker.send({ kind: 'ready', lock: worker.lock });
const vanish = (worker: FakeWorker) => watchers.get(worker.lock)?.();
/** The workers that were given a job, the last one last. */
const users = () => FakeWorker.made.filter(({ jobs }) => jobs.length > 0);
const check = { operation: 'collapse' as const, field: 'heads', text: '2' };

beforeEach(() => {
  FakeWorker.made = [];
  FakeWorker.start = ready;
});

test('workers that do not start are not made again and again', async () => {
  FakeWorker.start = (worker) => worker.fail();
  const pool = new Pool();
  const error = await pool.run('check', check).catch((it: Error) => it);
  expect(error).toMatchObject({ message: expect.stringContaining('worker-src') });
  for (let i = 0; i < 20; i++) await pause();
  expect(FakeWorker.made.length).toBeLessThan(8);
});

test('a job whose worker vanishes starts again in another', async () => {
  const pool = new Pool();
  const restarted = vi.fn();
  const answer = pool.run('check', check, { onRestart: restarted });
  await pause();
  const [first] = users();
  vanish(first);
  await pause();
  expect(restarted).toHaveBeenCalledTimes(1);
  const second = users()[1];
  second.send({ kind: 'done', id: second.jobs[0], output: {} });
  expect(await answer).toEqual({});
});

test('a job whose workers vanish again and again is given up', async () => {
  const pool = new Pool();
  const answer = pool.run('check', check).catch((it: Error) => it);
  for (let time = 1; time <= 4; time++) {
    await pause();
    expect(users()).toHaveLength(time);
    vanish(users()[time - 1]);
  }
  expect(await answer).toMatchObject({ message: expect.stringContaining('stopped several times') });
});

test('a crash is told with its reason, and memory is blamed only where the reason does', async () => {
  const pool = new Pool();
  const crash = async (message: string) => {
    const answer = pool.run('check', check).catch((it: Error) => it.message);
    await pause();
    const worker = users()[users().length - 1];
    const failure = { name: 'Error' as const, field: '', message };
    worker.send({ kind: 'failed', id: worker.jobs[0], failure });
    return answer;
  };
  expect(await crash('unreachable')).toBe('The computation stopped: unreachable.');
  expect(await crash('memory access out of bounds')).toMatch(/may need more memory/);
});

test('bytes that a worker cannot read are read for it', async () => {
  const pool = new Pool();
  const file = new Blob(['0123456789']);
  const input = { model: [new Blob([]), file], index: null, config: null };
  void pool.run('tensors', input as never);
  await pause();
  const [worker] = users();
  const [id] = worker.jobs;
  worker.send({ kind: 'read', id, file: 1, offset: 3, length: 4 });
  await pause();
  const sent = worker.posted.find((it) => it.kind === 'bytes');
  expect(sent).toMatchObject({ id, file: 1, offset: 3 });
  expect(new TextDecoder().decode(sent?.bytes ?? undefined)).toBe('3456');
});

test('shares of one job go to workers of their own', async () => {
  const pool = new Pool();
  const controller = new AbortController();
  const answer = pool.run('predict', { model: [] }, { signal: controller.signal });
  await pause();
  expect(users()).toHaveLength(2);
  const shares = users().flatMap(({ posted }) =>
    posted.flatMap((it) => (it.kind === 'run' ? [it.share] : [])),
  );
  expect(shares).toEqual([{ number: 0 }, { number: 1 }]);
  controller.abort(new Error('enough'));
  await expect(answer).rejects.toThrow('enough');
});
