/** Folders and files whose texts go to models, to other programs or into files, and not to people at a terminal. */
const FOR_OTHERS: readonly string[] = [
  'surfaces/mcp/',
  'surfaces/http/',
  'surfaces/a2a/',
  'surfaces/cli/completion.ts',
  'page/',
  'language/',
  'meaning/analyse.ts',
  'meaning/french.ts',
  'meaning/vectors.ts',
  'meaning/lexicon.ts',
  'services/delegation/',
  'services/delivery/',
  'services/search/',
  'services/handover/compose.ts',
  'services/progress/rules.ts',
  'services/progress/workers.ts',
  'services/memory/sqlite/',
  'services/codebase/definitions.ts',
  'operations/client/',
  'operations/generation-words.ts',
  'operations/activation/',
  'operations/unified/',
  'kit/museum/museum-write.ts',
  'readers/described-module.ts',
  'base/http/',
  'base/process/project-git.ts',
  'base/text/agent-titles.ts',
  'base/text/code-words.ts',
  'base/text/spoken.ts',
];

export function isForPeople(file: string): boolean {
  return !FOR_OTHERS.some((path) => file.startsWith(path));
}
