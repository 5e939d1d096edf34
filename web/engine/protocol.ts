// What the page may ask of the engine, what comes back, and the messages that carry both.

import type { Operations } from '../generated/operations';
import type { Remote } from './terms';

export type * from './terms';

/** A file as the page gives it to a job: the worker makes a ByteSource of it. */
export type Source = Blob | Remote;

/** Every job: its input and the shape of its (partial and final) results. */
export interface Jobs extends Operations {
  /**
   * Fails as the operation would with this text in one field of its input: EngineError.field is the
   * field. A text that it allows gives nothing.
   */
  check: { input: { operation: JobName; field: string; text: string }; output: object };
}

export type JobName = keyof Jobs;
export type Input<J extends JobName> = Jobs[J]['input'];
export type Output<J extends JobName> = Jobs[J]['output'];

/** An error of the library: `field` is the parameter, tensor or key at fault, '' where none is. */
export interface EngineFailure {
  name: 'InvalidArgument' | 'FormatError' | 'Error';
  field: string;
  message: string;
  /** The job was under way: the library had taken its input. */
  begun?: boolean;
}

/**
 * What is wanted of a job that is divided among workers: the partition of this number, or with what all partitions
 * have found the result. The output of a partition has `rows` of that of the job.
 */
export type Partition = { number: number; rows?: true } | { found: Uint8Array[] };

/** Main thread to worker. The engine is compiled once and shared; it precedes the first job. */
export type ToWorker =
  | { kind: 'load'; engine: WebAssembly.Module }
  /**
   * `partition` is null for a job that is not divided. Of a partition without rows the final output is what it has found. A
   * `background` job advances, and takes memory, only while the worker has no other.
   */
  | { kind: 'run'; id: number; job: JobName; input: unknown; partition: Partition | null; background: boolean }
  /** A job that has begun comes into the background, or out of it; what it holds stays. */
  | { kind: 'move'; id: number; background: boolean }
  | { kind: 'cancel'; id: number }
  /** Asks which jobs the worker has; the answer has the same number. */
  | { kind: 'ping'; number: number }
  /** Bytes of the job's file number `file` from `offset` on, which the worker could not read; null
   * where the main thread cannot either. */
  | { kind: 'bytes'; id: number; file: number; offset: number; bytes: Uint8Array<ArrayBuffer> | null };

/**
 * Worker to main thread. A partial output comes where there is progress, and before the failure of a job that is under
 * way; it is null where it equals the one before, and for partitions without rows but the first. `progress` is in [0, 1].
 * `slowest` are the milliseconds of the longest step of the job so far, in which the worker looks at no message.
 */
export type FromWorker =
  /** The worker runs, and holds this lock as long as it lives; null where it has none. */
  | { kind: 'ready'; lock: string | null }
  /** Asks for bytes of a file that only the main thread can read; the job waits for them. */
  | { kind: 'read'; id: number; file: number; offset: number; length: number }
  | { kind: 'partial'; id: number; progress: number; output: unknown; slowest: number }
  | { kind: 'done'; id: number; output: unknown; slowest: number }
  /**
   * The jobs that the worker has, whether it advances one of them (and does not only wait for a module or for
   * bytes), and the bytes of its WASM memories.
   */
  | { kind: 'pong'; number: number; ids: number[]; busy: boolean; memory: number }
  | { kind: 'cancelled'; id: number }
  | { kind: 'failed'; id: number; failure: EngineFailure };

/**
 * What the WASM module exports: one factory. A job advances until it returns true (done). `work`
 * is about how many multiply-adds one call should do (the library reads no clock): the worker
 * tunes it so that it can look at its messages every few milliseconds. A partial output may be
 * asked for after any call. Exceptions are JavaScript Errors with `name`, `message` and `field`.
 * For the worker's side, a Blob or a Remote is replaced by a ByteSource that reads synchronously.
 */
export interface ByteSource {
  name: string;
  size: number;
  /** The bytes, valid until the next read, or why they cannot be had. Must not throw. */
  read(offset: number, length: number): Uint8Array | string;
}
export interface NativeJob {
  advance(work: number): boolean;
  progress(): number;
  /** Differs when the output does. */
  revision(): number;
  output(): unknown;
  /** Of a partition that is done: what the job that joins the partitions needs of it. */
  found(): Uint8Array;
  delete(): void;
}
export interface NativeEngine {
  createJob(job: JobName, input: unknown): NativeJob;
  /** Partition number `partition`; -1 with what all of them have found, for the result. */
  createPartition(job: JobName, input: unknown, partition: number, found: Uint8Array[]): NativeJob;
}
