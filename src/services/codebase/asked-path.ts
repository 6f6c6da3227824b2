import { isAbsolute, relative } from 'node:path';
import { BmadError, quoted } from '../../base/errors.ts';
import { withoutEnd } from '../../base/text/ends.ts';
import { globMatcher } from '../../base/text/glob.ts';
import { nearest } from '../../base/text/suggest.ts';

/** Which paths a caller's folder, file or pattern takes. */
export function pathFilter(root: string, given: string): (path: string) => boolean {
  const wanted = plainPath(root, given);
  if (wanted === '') return () => true;
  if (!/[*?]/.test(wanted)) return (path) => path === wanted || path.startsWith(`${wanted}/`);
  // A pattern without a folder applies to files in any folder.
  return globMatcher(wanted.includes('/') ? wanted : `**/${wanted}`);
}

export function plainPath(root: string, given: string): string {
  const slashed = given.trim().replaceAll('\\', '/');
  const inside = isAbsolute(given.trim()) ? relative(root, given.trim()).replaceAll('\\', '/') : slashed;
  const parts: string[] = [];
  for (const part of inside.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined) throw outside(given);
  }
  if (/^[A-Za-z]:$/.test(parts[0] ?? '') || given.includes('\0')) throw outside(given);
  return parts.join('/');
}

function outside(given: string): BmadError {
  return new BmadError('forbidden', `The path ${quoted(given)} is outside the project.`, {
    subject: given.slice(0, 200),
    hint: 'Use a folder, a file or a pattern inside the project: "src", "src/app.ts" or "src/**/*.ts".',
  });
}

/** The error for a path that takes no file, with folders and files of a name like it. */
export function nothingAt(given: string, paths: readonly string[]): BmadError {
  const places = new Set<string>();
  for (const path of paths.slice(0, 5_000)) {
    places.add(path);
    for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1))
      places.add(path.slice(0, slash));
  }
  const wanted = withoutEnd(given.replace(/^\.?\/+/, ''), '/');
  return new BmadError('not_found', `The project has no files at ${quoted(given)}.`, {
    subject: given.slice(0, 200),
    suggestions: /[*?]/.test(given) ? [] : nearest(wanted, places),
    hint: 'Use a folder, a file or a pattern: "src", "src/app.ts" or "src/**/*.ts". Ignored and secret files are not searched.',
  });
}
