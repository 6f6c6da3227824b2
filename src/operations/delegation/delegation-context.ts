import { t } from '../../base/text/message.ts';
import { ours } from '../../base/expected.ts';
import { isFileInside } from '../../base/files/files.ts';
import { shownText } from '../../base/secrets/scanner.ts';
import { contextFiles, type ContextRules, type Shown } from './context-files.ts';
import { namedIn, type Mention } from './context-mentions.ts';
import type { ContextPart } from '../context.ts';

const BARE = /^[^\s:@]+$/;
const PATH_SHAPE = /[/\\]|\.\w{1,8}$/;
/** So many words with @ are looked for in the project; a text with more is no list of files. */
const LOOKED_FOR = 200;
/** A file is cut here before anything else is done with it: far more than a question has room for. */
const FILE_LENGTH = 150_000;

/**
 * What goes with a task, and the files that the task itself names in its sentences. A line of `@docs/prd.md` names files of the project, which are put in; a file that is named so
 * inside a sentence is put in too, and so is every path of a context that is made of paths only. Everything else is text.
 * Files are read through the jail of the project, and one that is named and cannot be read stops the call.
 */
export async function delegationContext(
  context: string,
  task: string,
  project: () => Promise<Shown>,
  { hide, signal }: Pick<ContextRules, 'hide' | 'signal'>,
): Promise<ContextPart[]> {
  const root = async (): Promise<string> => (await project()).root;
  const lines = context.split(/\r?\n/).map((line) => ({ line, ...namedIn(line) }));
  const certain = new Set(
    lines.flatMap(({ isOnlyNames, mentions }) => (isOnlyNames ? mentions.filter(isPath) : [])),
  );
  const isNaming = ({ isOnlyNames, mentions }: (typeof lines)[number]): boolean =>
    isOnlyNames && mentions.every((mention) => certain.has(mention));
  const rest = lines
    .filter((line) => !isNaming(line))
    .map(({ line }) => line)
    .join('\n');
  const bare = certain.size === 0 ? await onlyPaths(rest, root) : [];
  const told = lines.flatMap(({ mentions }) => mentions).filter((mention) => !certain.has(mention));
  const asked = task.split(/\r?\n/).flatMap((line) => namedIn(line).mentions);
  const named = [
    ...[...certain].map(({ path }) => path),
    ...bare,
    ...(await existing(bare.length > 0 ? [] : told.map(({ path }) => path), root)),
    ...(await existing(
      asked.map(({ path }) => path),
      root,
    )),
  ];
  const files =
    named.length === 0
      ? []
      : await contextFiles(await project(), [...new Set(named)], {
          hide,
          signal,
          field: 'context',
          most: FILE_LENGTH,
        });
  const text = bare.length > 0 ? '' : rest.trim();
  return [
    ...(text === ''
      ? []
      : [{ title: t`Context from the requester`, text: shownText(text, hide), isFile: false }]),
    ...files.map(({ path, ...file }) => ({ title: path, ...file, isFile: true })),
  ];
}

/** A name alone in a line, `@ada`, is somebody unless there is such a file; with a folder or an ending it is a path. */
function isPath({ path, isQuoted }: Mention): boolean {
  return isQuoted || PATH_SHAPE.test(path);
}

/** In a sentence, `@ada` is somebody and `@types/node` a package, unless there is such a file. */
async function existing(paths: readonly string[], root: () => Promise<string>): Promise<string[]> {
  if (paths.length === 0) return [];
  // Without a project there are no files, and a text is a text.
  const folder = await root().catch(ours(() => undefined));
  if (folder === undefined) return [];
  const found: string[] = [];
  for (const path of [...new Set(paths)].slice(0, LOOKED_FOR))
    if (await isFileInside(folder, path)) found.push(path);
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
