import type { RunOptions } from './run-options';
import type { JobName, Output, Partition } from './protocol';

/** Runs a partition of a job, which gives what it has found, or the job that makes the result of these. */
type RunPartition<J extends JobName> = <Answer>(partition: Partition, options: RunOptions<J>) => Promise<Answer>;

/**
 * Divides a job among workers. Partial results are those of the first partition; progress is that of all.
 * What fails of one partition ends the others.
 */
export async function divided<J extends JobName>(
  run: RunPartition<J>,
  partitions: number,
  { signal, onPartial, onStart, ...same }: RunOptions<J>,
): Promise<Output<J>> {
  const ending = new AbortController();
  const abort = () => ending.abort(signal?.reason);
  signal?.throwIfAborted();
  signal?.addEventListener('abort', abort, { once: true });
  const progress = new Array<number>(partitions).fill(0);
  let shown: Output<J> | null = null;
  const take = (number: number, output: Output<J>, own: number) => {
    progress[number] = own;
    if (number === 0) shown = output;
    if (shown) onPartial?.(shown, progress.reduce((sum, it) => sum + it) / partitions);
  };
  try {
    const found = await Promise.all(
      progress.map((_, number) =>
        run<Uint8Array>(
          { number },
          { ...same, signal: ending.signal, onStart, onPartial: (output, own) => take(number, output, own) },
        ),
      ),
    );
    return await run<Output<J>>({ found }, { ...same, signal: ending.signal, onPartial });
  } catch (error) {
    ending.abort(error);
    throw error;
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}
