/** What a memory is, for every engine and every operation. */

/** The five kinds of memories; on Qdrant each is a collection. The order is the order of every list by type. */
export const MEMORY_TYPES = [
  'shared-context',
  'decisions',
  'agent-learnings',
  'failures',
  'stories',
] as const;

export type MemoryType = (typeof MEMORY_TYPES)[number];

/** Ids are unique within a type only: an id is not computed from the type. */
export interface MemoryKey {
  type: MemoryType;
  id: string;
}

export interface MemoryEntry extends MemoryKey {
  agent: string;
  text: string;
  tags: readonly string[];
  /** The application id of the project, `bmad-my-project`. */
  project: string;
  /** UTC, ISO 8601. When it was first remembered; kept through every change. */
  createdAt: string;
  /** When text, tags or agent were last changed. `since` and `until` look at this. */
  updatedAt: string;
  /** 1 for the first text, one more for each change of text, tags or agent. */
  revision: number;
  /** Set on a memory that was forgotten and can still be restored. */
  forgottenAt?: string;
  /** The id of the memory that replaces this one; empty when it is only out of date. */
  supersededBy?: string;
  supersededAt?: string;
  /** What else it says since two people changed it without knowing of each other; until somebody settles it. */
  others?: readonly string[];
}

/** The tag of a memory that holds beside another one, whose id follows: somebody has read both and kept both. */
export const HOLDS_WITH = 'holds-with:';

/** What a memory said before a change. */
export interface MemoryRevision {
  revision: number;
  text: string;
  tags: readonly string[];
  agent: string;
  /** When this wording was written. */
  at: string;
}

/** Every part is exact and all parts have to hold. An empty list is as good as none. */
export interface MemoryFilter {
  types?: readonly MemoryType[] | undefined;
  /** In any case. */
  agents?: readonly string[] | undefined;
  /** All of these tags. */
  tagsAll?: readonly string[] | undefined;
  /** ISO 8601, compared with `updatedAt`, both ends included. */
  since?: string | undefined;
  until?: string | undefined;
  /** Superseded and forgotten memories are left out unless asked for. */
  includeSuperseded?: boolean | undefined;
  includeForgotten?: boolean | undefined;
}

export interface MemoryHit {
  entry: MemoryEntry;
  /** `cosine + 0.3 · coverage`; the coverage alone where vectors are not compared. */
  score: number;
  /** Nearness of meaning, -1 to 1; nothing when the memory has no vector of the embedder in use. */
  cosine: number | undefined;
  /** Share of the query's words found, each weighted by how rare it is; 0 to 1. */
  coverage: number;
  /** The analysed words of the query that the memory has. */
  matched: readonly string[];
}

/** What sorts of failures a museum has, for those who read it and those who write it. */

export const CATEGORIES = [
  'CC-FAIL',
  'WRONG-ASSUMPTION',
  'CONTEXT-LOSS',
  'HALLUCINATION',
  'ARCH-MISTAKE',
  'PROCESS-SKIP',
] as const;

/** For failures that name no category, or an unknown one. */
export const UNKNOWN_CATEGORY = 'UNKNOWN';

/** The severest first. */
export const SEVERITIES = ['critical', 'important', 'micro', 'unknown'] as const;
export type Severity = (typeof SEVERITIES)[number];

/**
 * What only a person may decide: that a project's programs run, that a task is begun or its result taken, that a delivery is
 * accepted, and which commit of a git source is served.
 */
export const DECIDED_KINDS = ['programs', 'task', 'delivery', 'source'] as const;
export type DecidedKind = (typeof DECIDED_KINDS)[number];

/**
 * How the person was asked. A call that a program answers for itself is none of these; `maker` stands for nobody having been
 * asked: the process that made something here has noted that it needs no person, or that it waits for one.
 */
export const DECIDED_BY = ['terminal', 'flag', 'page', 'host', 'maker'] as const;
export type DecidedBy = (typeof DECIDED_BY)[number];

/** One decision of one person about exactly what was shown. */
export interface Decision {
  kind: DecidedKind;
  /** Of what was decided, unique in its kind and project. */
  id: string;
  /** Stands for everything that was shown; anything else has another one, and waits. */
  digest: string;
  yes: boolean;
  /** The person, in their own words or those of the system. */
  by: string;
  via: DecidedBy;
  /** When, in ISO 8601. */
  at: string;
  /** Digests of the parts of it, by name, to say later which of them has changed. */
  parts?: Readonly<Record<string, string>> | undefined;
}

/** The decisions about one project that were made on this machine; what is not among them was decided elsewhere. */
export interface Decisions {
  /** The last one about this, whatever it was about then. */
  last(kind: DecidedKind, id: string): Promise<Decision | undefined>;
  /** The last one about each of a kind, by id. */
  all(kind: DecidedKind): Promise<ReadonlyMap<string, Decision>>;
  /** Returns when it is on disk. */
  decide(decision: Omit<Decision, 'at'>): Promise<Decision>;
  /** Runs `work` while no other process of this machine decides about the project. */
  alone<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T>;
}
