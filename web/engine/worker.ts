import createEigenscope from '../../build/wasm/engine.js';
import { withSources, type Sources } from './byte-source';
import type { FromWorker, JobName, NativeEngine, NativeJob, Partition, ToWorker } from './protocol';

interface Task {
  id: number;
  engine: NativeEngine;
  name: JobName;
  sources: Sources;
  partition: Partition | null;
  background: boolean;
  /** Made by the first step, which reads the headers of files. */
  job: NativeJob | null;
  work: number;
  /** Milliseconds that its steps have taken; of one that came later, as if it had been there from the beginning. */
  spent: number;
  /** When the next partial result may be posted, and the progress at the last one. */
  due: number;
  progress: number;
  /** Of the last partial result that was posted. */
  revision: number;
  /** Milliseconds of its longest step. */
  slowest: number;
}

/** One call of advance() should take about this long, so that a cancel is seen within it. */
const SLICE = 8;
/** Partial results are posted no more often than this, and no more of them than so many bytes in a millisecond. */
const PARTIAL = 60;
const PARTIAL_BYTES = 1000;

const tasks = new Set<Task>();
/** Tasks that wait for bytes which only the main thread can read. */
const starved = new Map<number, Task>();
const next = new MessageChannel();
/** Jobs that wait for the engine, and whether they are in the background. */
const waiting = new Map<number, boolean>();
let scheduled = false;
let engine: Promise<NativeEngine> | undefined;
let memory: WebAssembly.Memory | undefined;

/** Results move to the main thread: their arrays are copies of what the job holds. Returns their bytes. */
function post(message: FromWorker): number {
  const transfer = 'output' in message ? [...new Set(buffersOf(message.output))] : [];
  const bytes = transfer.reduce((sum, { byteLength }) => sum + byteLength, 0);
  postMessage(message, { transfer });
  return bytes;
}

function* buffersOf(value: unknown): Generator<ArrayBuffer> {
  if (ArrayBuffer.isView(value)) yield value.buffer as ArrayBuffer;
  else if (typeof value === 'object' && value !== null) {
    for (const part of Object.values(value)) yield* buffersOf(part);
  }
}

function fail(id: number, error: unknown, begun = false): void {
  const given = error as { name?: string; field?: string; message?: string };
  const named = given.name === 'InvalidArgument' || given.name === 'FormatError';
  const failure = {
    name: named ? (given.name as 'InvalidArgument' | 'FormatError') : ('Error' as const),
    field: given.field ?? '',
    message: given.message ?? String(error),
    begun,
  };
  post({ kind: 'failed', id, failure });
}

async function begin(message: Extract<ToWorker, { kind: 'run' }>): Promise<void> {
  waiting.set(message.id, message.background);
  try {
    const native = await engine;
    const background = waiting.get(message.id);
    waiting.delete(message.id);
    if (background === undefined || !native) return; // cancelled before the engine was there
    const { id, job: name, input, partition } = message;
    const sources = withSources(input);
    join({
      id,
      engine: native,
      name,
      sources,
      partition,
      background,
      job: null,
      work: 1e6,
      spent: 0,
      due: performance.now() + PARTIAL,
      progress: 0,
      revision: NaN,
      slowest: 0,
    });
  } catch (error) {
    waiting.delete(message.id);
    fail(message.id, error);
  }
}

function find(id: number): Task | undefined {
  return [...tasks].find((it) => it.id === id) ?? starved.get(id);
}

function cancel(id: number): void {
  waiting.delete(id);
  const task = find(id);
  if (task) tasks.delete(task);
  starved.delete(id);
  task?.job?.delete();
  task?.sources.close();
  post({ kind: 'cancelled', id });
}

function move(id: number, background: boolean): void {
  if (waiting.has(id)) waiting.set(id, background);
  const task = find(id);
  if (!task) return; // or it has ended
  task.background = background;
  if (tasks.delete(task)) join(task);
}

function created({ engine, name, sources: { input }, partition }: Task): NativeJob {
  if (!partition) return engine.createJob(name, input);
  return 'number' in partition
    ? engine.createPartition(name, input, partition.number, [])
    : engine.createPartition(name, input, -1, partition.found);
}

/** Advances the task whose turn it is, and measures with the clock how much work a slice holds. */
function step(task: Task): boolean {
  const start = performance.now();
  task.job ??= created(task);
  const { id, job, partition } = task;
  const done = job.advance(task.work);
  const now = performance.now();
  task.spent += now - start;
  const slowest = (task.slowest = Math.max(task.slowest, now - start));
  task.work = Math.min(1e10, Math.max(1e3, task.work * clamp(SLICE / (now - start))));
  if (done) {
    const output = partition && 'number' in partition && !partition.rows ? job.found() : job.output();
    post({ kind: 'done', id, output, slowest });
    job.delete();
    task.sources.close();
  } else if (now > task.due) {
    postPartial(task, job);
  }
  return done;
}

