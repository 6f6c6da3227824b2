import { modifiedInside } from '../base/files.ts';
import { shownText } from '../base/secret-text.ts';
import { contextFiles } from './context-files.ts';
import type { ContextPart } from './context.ts';

const NAMED = /^[ \t]*(?:[-*][ \t]+)?@(\S+)[ \t]*$/;
const PATH = /^[^\s:@]+$/;
const PATH_SHAPE = /[/\\]|\.\w{1,8}$/;

/**
 * What goes with a task. A line `@docs/prd.md` is a file of the project, put in whole; so is every line of a context that
 * holds nothing but paths of which one exists. Everything else is text. Files are read through the jail of the project, and
 * one that cannot be read stops the call.
 */
export async function delegationContext(
  context: string | undefined,
  root: () => Promise<string>,
  hide: (text: string) => string,
): Promise<ContextPart[]> {
  if (context === undefined) return [];
  const lines = context.split(/\r?\n/);
  const paths = lines.flatMap((line) => NAMED.exec(line)?.[1] ?? []);
  const bare = paths.length === 0 ? await onlyPaths(context, root) : [];
  const named = bare.length > 0 ? bare : paths;
  const text = bare.length > 0 ? '' : lines.filter((line) => !NAMED.test(line)).join('\n');
  const files = named.length === 0 ? [] : await contextFiles(await root(), named, hide, 'context');
  return [
    ...(text.trim() === ''
      ? []
      : [{ title: 'Context from who asks', text: shownText(text.trim(), hide), isFile: false }]),
    ...files.map((file) => ({ title: file.path, text: file.text, isFile: true })),
  ];
}

/** The paths of a text that is made of paths only; a word such as "Node.js" is one only where there is such a file. */
async function onlyPaths(context: string, root: () => Promise<string>): Promise<string[]> {
  const words = context
    .split(/[\r\n,]+/)
    .map((word) => word.trim())
    .filter((word) => word !== '');
  if (words.length === 0 || !words.every((word) => PATH.test(word) && PATH_SHAPE.test(word))) return [];
  const folder = await root();
  for (const word of words) if ((await modifiedInside(folder, word)) !== undefined) return words;
  return [];
}
