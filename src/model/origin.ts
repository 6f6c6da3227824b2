export const ORIGIN_KINDS = ['project', 'cli', 'env', 'user', 'git', 'package'] as const;
export type OriginKind = (typeof ORIGIN_KINDS)[number];

/** Where content comes from, and how it ranks against the other origins: the lower number wins. */
export interface Origin {
  kind: OriginKind;
  displayName: string;
  /** Absolute path of the BMAD root. */
  root: string;
  priority: number;
  bmadVersion?: string;
}
