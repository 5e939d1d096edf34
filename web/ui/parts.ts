import type { Input, JobName, Output } from '../engine/protocol';
import type { FigureContext } from './figure';

/** Items in at most `most` parts of about the same size, in their order; none is empty. */
export function partsOf<T>(items: readonly T[], most: number): T[][] {
  const count = Math.min(most, items.length);
  const start = (part: number) => Math.round((part * items.length) / count);
  return Array.from({ length: count }, (_, part) => items.slice(start(part), start(part + 1)));
}

/**
 * Runs a job for each part of its work, beside each other in the workers. `take` gets the newest output of every
 * part, undefined where there is none yet, whenever that of one `part` is new; `done` when it is that part's last.
 */
export async function runParts<J extends JobName>(
  { run }: Pick<FigureContext, 'run'>,
  job: J,
  inputs: readonly Input<J>[],
  take: (outputs: readonly (Output<J> | undefined)[], part: number, done: boolean) => void,
): Promise<void> {
  const outputs: (Output<J> | undefined)[] = inputs.map(() => undefined);
  await Promise.all(
    inputs.map(async (input, part) => {
      const keep = (output: Output<J>, done: boolean) => {
        outputs[part] = output;
        take(outputs, part, done);
      };
      keep(await run(job, input, (output) => keep(output, false)), true);
    }),
  );
}

/** Calls no more often than every `interval` milliseconds: calls that come too soon are left out. */
export function throttle(interval: number, call: () => void): () => void {
  let last = -Infinity;
  return () => {
    const now = performance.now();
    if (now - last < interval) return;
    last = now;
    call();
  };
}
