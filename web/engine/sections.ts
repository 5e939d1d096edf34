import type { JobName } from './protocol';

/** The engine comes in one WASM module a section of the page, loaded when it is first asked. */
export type ModuleName = 'localize' | 'collapse';

/** The module that knows a job. */
export function moduleOf(job: JobName): ModuleName {
  return job === 'collapse' || job === 'cosines' ? 'collapse' : 'localize';
}
