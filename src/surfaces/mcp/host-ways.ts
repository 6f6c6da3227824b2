/** What a host does with prompts and answers that a model would otherwise suffer from. */
interface HostWays {
  /** It splits what was typed at blanks and passes on as many words as a prompt has arguments (H-01). */
  splitsPrompts?: true;
  /** It leaves out an optional argument of a prompt, even if the user has typed it (H-01). */
  dropsOptional?: true;
  /** It tells its model to treat answers as passive data unless the user has asked to follow them (H-02). */
  wrapsAnswers?: true;
  /** It shows a model only the tools that a search has found, and reads words for that search beside a tool. */
  readsSearchHints?: true;
}

/** By what a host calls itself. */
const WAYS: readonly (HostWays & { host: RegExp })[] = [
  { host: /^claude-code/i, splitsPrompts: true, readsSearchHints: true },
  { host: /^gemini-cli/i, dropsOptional: true, wrapsAnswers: true },
];

export function waysOf(host: string | undefined): HostWays {
  return WAYS.find((each) => each.host.test(host ?? '')) ?? {};
}
