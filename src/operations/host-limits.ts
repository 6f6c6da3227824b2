import { sha256 } from '../base/values.ts';
import { withoutEnd, withoutEnds, cut } from '../base/text/text.ts';
import type { Call, SettingsPort } from './context.ts';

/** How much of one answer hosts show their model where they cut the rest, by what they call themselves. */
const CUTTING: readonly { host: RegExp; bytes: number }[] = [
  // Cuts longer answers in the middle where it does not know its model.
  { host: /^codex/i, bytes: 10_000 },
];

/** A text to be followed comes whole up to this size; all other hosts that were watched show more than that. */
const TEXT_BYTES = 24_000;
/** More than usual is risked only for a text that would be torn apart. */
const RISKED = 1.4;

interface TextLimits {
  /** The size up to which a text is delivered in one answer. */
  maxBytes: number;
  /** The same for a text that is a little longer, or has sections that it points to itself. */
  mostBytes: number;
}

/** What the user has set counts; otherwise, what the host can take. */
export function textLimits({ config, configFrom }: SettingsPort, { host = '' }: Call): TextLimits {
  const own = configFrom.answerBytes.layer === 'default' ? undefined : config.answerBytes;
  const bytes = own ?? CUTTING.find((each) => each.host.test(host))?.bytes;
  return bytes === undefined
    ? { maxBytes: TEXT_BYTES, mostBytes: Math.floor(TEXT_BYTES * RISKED) }
    : { maxBytes: bytes, mostBytes: bytes };
}

/** A name in the characters every host takes; what is left of a name in another script may be nothing. */
export function hostName(name: string): string {
  return withoutEnds(name.toLowerCase().replace(/[^a-z0-9_]+/g, '-'), '-');
}

interface Naming<T> {
  /** Possible names, the best first; parts of it that are empty make it impossible. */
  ways(item: T): readonly (readonly string[])[];
  /** What it is, in words that stay the same whatever else there is. */
  identity(item: T): string;
  maxLength: number;
  taken?: readonly string[];
}

/**
 * Gives each thing a name of its own, in order. Names do not depend on what comes later, so that they stay when
 * something is added at the end; where every way is taken or too long, a mark of its identity is part of the name.
 */
export function assignNames<T>(items: readonly T[], naming: Naming<T>): Map<string, T> {
  const taken = new Set(naming.taken);
  const named = new Map<string, T>();
  for (const item of items) {
    const ways = naming.ways(item).map((parts) => parts.map(hostName));
    const free = ways
      .filter((parts) => !parts.includes(''))
      .map((parts) => parts.join('-'))
      .find((name) => name.length <= naming.maxLength && !taken.has(name));
    const name = free ?? marked(ways[0] ?? [], naming.identity(item), naming.maxLength);
    taken.add(name);
    named.set(name, item);
  }
  return named;
}

function marked(parts: readonly string[], identity: string, maxLength: number): string {
  const mark = sha256(identity).slice(0, 8);
  const rest = withoutEnd(cut(parts.filter(Boolean).join('-'), maxLength - mark.length - 1), '-');
  return `${rest}-${mark}`;
}
