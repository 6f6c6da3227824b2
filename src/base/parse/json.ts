import { isTooDeep } from './nesting.ts';

/** The value of a JSON text, byte order mark or not; nothing when it is not one, or nested too deeply to work with. */
export function jsonIn(text: string): unknown {
  const value = anyJson(text);
  return isTooDeep(value) ? undefined : value;
}

/** The same however deep it is: for messages, whose sender is told what is wrong with them. */
export function anyJson(text: string): unknown {
  try {
    return JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text) as unknown;
  } catch {
    return undefined;
  }
}

/** The same for a text that should be an object; any other value is nothing. */
export function jsonObject(text: string): Record<string, unknown> | undefined {
  // Most lines of a file that is something else can be told from their first character; an exception takes much longer.
  if (!/^[\uFEFF\s]*\{/.test(text)) return undefined;
  const value = jsonIn(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}
