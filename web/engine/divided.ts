import type { Division } from './operations';
import type { RunOptions } from './run-options';
import type { JobName, Output, Partition } from './protocol';

/** Runs a partition of a job, which gives what it has found, or the job that makes the result of these. */
type RunPartition<J extends JobName> = <Answer>(partition: Partition, options: RunOptions<J>) => Promise<Answer>;

/** The result of partitions that have rows of it: lists one after another, without texts that are in several. */
function joined<Result extends object>(parts: readonly Result[]): Result {
  if (parts.length === 1) return parts[0];
  const join = ([first, ...others]: unknown[]): unknown => {
    if (typeof first === 'number') return (others as number[]).reduce((sum, it) => sum + it, first);
    return Array.isArray(first) ? [...new Set([first, ...others].flat())] : first;
  };
  const names = Object.keys(parts[0]) as (keyof Result)[];
  return Object.fromEntries(names.map((name) => [name, join(parts.map((part) => part[name]))])) as Result;
}

/**
 * Divides a job among workers. Partial results have the rows of all partitions, or are those of the first; progress is
 * that of all. What fails of one partition ends the others.
 */
export async function divided<J extends JobName>(
  run: RunPartition<J>,
  { partitions, joins }: Division,
  { signal, onPartial, onStart, ...same }: RunOptions<J>,
): Promise<Output<J>> {
  const ending = new AbortController();
  const abort = () => ending.abort(signal?.reason);
  signal?.throwIfAborted();
  signal?.addEventListener('abort', abort, { once: true });
  const progress = new Array<number>(partitions).fill(0);
  const shown: Output<J>[] = [];
  const take = (number: number, output: Output<J>, own: number) => {
    progress[number] = own;
    if (!joins || number === 0) shown[number] = output;
    const parts = shown.filter(Boolean);
    if (parts.length > 0) onPartial?.(joined(parts), progress.reduce((sum, it) => sum + it) / partitions);
  };
  const each = { ...same, signal: ending.signal, onStart };
  try {
    const all = <Answer>(rows?: true) =>
      Promise.all(
        progress.map((_, number) =>
          run<Answer>({ number, rows }, { ...each, onPartial: (output, own) => take(number, output, own) }),
        ),
      );
    if (!joins) return joined(await all<Output<J>>(true));
    return await run<Output<J>>({ found: await all<Uint8Array>() }, { ...same, signal: ending.signal, onPartial });
  } catch (error) {
    ending.abort(error);
    throw error;
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}
