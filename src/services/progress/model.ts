/** How far something is. A phase is never skipped; an item is when a ledger says so. */
export type State = 'complete' | 'in progress' | 'not started' | 'skipped' | 'unknown';

export const PHASES = ['analysis', 'planning', 'solutioning', 'implementation'] as const;
export type Phase = (typeof PHASES)[number];

/** A file of the project, the line that decided, and what it says. */
export interface Evidence {
  file: string;
  line?: number | undefined;
  says: string;
}

export type ItemKind =
  | 'research'
  | 'brief'
  | 'prd'
  | 'spec'
  | 'ux'
  | 'architecture'
  | 'epics'
  | 'readiness'
  | 'sprint'
  | 'epic'
  | 'story'
  | 'retrospective'
  | 'change';

/** One thing a project makes on its way. */
export interface Item {
  kind: ItemKind;
  phase: Phase;
  /** `prd`, `epic-1`, `1-2-account-management`, `1.2` for a story of version 4. */
  id: string;
  state: State;
  /** The word of the ledger or the file. */
  status?: string | undefined;
  evidence: Evidence[];
}

type DriftKind =
  | 'status differs'
  | 'epic done, stories open'
  | 'no file'
  | 'no ledger row'
  | 'invalid status'
  | 'duplicate key'
  | 'unknown key'
  | 'no epic row'
  | 'second ledger'
  | 'ledger behind'
  | 'ledger ahead'
  | 'broken ledger';

/** Two places of a project that do not agree, or one that cannot be right. */
export interface Drift {
  kind: DriftKind;
  about: string;
  says: string;
  evidence: Evidence[];
}

/** Something that could not be read. */
export type { Problem as Trouble } from '../../model/record.ts';

export function at({ file, line }: { file: string; line?: number | undefined }): string {
  return line === undefined ? file : `${file}:${line}`;
}
