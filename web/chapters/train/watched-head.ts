import type { RunComparison } from './comparison';
import type { TrainingRun } from './training-run';
import type { State } from './state';

/** A head of a run of the comparison. */
export interface Watched {
  run: TrainingRun;
  layer: number;
  head: number;
}

/** The head that the state names as run:layer.head; where there is none, the nearest that there is. */
export function watchedIn(comparison: RunComparison, { watched }: Readonly<State>): Watched {
  const [kind, place = ''] = watched.split(':');
  const run = comparison.runs.find((it) => it.kind === kind) ?? comparison.runs[0];
  const [layer, head] = place.split('.').map((part) => Math.max(0, Math.trunc(Number(part)) || 0));
  const { depth, heads } = run.training;
  return { run, layer: Math.max(0, Math.min(depth - 1, layer)), head: Math.min(heads - 1, head ?? 0) };
}

/** The same as the state's text. */
export function watchedText(kind: string, layer: number, head: number): string {
  return `${kind}:${layer}.${head}`;
}

/** A token as it can be read: a space is seen, a byte that is no letter by itself is its number. */
export function tokenText(bytes: Uint8Array): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.replace(/ /g, '␣').replace(/\n/g, '↵');
  } catch {
    return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  }
}
