import { join } from 'node:path';
import { usersGit } from '../files/repository.ts';
import type { ProgramEnvironment } from './start-program.ts';

/** What people and repositories have set for git, as far as our questions depend on it. */

export type Ask = (words: readonly string[], mostBytes?: number) => Promise<Said | undefined>;

interface Said {
  code: number | undefined;
  parts: readonly Buffer[];
  /** The same as a text. */
  readonly output: string;
}

/** What is set for filters, and for what a user ignores. */
export type GitSettings = readonly Setting[];

/** The words that switch filters off; nothing where that cannot be done. */
export type Filters = readonly string[] | undefined;

interface Setting {
  /** Before git 2.26 there is none. */
  scope: string | undefined;
  key: string;
  value: string | undefined;
}

const MOST_FILTERS = 100;
const SET = ['-z', '--get-regexp', String.raw`^(filter\.|core\.excludesfile$)`];

/** Nothing where git does not tell. */
export async function settingsBy(ask: Ask): Promise<Setting[] | undefined> {
  const scoped = await ask(['config', '--show-scope', ...SET]);
  const told = scoped?.code === 129 ? await ask(['config', ...SET]) : scoped;
  // 1: there are none.
  if (told === undefined || (told.code !== 0 && told.code !== 1)) return undefined;
  const parts = told.output.split('\0').filter((part) => part !== '');
  const entries = told === scoped ? parts.filter((_, index) => index % 2 === 1) : parts;
  return entries.map((entry, at) => {
    // The key ends with its line; the value may have any number of them.
    const end = entry.indexOf('\n');
    return {
      scope: told === scoped ? parts[at * 2] : undefined,
      key: end < 0 ? entry : entry.slice(0, end),
      value: end < 0 ? undefined : entry.slice(end + 1),
    };
  });
}

/**
 * What switches off the filters that the repository itself defines; those of the user are the user's choice. Nothing where
 * they cannot be told or switched off: git is not asked at all then. Where there are no scopes, all are switched off.
 */
export function withoutFilters(settings: GitSettings | undefined): Filters {
  const foreign = settings?.filter(({ scope }) => scope !== 'system' && scope !== 'global');
  const names = new Set(foreign?.flatMap(({ key }) => /^filter\.(.*)\.[^.]*$/.exec(key)?.[1] ?? []));
  // Names are bytes: one that is no text would have to be switched off by another name than its own.
  if (foreign === undefined || names.size > MOST_FILTERS || [...names].some((name) => /[=\uFFFD]/.test(name)))
    return undefined;
  return [...names].flatMap((name) =>
    ['clean=', 'smudge=', 'process=', 'required=false'].flatMap((off) => ['-c', `filter.${name}.${off}`]),
  );
}

/** Where the user's own ignore file is. */
export async function ignoredByUser(
  ask: Ask,
  env: ProgramEnvironment,
  settings: GitSettings | undefined,
): Promise<string> {
  const own = settings?.findLast(({ scope, key }) => scope === 'global' && key === 'core.excludesfile');
  const isScoped = settings?.every(({ scope }) => scope !== undefined) === true;
  if (isScoped && own === undefined) return join(usersGit(env), 'ignore');
  // What is written in short for a folder, git knows.
  if (own?.value !== undefined && !/^[~%]/.test(own.value)) return own.value;
  const named = await ask(['config', '--global', '--path', '--get', 'core.excludesFile']);
  return named?.code === 0 ? named.output.trimEnd() : join(usersGit(env), 'ignore');
}
