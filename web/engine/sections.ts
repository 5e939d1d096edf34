import type { JobName } from './protocol';

/** The engine comes in one WASM module a section of the page, loaded when it is first asked. */
export type ModuleName = 'localize' | 'collapse' | 'train' | 'checkpoint' | 'reading' | 'ladder';

const OTHERS: Partial<Record<JobName, ModuleName>> = {
  ...{ collapse: 'collapse', cosines: 'collapse' },
  ...{ train: 'train', evaluate: 'train', speak: 'train', attend: 'train' },
  ...{ scan: 'checkpoint', tensors: 'checkpoint' },
  ...{ measure: 'reading', passages: 'reading' },
  ...{ ladder: 'ladder' },
};

/** The module that knows a job. */
export function moduleOf(job: JobName): ModuleName {
  return OTHERS[job] ?? 'localize';
}
