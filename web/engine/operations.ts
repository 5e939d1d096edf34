// What the page knows of the operations: web/generated/operations.json, written at build.
import operations from '../generated/operations.json';
import type { Operations } from '../generated/operations';
import type { JobName } from './protocol';

/** How the work of a job can be divided. */
export interface Division {
  partitions: number;
  /** A last job makes the result of what the partitions have found; else they have its rows, one after another. */
  joins: boolean;
}
interface Facts extends Division {
  fields: readonly string[];
}
const facts: Readonly<Record<string, Facts>> = operations;

/** The first operation that has this field in its input. */
export function operationWith(field: string): JobName | undefined {
  const found = Object.keys(facts).find((name) => facts[name].fields.includes(field));
  return found as JobName | undefined;
}

export function divisionOf(job: JobName): Division {
  return facts[job] ?? { partitions: 1, joins: false }; // `check` is no operation
}

/** Those of some values that are fields of an operation's input. */
export function inputOf<J extends keyof Operations>(
  operation: J,
  values: Operations[J]['input'] & Record<string, unknown>,
): Operations[J]['input'] {
  const own = facts[operation].fields;
  return Object.fromEntries(Object.entries(values).filter(([name]) => own.includes(name)));
}