/**
 * Posts what the job has found, where that is more than before. It may be large, and what the page has let go waits
 * for the garbage collector: so the next one waits too.
 */
function postPartial(task: Task, job: NativeJob): void {
  const { id, partition, slowest } = task;
  const progress = job.progress();
  if (progress === task.progress) return;
  const revision = job.revision();
  const isShown = !partition || !('number' in partition) || partition.rows || partition.number === 0;
  const output = isShown && revision !== task.revision ? job.output() : null;
  const bytes = post({ kind: 'partial', id, progress, output, slowest });
  task.due = performance.now() + Math.max(PARTIAL, bytes / PARTIAL_BYTES);
  task.progress = progress;
  task.revision = revision;
}

/** Ends a task whose step failed. What it found before stays, unless the engine broke. */
function end(task: Task, error: unknown): void {
  const { id, job, sources } = task;
  if (job && (error as Error).name === 'FormatError') postPartial(task, job);
  fail(id, error, job !== null);
  job?.delete();
  sources.close();
}

/** Asks for the bytes without which a step failed; a failed step leaves its job as it was. */
function starve(task: Task): boolean {
  const file = task.sources.files.findIndex(({ missing }) => missing);
  const missing = task.sources.files[file]?.missing;
  if (!missing) return false;
  starved.set(task.id, task);
  post({ kind: 'read', id: task.id, file, ...missing });
  return true;
}

function feed({ id, file, offset, bytes }: ToWorker & { kind: 'bytes' }): void {
  const task = starved.get(id);
  if (!task) return; // cancelled meanwhile
  starved.delete(id);
  task.sources.files[file].feed(offset, bytes);
  join(task);
}

function clamp(ratio: number): number {
  return Number.isFinite(ratio) ? Math.min(4, Math.max(0.25, ratio)) : 4;
}

/** The background or other task that has had the least time: steps of one may take a hundred times as long. */
function neediest(background: boolean): Task | undefined {
  const own = [...tasks].filter((it) => it.background === background);
  return own.reduce<Task | undefined>((least, it) => (least && least.spent <= it.spent ? least : it), undefined);
}

/** Takes a task among those that have turns; it is owed no time that it was not there. */
function join(task: Task): void {
  task.spent = Math.max(task.spent, neediest(task.background)?.spent ?? 0);
  tasks.add(task);
  schedule();
}

/** Comes back after the messages that arrived meanwhile. */
function schedule(): void {
  if (scheduled || tasks.size === 0) return;
  scheduled = true;
  next.port2.postMessage(null);
}

next.port1.onmessage = () => {
  scheduled = false;
  const task = neediest(false) ?? neediest(true);
  if (!task) return;
  try {
    if (step(task)) tasks.delete(task);
  } catch (error) {
    tasks.delete(task);
    if (!starve(task)) end(task, error);
  }
  schedule();
};

function instance(module: WebAssembly.Module): Promise<NativeEngine> {
  return new Promise((resolve, reject) => {
    createEigenscope({
      instantiateWasm(imports, receive) {
        WebAssembly.instantiate(module, imports).then((it) => {
          const all = Object.values(it.exports); // the linker may have shortened its name
          memory = all.find((value) => value instanceof WebAssembly.Memory);
          receive(it, module);
        }, reject);
        return {};
      },
    }).then(resolve, reject);
  });
}

function answer(number: number): void {
  const busy = tasks.size > 0;
  const ids = [...Array.from(tasks, ({ id }) => id), ...waiting.keys(), ...starved.keys()];
  post({ kind: 'pong', number, ids, busy, memory: memory?.buffer.byteLength ?? 0 });
}

onmessage = ({ data }: MessageEvent<ToWorker>) => {
  if (data.kind === 'run') void begin(data);
  else if (data.kind === 'cancel') cancel(data.id);
  else if (data.kind === 'move') move(data.id, data.background);
  else if (data.kind === 'bytes') feed(data);
  else if (data.kind === 'ping') answer(data.number);
  else {
    engine = instance(data.engine);
    engine.catch(() => {}); // its first job reports it
  }
};

/** Says that this worker runs. The lock is free again when it ends, however it ends. */
async function report(): Promise<void> {
  const lock = `eigenscope ${crypto.getRandomValues(new Uint32Array(4)).join('-')}`;
  const forever = new Promise<void>(() => {});
  const held = () => {
    post({ kind: 'ready', lock });
    return forever;
  };
  try {
    await navigator.locks.request(lock, held);
  } catch {
    post({ kind: 'ready', lock: null }); // a page from the disk, or without https
  }
}

void report();
