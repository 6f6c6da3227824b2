/** The same object without the keys that have no value, for types whose optional keys must be absent, not undefined. */
export function present<T extends object>(table: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(table).filter(([, value]) => value !== undefined)) as T;
}
