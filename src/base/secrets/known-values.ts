import { MASK, stripUrlCredentials } from './rules.ts';

/** Values that must never be shown: registered once, removed from every log line and every answer. */
export interface Secrets {
  add(value: string): void;
  /** Removes registered values, for text that must otherwise not change. */
  hide(text: string): string;
  /** The same for every text inside a value. */
  hideIn(value: unknown): unknown;
  /** Removes registered values and the credentials of URLs; for everything the server says itself. */
  redact(text: string): string;
}

/** Shorter values would blank out ordinary words. */
const SHORTEST_SECRET = 6;

export function createSecrets(): Secrets {
  /** The longest first: where one secret is the beginning of another, the rest of the other would stay. */
  let values: string[] = [];
  function hide(text: string): string {
    let safe = text;
    for (const value of values) safe = safe.replaceAll(value, MASK);
    return safe;
  }
  return {
    add(value) {
      if (value.length < SHORTEST_SECRET || values.includes(value)) return;
      values = [...values, value].sort((a, b) => b.length - a.length);
    },
    hide,
    hideIn: (value) => (values.length === 0 ? value : mapTexts(value, hide)),
    // In this order, because a registered URL has to be found as it was registered.
    redact: (text) => stripUrlCredentials(hide(text)),
  };
}

function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map));
  return isTree(value) ? mapValues(value, (inner) => mapTexts(inner, map)) : value;
}

export function isTree(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof Date);
}

export function mapValues(table: object, map: (value: unknown, key: string) => unknown): unknown {
  return Object.fromEntries(Object.entries(table).map(([key, value]) => [key, map(value, key)]));
}
