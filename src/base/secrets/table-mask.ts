import { MASK, masked } from './rules.ts';
import { isSecretName, URL_CREDENTIALS } from './secret-names.ts';
import { TOKEN_SHAPES } from './secret-shapes.ts';
import { isNoSecretOf } from './secret-values.ts';
import { isTree, mapValues } from './secrets.ts';

/**
 * Masks what is secret in a table that has been parsed already: at any depth the values of secret-looking keys, and what
 * looks like a key or token of a well-known service.
 */
export function maskSecretValues(value: unknown): unknown {
  if (typeof value === 'string') return maskedText(value);
  if (Array.isArray(value)) return value.map(maskSecretValues);
  if (!isTree(value)) return value;
  return mapValues(value, (inner, key) =>
    isSecretName(key) ? secretValue(inner, key) : maskSecretValues(inner),
  );
}

/** Texts that have nothing secret in them, which are the same with every call; no other is kept. */
const plain = new Set<string>();
const MOST_PLAIN = 5_000;
const LONGEST_PLAIN = 500;

function maskedText(value: string): string {
  if (plain.has(value)) return value;
  const { text } = masked(value, [URL_CREDENTIALS, ...TOKEN_SHAPES]);
  if (text === value && value.length <= LONGEST_PLAIN) {
    if (plain.size >= MOST_PLAIN) plain.clear();
    plain.add(value);
  }
  return text;
}

function secretValue(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return value.map((item) => secretValue(item, name));
  if (isTree(value)) return mapValues(value, (inner) => secretValue(inner, name));
  if (value === null || typeof value === 'boolean') return value;
  const isText = typeof value === 'string' || typeof value === 'number';
  return isText && isNoSecretOf(name, `${value}`) ? value : MASK;
}
