/** A text that a client was given. */
interface DeliveredText {
  /** Its folder in the content, where the files are that it names. */
  folder: string;
  /** Its own file, which may give names to places. */
  path: string;
  /** The agent, if it is one. */
  agent?: string;
  /** Where its files are that were rendered like it: `rendered/bmad-build`. */
  rendered?: string;
  project: string | undefined;
}

/** What a client was given lately, to which its next call may refer; `turn` counts its calls. */
export interface Recent {
  /** The latest first. */
  texts: DeliveredText[];
  /** What was called for an answer that has more parts, by the cursor of the next. */
  calls: Map<string, { tool: string; args: Readonly<Record<string, unknown>> }>;
  turn: number;
  /** Texts of agents and of their work that it has; not there where several conversations could be meant. */
  given?: Map<string, GivenText>;
  /** Whether the user wants no questions, by what they said last about it. */
  unasked?: boolean;
}

/** A long text that need not be given again as long as it stays the same; `answered` is the last call for it. */
interface GivenText {
  digest: string;
  /** The cursor of the part that it has not asked for yet. */
  next: string | undefined;
  answered?: { words: string; turn: number } | undefined;
}
