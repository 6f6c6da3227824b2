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
}
