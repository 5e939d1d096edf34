/** Whether two records have the same names with the same values. */
export function areEqual<Value>(a: Readonly<Record<string, Value>>, b: typeof a): boolean {
  return Object.keys({ ...a, ...b }).every((name) => a[name] === b[name]);
}
