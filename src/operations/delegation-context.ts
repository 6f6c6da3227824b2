import { modifiedInside } from '../base/files.ts';
import { shownText } from '../base/secret-text.ts';
import { contextFiles } from './context-files.ts';
import type { ContextPart } from './context.ts';

/** A line of nothing but `@docs/prd.md`, one or several. */
const NAMING = /^[ \t]*(?:[-*][ \t]+)?(?:@[^\s,]+[,;]?[ \t]*)+$/;
const MENTION = /(?<![\w@])@([^\s,;:()"'`]*[^\s,;:()"'`.!?])/g;
const BARE = /^[^\s:@]+$/;
const PATH_SHAPE = /[/\\]|\.\w{1,8}$/;

/**
 * What goes with a task. A line of `@docs/prd.md` names files of the project, which are put in; a file that is named so
 * inside a sentence is put in too, and so is every path of a context that is made of paths only. Everything else is text.
 * Files are read through the jail of the project, and one that is named and cannot be read stops the call.
 */
export async function delegationContext(
  context: string | undefined,
  root: () => Promise<string>,
  hide: (text: string) => string,
): Promise<ContextPart[]> {
  if (context === undefined) return [];
  const lines = context.split(/\r?\n/);
  const naming = lines.filter((line) => NAMING.test(line));
  const rest = lines.filter((line) => !NAMING.test(line)).join('\n');
  const bare = naming.length === 0 ? await onlyPaths(rest, root) : [];
  const named = [
    ...naming.flatMap((line) => mentions(line)),
    ...bare,
    ...(await existing(bare.length > 0 ? [] : mentions(rest), root)),
  ];
  const files = named.length === 0 ? [] : await contextFiles(await root(), named, hide, 'context');
  const text = bare.length > 0 ? '' : rest.trim();
  return [
    ...(text === '' ? [] : [{ title: 'Context from who asks', text: shownText(text, hide), isFile: false }]),
    ...files.map((file) => ({ title: file.path, text: file.text, isFile: true })),
  ];
}

function mentions(text: string): string[] {
  return [...text.matchAll(MENTION)].map(([, path = '']) => path);
}

/** In a sentence, `@ada` is somebody and `@types/node` a package, unless there is such a file. */
async function existing(paths: readonly string[], root: () => Promise<string>): Promise<string[]> {
  const found: string[] = [];
  for (const path of paths) if ((await modifiedInside(await root(), path)) !== undefined) found.push(path);
  return found;
}

/** The paths of a text that is made of paths only; a word such as "Node.js" is one only where there is such a file. */
async function onlyPaths(context: string, root: () => Promise<string>): Promise<string[]> {
  const words = context
    .split(/[\r\n,]+/)
    .map((word) => word.trim())
    .filter((word) => word !== '');
  const isList = words.length > 0 && words.every((word) => BARE.test(word) && PATH_SHAPE.test(word));
  return isList && (await existing(words, root)).length > 0 ? words : [];
}
