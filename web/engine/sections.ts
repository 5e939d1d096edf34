import type { JobName } from './protocol';

/** The engine comes in one WASM module a section of the page, loaded when it is first asked. */
export type ModuleName = 'localize' | 'collapse' | 'train';

/** The module that knows a job. */
export function moduleOf(job: JobName): ModuleName {
  if (job === 'collapse' || job === 'cosines') return 'collapse';
  return job === 'train' || job === 'speak' || job === 'attend' ? 'train' : 'localize';
}
