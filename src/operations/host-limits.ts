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
  const own = configFrom.answerBytes === 'default' ? undefined : config.answerBytes;
  const bytes = own ?? CUTTING.find((each) => each.host.test(host))?.bytes;
  return bytes === undefined
    ? { maxBytes: TEXT_BYTES, mostBytes: Math.floor(TEXT_BYTES * RISKED) }
    : { maxBytes: bytes, mostBytes: bytes };
}
