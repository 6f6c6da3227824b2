/** Far more than people write, and far less than what overflows the stack of whatever walks through a value. */
export const NESTING_LIMIT = 200;

/**
 * Whether a parsed value is nested too deeply, or contains itself. Parsers take what the code after them cannot: a key
 * of forty thousand parts in TOML, a YAML list in itself.
 */
export function isTooDeep(value: unknown, levels = NESTING_LIMIT): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  const inner: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  return inner.some((each) => isTooDeep(each, levels - 1));
}
