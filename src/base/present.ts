/** The same object without the keys that have no value, for types whose optional keys must be absent, not undefined. */
export function present<T extends object>(table: { [K in keyof T]: T[K] | undefined }): T {
  const all: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(table)) if (value !== undefined) all[key] = value;
  return all as T;
}
