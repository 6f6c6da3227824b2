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

/** By how the name that a host gives itself begins. Only these are told anything else than all others. */
const WAYS: Readonly<Record<string, HostWays>> = {
  'claude-code': { splitsPrompts: true, readsSearchHints: true },
  'gemini-cli': { dropsOptional: true, wrapsAnswers: true },
};

/** Those that are told something else, and one for all others. */
export const KINDS_OF_HOSTS: readonly string[] = ['', ...Object.keys(WAYS)];

export function kindOfHost(host: string | undefined): string {
  const name = host?.toLowerCase() ?? '';
  return Object.keys(WAYS).find((kind) => name.startsWith(kind)) ?? '';
}

export const waysOf = (host: string | undefined): HostWays => WAYS[kindOfHost(host)] ?? {};
