/** A step that loads the configuration and names what is taken from it. */
const LOAD =
  /^- Load `(\.bmad-[\w-]+\/core-config\.yaml)`(?: from the project root)?\n- If the file does not exist, HALT and inform the user: "core-config\.yaml not found\.[^"\n]*"\n- Extract key configurations: (`[\w.*]+`(?:, `[\w.*]+`)*)\n/m;

/**
 * What to do without a program that divides documents: to stop, or to have a setting changed. All of it is known to the
 * letter, but for the folder.
 */
const WITHOUT_PROGRAM =
  /^If the command fails \(especially with an error indicating the command is not found or not available\), inform the user: "The markdownExploder setting is enabled but the md-tree command is not available\. Please either:\n\n1\. Install @kayvan\/markdown-tree-parser globally with: `npm install -g @kayvan\/markdown-tree-parser`\n2\. Or set markdownExploder to false in \.bmad-[\w-]+\/core-config\.yaml\n\n\*\*IMPORTANT: STOP HERE - do not proceed with manual sharding until one of the above actions is taken\.\*\*"\n\nIf markdownExploder is set to false, inform the user: "The markdownExploder setting is currently false\. For better performance and reliability, you should:\n\n1\. Set markdownExploder to true in \.bmad-[\w-]+\/core-config\.yaml\n2\. Install @kayvan\/markdown-tree-parser globally with: `npm install -g @kayvan\/markdown-tree-parser`\n\nI will now proceed with the manual sharding process\."\n\nThen proceed with the manual method below ONLY if markdownExploder is false\.\]\]\n/m;

/** Stands where a text has its reader stop for want of a program. */
const BY_HAND = '[No `md-tree`? Do not stop, and leave core-config.yaml alone: take the Manual Method.]]]\n';

/** The configuration that a text asks for. */
export interface TaskConfig {
  path: string;
  /** Whether a setting (`devStoryLocation`), or all of a part (`prd.*`), is among the values. */
  gives(name: string): boolean;
}

const loadedMark = (path: string): string => `[Done: \`${path}\` is loaded, see Values.]`;

/** Whether a text comes without the loading of its configuration, so that nobody has to read that. */
export function isLoadedIn(text: string, { path }: TaskConfig): boolean {
  return text.includes(loadedMark(path));
}

/**
 * The text of a task of version 4 without the loading of its configuration, where all that it takes from it is given, and
 * without the stop for a missing program that can be done without.
 */
export function withoutV4Loading(text: string, config: TaskConfig | undefined): string {
  if (config === undefined) return text;
  return text
    .replace(LOAD, (step: string, path: string, names: string) =>
      path === config.path && [...names.matchAll(/`([^`]+)`/g)].every(([, name = '']) => config.gives(name))
        ? `${loadedMark(path)}\n`
        : step,
    )
    .replace(WITHOUT_PROGRAM, BY_HAND);
}
