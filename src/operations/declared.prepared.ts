import { operations } from './index.ts';
import { operationBehind, wordsBehind } from './offers.ts';
import type { ToolDeclaration } from './toolsets.ts';

// Worked out when the programs are built, and a constant in them: to name and describe its tools, a server that starts
// needs neither the code of the operations nor their schemas. Only plain data may leave this file.

/** The tools that exist whatever the content is, in the order users see them. */
export const TOOLS: readonly ToolDeclaration[] = operations
  .filter(({ toolset }) => toolset !== undefined)
  .map(({ name, title, description, effect, toolset, route, runsPrograms, writes }) => ({
    name,
    title,
    description,
    effect,
    ...(toolset === undefined ? {} : { toolset }),
    ...(route === undefined ? {} : { route: true }),
    ...(runsPrograms === undefined ? {} : { runsPrograms }),
    ...(writes === undefined ? {} : { writes: true }),
    ...(name === 'bmad' ? { words: wordsOfBmad() } : {}),
  }));

function wordsOfBmad(): Record<string, string> {
  return Object.fromEntries(wordsBehind('bmad').map((word) => [word, operationBehind('bmad', word)]));
}
