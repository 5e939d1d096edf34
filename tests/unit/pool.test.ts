// The pool with workers of the test: what it does when they fail to start, vanish, stick, lose jobs or crash.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Background } from '../../web/engine/run-options';
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
  fail(message = ''): void {
    this.onerror({ message, preventDefault: () => {} });
  }
  /** Answers the newest question. */
  pong(ids: number[], memory = 0): void {
    const number = this.posted.reduce((last, it) => (it.kind === 'ping' ? it.number : last), 0);
    this.send({ kind: 'pong', number, ids, busy: ids.length > 0, memory });
  }
  get jobs(): number[] {
    return this.posted.flatMap((it) => (it.kind === 'run' ? [it.id] : []));
  }
}

vi.mock('../../web/engine/worker?worker&inline', () => ({ default: FakeWorker }));
vi.mock('../../web/engine/modules', () => ({ compileEngine: () => Promise.resolve({}) }));
const { Pool } = await import('../../web/engine/pool');

/** Those who wait until a worker is gone. */
const watchers = new Map<string, () => void>();
vi.stubGlobal('window', globalThis);
const shown = { visibilityState: 'visible' };
vi.stubGlobal('document', shown);
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

test('workers that do not start for a reason name it, and no policy', async () => {
  FakeWorker.start = (worker) => worker.fail('SyntaxError: Unexpected token');
  const error = await new Pool().run('check', check).catch((it: Error) => it);
  for (let i = 0; i < 20; i++) await pause();
  expect(error).toMatchObject({ message: expect.stringContaining('SyntaxError') });
  expect(error).toMatchObject({ message: expect.not.stringContaining('worker-src') });
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
  second.send({ kind: 'done', id: second.jobs[0], output: {}, slowest: 1 });
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

test('a worker hears that its job comes into the background', async () => {
  const background = new Background();
  const ending = new AbortController();
  const answer = new Pool().run('check', check, { background, signal: ending.signal });
  await pause();
  const [worker] = users();
  background.is = true;
  expect(worker.posted.at(-1)).toEqual({ kind: 'move', id: 1, background: true });
  ending.abort();
  await expect(answer).rejects.toThrow();
  background.is = false;
  expect(worker.posted.at(-1)).toEqual({ kind: 'cancel', id: 1 });
});

test('partitions of one job go to workers of their own', async () => {
  const pool = new Pool();
  const controller = new AbortController();
  const answer = pool.run('predict', { model: [] }, { signal: controller.signal });
  await pause();
  expect(users()).toHaveLength(2);
  const partitions = users().flatMap(({ posted }) => posted.flatMap((it) => (it.kind === 'run' ? [it.partition] : [])));
  expect(partitions).toEqual([{ number: 0 }, { number: 1 }]);
  controller.abort(new Error('enough'));
  await expect(answer).rejects.toThrow('enough');
  void pool.run('heads', { model: [] });
  await pause();
  const newest = users().map(({ posted }) => posted.findLast((it) => it.kind === 'run')?.partition);
  expect(newest).toEqual([0, 1].map((number) => ({ number, rows: true })));
});

describe('a silent worker', () => {
  beforeEach(() => {
    vi.useFakeTimers();
    shown.visibilityState = 'visible';
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** A job that has begun in a worker, and its answer or error. */
  async function begun(restarted = () => {}) {
    const pool = new Pool();
    const answer = pool.run('check', check, { onRestart: restarted }).catch((it: Error) => it);
    await vi.advanceTimersByTimeAsync(0);
    return { pool, answer, worker: users()[0] };
  }
  const partial = (worker: FakeWorker, slowest: number) =>
    worker.send({ kind: 'partial', id: worker.jobs[0], progress: 0.1, output: {}, slowest });
  const seconds = (count: number) => vi.advanceTimersByTimeAsync(1000 * count);

  test('whose steps are short is replaced after 30 s, and its job starts again', async () => {
    const restarted = vi.fn();
    const { answer, worker } = await begun(restarted);
    partial(worker, 10);
    await seconds(29);
    expect(users()).toHaveLength(1);
    await seconds(3);
    expect(users()).toHaveLength(2);
    expect(restarted).toHaveBeenCalledTimes(1);
    const second = users()[1];
    second.send({ kind: 'done', id: second.jobs[0], output: {}, slowest: 10 });
    expect(await answer).toEqual({});
  });

  test('is told each second, with the time after which it counts as stuck', async () => {
    const silences: number[][] = [];
    const pool = new Pool();
    void pool.run('check', check, { onSilence: (...heard) => silences.push(heard) }).catch(() => {});
    await seconds(3);
    expect(silences).toEqual([1, 2, 3].map((silent) => [silent, 120, 0]));
    await seconds(119);
    expect(silences.at(-1)).toEqual([1, 480, 1]);
  });

  test('whose job sticks once more is given up with a reason', async () => {
    const { answer, worker } = await begun();
    partial(worker, 10);
    await seconds(31);
    await seconds(121);
    expect(users()).toHaveLength(2);
    expect(await answer).toMatchObject({ message: expect.stringContaining('within 120 s') });
  });

  test('may take twenty times its longest step, and two minutes for its first one', async () => {
    const { worker } = await begun();
    await seconds(119);
    expect(users()).toHaveLength(1);
    partial(worker, 10_000);
    await seconds(199);
    expect(users()).toHaveLength(1);
    await seconds(3);
    expect(users()).toHaveLength(2);
  });

  test('whose steps are known from an earlier job like it is not given two minutes', async () => {
    const { pool, worker } = await begun();
    worker.send({ kind: 'done', id: worker.jobs[0], output: {}, slowest: 5 });
    void pool.run('check', check).catch(() => {});
    await seconds(32);
    expect(users().flatMap(({ jobs }) => jobs)).toHaveLength(3);
  });

  test('is not given the two minutes of an untimed job that waits in it', async () => {
    const restarted = vi.fn();
    const { pool, worker } = await begun(restarted);
    partial(worker, 10);
    await seconds(20);
    const other = { ...check, field: 'length' };
    const waiting = vi.fn();
    void pool.run('check', other, { onRestart: waiting });
    void pool.run('check', other, { onRestart: waiting });
    await seconds(1);
    expect(worker.jobs).toHaveLength(2);
    await seconds(11);
    expect(restarted).toHaveBeenCalledTimes(1);
    expect(waiting).toHaveBeenCalledTimes(1);
  });

  test('may take the two minutes of an untimed job that it was sent with a timed one', async () => {
    const restarted = vi.fn();
    const { pool, worker } = await begun(restarted);
    partial(worker, 10);
    const other = { ...check, field: 'length' };
    void pool.run('check', other);
    void pool.run('check', other);
    await seconds(119);
    expect(worker.jobs).toHaveLength(2);
    expect(restarted).not.toHaveBeenCalled();
    await seconds(3);
    expect(restarted).toHaveBeenCalledTimes(1);
  });

  test('is not suspected while the page is hidden or the machine sleeps', async () => {
    const { worker } = await begun();
    partial(worker, 10);
    shown.visibilityState = 'hidden';
    await seconds(300);
    shown.visibilityState = 'visible';
    await seconds(20);
    // Machines sleep in the middle of a second: the timer runs on, the clock has jumped.
    const now = performance.now.bind(performance);
    for (let hour = 1; hour < 60; hour++) {
      vi.spyOn(performance, 'now').mockImplementation(() => now() + hour * 3_600_000);
      await seconds(1);
    }
    expect(users()).toHaveLength(1);
  });

  test('that advances its job shows it when asked', async () => {
    const { worker } = await begun();
    partial(worker, 10);
    for (let i = 0; i < 20; i++) {
      await seconds(6);
      worker.pong(worker.jobs);
    }
    expect(users()).toHaveLength(1);
  });

  test('that only waits, for a module that never gets ready, is replaced', async () => {
    const { worker } = await begun();
    for (let i = 0; i < 21; i++) {
      await seconds(6);
      const number = worker.posted.filter(({ kind }) => kind === 'ping').length;
      worker.send({ kind: 'pong', number, ids: worker.jobs, busy: false, memory: 0 });
    }
    expect(users()).toHaveLength(2);
  });
});

test('a job whose message was lost starts again', async () => {
  vi.useFakeTimers();
  const pool = new Pool();
  const answer = pool.run('check', check);
  await vi.advanceTimersByTimeAsync(6000);
  users()[0].pong([]);
  await vi.advanceTimersByTimeAsync(0);
  const second = users()[1];
  second.send({ kind: 'done', id: second.jobs[0], output: {}, slowest: 1 });
  expect(await answer).toEqual({});
  vi.useRealTimers();
});

test('a worker that rests with much memory is replaced, one with little is not', async () => {
  vi.useFakeTimers();
  const pool = new Pool();
  const answer = pool.run('check', check);
  await vi.advanceTimersByTimeAsync(0);
  const [worker] = users();
  worker.send({ kind: 'done', id: worker.jobs[0], output: {}, slowest: 1 });
  await answer;
  const { length } = FakeWorker.made;
  await vi.advanceTimersByTimeAsync(11_000);
  for (const it of FakeWorker.made) it.pong([], it === worker ? 40e6 : 17e6);
  expect(FakeWorker.made).toHaveLength(length + 1);
  vi.useRealTimers();
});
