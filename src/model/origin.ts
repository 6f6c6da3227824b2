import { fold } from '../base/text/suggest.ts';

/** In their usual order. */
const ORIGIN_KINDS = ['project', 'cli', 'env', 'user', 'git', 'package'] as const;
export type OriginKind = (typeof ORIGIN_KINDS)[number];

/** Where content comes from, and how it ranks against the other origins: the lower number wins. */
export interface Origin {
  kind: OriginKind;
  displayName: string;
  /** Absolute path of the BMAD root. */
  root: string;
  priority: number;
  bmadVersion?: string;
  /** For content from git: the source without credentials, and the commit that is served. */
  git?: { source: string; commit: string };
  /** For a built-in module: where its makers keep it. */
  repository?: string;
}

/** What people call a kind of origin beside its own word. */
const SPOKEN: Readonly<Record<string, OriginKind>> = {
  path: 'cli',
  'built-in': 'package',
  builtin: 'package',
};

/** Those that are meant by a word: all of this kind, or the one with this name. */
export function originsCalled(word: string, origins: readonly Origin[]): Origin[] {
  const wanted = kindCalled(word);
  return origins.filter(({ kind, displayName }) =>
    wanted === undefined ? fold(displayName) === fold(word) : kind === wanted,
  );
}

export function kindCalled(word: string): OriginKind | undefined {
  const wanted = fold(word);
  return (
    ORIGIN_KINDS.find((kind) => kind === wanted) ??
    (Object.hasOwn(SPOKEN, wanted) ? SPOKEN[wanted] : undefined)
  );
}

/** All words by which one of these can be asked for. */
export function originWords(origins: readonly Origin[]): string[] {
  return [...new Set(origins.flatMap(({ kind, displayName }) => [kind, displayName]))];
}

/** The same, for a message. */
export const originList = (origins: readonly Origin[]): string =>
  originWords(origins)
    .map((word) => JSON.stringify(word))
    .join(', ');
