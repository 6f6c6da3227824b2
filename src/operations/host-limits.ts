import type { Call, SettingsPort } from './context.ts';

/**
 * How much of one answer each host has shown its model in full, by what it calls itself. Codex cuts longer answers in the
 * middle where it does not know its model.
 */
const SEEN: readonly { host: RegExp; bytes: number }[] = [
  { host: /^claude-code/i, bytes: 16_000 },
  { host: /^gemini-cli/i, bytes: 16_000 },
  { host: /^opencode/i, bytes: 16_000 },
  { host: /^codex/i, bytes: 10_000 },
];

/** Of a host that nobody has watched: more than usual is risked only for a text that would be torn apart. */
const RISKED = 1.4;

interface TextLimits {
  /** The size up to which a text is delivered in one answer. */
  maxBytes: number;
  /** The same for a text with sections that it points to itself. */
  mostBytes: number;
}

/** What the user has set counts; otherwise, what the host can take. */
export function textLimits({ config, configFrom }: SettingsPort, { host }: Call): TextLimits {
  const usual = config.answerBytes;
  if (configFrom.answerBytes !== 'default') return { maxBytes: usual, mostBytes: usual };
  const seen = host === undefined ? undefined : SEEN.find((each) => each.host.test(host))?.bytes;
  return seen === undefined
    ? { maxBytes: usual, mostBytes: Math.floor(usual * RISKED) }
    : { maxBytes: seen, mostBytes: seen };
}
