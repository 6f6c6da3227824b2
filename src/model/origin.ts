export type OriginKind = 'project' | 'cli' | 'env' | 'user' | 'git' | 'package';

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
}
