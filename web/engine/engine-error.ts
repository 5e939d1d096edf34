import type { EngineFailure } from './protocol';

/** An error of the library, or of the worker it ran in. */
export class EngineError extends Error {
  /** The parameter, tensor or key at fault; '' where none is. */
  readonly field: string;
  /** The job was under way; else its input was refused. */
  readonly begun: boolean;
  /** The computation broke, and may do better once more; else its input was refused. */
  get broken(): boolean {
    return this.name === 'Error';
  }
  constructor(failure: EngineFailure) {
    super(failure.message);
    this.name = failure.name;
    this.field = failure.field;
    this.begun = failure.begun ?? false;
  }
}

function failureOf(message: string): EngineFailure {
  return { name: 'Error', field: '', message };
}

/** No worker starts; `reason` is '' where the browser gives none, as for what a policy forbids. */
export function notStarted(reason: string): EngineFailure {
  return failureOf(
    reason
      ? `The workers in which this page computes do not start: ${reason}. The browser may be too old ` +
          'for this page: update it, or open the page in another.'
      : 'The browser blocks the workers in which this page computes. A Content-Security-Policy must ' +
          "allow them by worker-src 'self' blob:; a browser extension may block them too.",
  );
}

/** The worker was stuck, twice. */
export function stalledFor(seconds: number): EngineFailure {
  return failureOf(
    `The computation was stopped: a step of it must end within ${Math.round(seconds)} s here, and did ` +
      'not, in two workers one after the other. Choose a smaller problem.',
  );
}

/** Workers end again and again, without an error that says why. */
export const VANISHED = failureOf(
  'The computation stopped several times without an error message. The browser may have run out ' +
    'of memory: close other tabs or choose a smaller problem.',
);

const MEMORY = /memory|alloc|out of bounds|OOM|call stack/i;

/** The engine broke inside a computation. */
export function crashOf(reason: string): EngineFailure {
  const advice = MEMORY.test(reason)
    ? ' The problem may need more memory than the browser gives it: choose a smaller one.'
    : '';
  return failureOf(`The computation stopped: ${reason || 'the worker gave no reason'}.${advice}`);
}
