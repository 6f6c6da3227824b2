import { sha256 } from '../../base/sha256.ts';

/** Six hexadecimal digits of run, step and variables, the way BMAD's checkpoints are numbered. */
export function checkpointId(
  run: string,
  step: number,
  variables: Readonly<Record<string, unknown>>,
): string {
  return sha256(`${run}:${step}:${pythonJson(variables)}`).slice(0, 6);
}

/** By which a state is recognised, whatever the order of its keys. */
export function stateDigest(table: Readonly<Record<string, unknown>>): string {
  return sha256(pythonJson(table)).slice(0, 16);
}

/** JSON as Python's `json.dumps(value, sort_keys=True)` writes it, which is what checkpoint ids are made of. */
export function pythonJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(pythonJson).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const parts = Object.entries(value)
      .filter(([, inner]) => inner !== undefined)
      .sort(([a], [b]) => byCodePoint(a, b))
      .map(([key, inner]) => `${ascii(key)}: ${pythonJson(inner)}`);
    return `{${parts.join(', ')}}`;
  }
  if (typeof value === 'string') return ascii(value);
  return JSON.stringify(value) ?? 'null';
}

function ascii(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007F-\uFFFF]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Python orders names by code points, JavaScript by halves of them. */
function byCodePoint(a: string, b: string): number {
  const [left, right] = [Array.from(a), Array.from(b)];
  for (const [index, char] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    const order = (char.codePointAt(0) ?? 0) - (other.codePointAt(0) ?? 0);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}
