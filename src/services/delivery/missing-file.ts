import { basename, dirname, extname } from 'node:path/posix';
import { BmadError, quoted } from '../../base/errors.ts';
import { contentUri, otherEndings } from '../../base/files/paths.ts';
import { t } from '../../base/text/message.ts';
import { nearest } from '../../base/text/suggest.ts';
import type { Origin } from '../../model/record.ts';
import { RENDERED } from './resolve-skill.ts';

/**
 * Names what is close: a file of the same folder with a similar name, or one of that very name elsewhere. What is built in
 * is of another version than what a project has, and only named where that has nothing.
 */
export function noSuchFile(
  path: string,
  known: readonly string[],
  origins: ReadonlyMap<string, Origin>,
): BmadError {
  const [folder, name] = [dirname(path), basename(path)];
  const beside = known.filter((other) => dirname(other) === folder).map((other) => basename(other));
  // A text may have no more than the ending wrong, of a text.
  const stem = (other: string): string => basename(other, extname(other));
  const isText = (other: string): boolean => /\.(?:md|ya?ml)$/.test(other);
  const sameStem = otherEndings(name).find((other) => beside.includes(other));
  // Or only the beginning right: `step-04.md` for `step-04-final-validation.md`.
  const longer = isText(name)
    ? beside.filter((other) => isText(other) && stem(other).startsWith(`${stem(name)}-`))
    : [];
  const meantBy = sameStem ?? (longer.length === 1 ? longer[0] : undefined);
  const near = [...longer, ...nearest(name, beside)].map((other) => `${folder}/${other}`);
  const elsewhere = known.filter((other) => basename(other) === name);
  const close = [...new Set([...near, ...elsewhere])];
  const own = close.filter((other) => origins.get(other)?.kind !== 'package');
  const meant = (own.length > 0 ? own : close).map(contentUri);
  let around = folder;
  while (around !== '.' && !known.some((other) => other.startsWith(`${around}/`))) around = dirname(around);
  const pattern = around === '.' ? undefined : `${around}/**`;
  return new BmadError('not_found', t`There is no file ${quoted(contentUri(path))}.`, {
    reason: 'content',
    subject: contentUri(path),
    suggestions: meant.length > 0 ? meant.slice(0, 3) : besides(path, known),
    hint:
      meantBy === undefined
        ? t`If a text of BMAD names it, it is not part of this install: do without it.`
        : t`If a text of BMAD names it, ${quoted(meantBy)} is meant: read that.`,
    steps: [{ operation: 'list', args: { what: 'resources', pattern }, why: 'List the files' }],
  });
}

/** What can be read in the folder that was asked for, or beside the file: of its kind first, the nearest first. */
export function besides(path: string, known: readonly string[]): string[] {
  const depth = (other: string): number => other.split('/').length;
  const ofKind = (other: string): number => Number(extname(other) !== extname(path));
  for (const folder of [path, dirname(path)]) {
    const found = known.filter((other) => other !== path && other.startsWith(`${folder}/`));
    if (found.length === 0) continue;
    return found
      .sort((a, b) => ofKind(a) - ofKind(b) || depth(a) - depth(b))
      .slice(0, 3)
      .map(contentUri);
  }
  return [];
}

/** That a workflow has no such file, or is not one that is rendered. */
export function noSuchRendered(
  name: string,
  path: string,
  rendered: ReadonlyMap<string, string> | undefined,
): BmadError {
  const uri = contentUri(`${RENDERED}${name}/${path}`);
  return new BmadError('not_found', t`There is no rendered file ${quoted(uri)}.`, {
    subject: uri,
    suggestions: nearest(path, rendered?.keys() ?? []).map((known) =>
      contentUri(`${RENDERED}${name}/${known}`),
    ),
    ...(rendered === undefined
      ? { hint: t`Only some workflows are rendered; read the file in its own folder instead.` }
      : {
          steps: [
            { operation: 'execute', args: { name, kind: 'workflow' }, why: 'Start it; it names its files' },
          ],
        }),
  });
}
