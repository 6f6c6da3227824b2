import type {
  MemoryPairs,
  Delivery,
  CheckedHost,
  Doctor,
  Explained,
  Failure,
  Listed,
  Memory,
  MemoryHit,
  MemoryStatus,
  ReadText,
  Source,
  SourceReview,
  StoryHistory,
  Used,
  UsedDay,
} from './answers-known.ts';

/**
 * What the operations answer, as far as the page reads it. The page knows the server only by its answers, so these are
 * its own words for them; fields that a file of the project may lack are optional.
 */

export interface Evidence {
  file: string;
  line?: number;
  says?: string;
}

export interface Session {
  version: string;
  csrf: string;
  scopes: string[];
  language: string;
  readOnly?: boolean;
  /** Operations that have a door of their own, since only a person may call them. */
  forPeople: string[];
  person?: { id: string; until: string };
  project: string | null;
  projects: { root: string; name: string; current?: boolean }[];
  instances: {
    /** Where it can be reached; one over stdin and stdout has no address, but the name of its host. */
    origin?: string;
    client?: string;
    kind: string;
    roots: string[];
    pid: number;
    started: string;
    own?: boolean;
  }[];
  /** Who uses this server. */
  clients: { name: string; last: string }[];
}

export interface Action {
  label: string;
  operation: string;
  args: Record<string, unknown>;
  /** Arguments that the person has to type. */
  needs?: string[];
  danger?: boolean;
}

export interface InboxItem {
  id: string;
  kind: string;
  role?: string;
  since?: string;
  title: string;
  evidence?: Evidence[];
  text?: string;
  actions?: Action[];
}

export interface Inbox {
  items: InboxItem[];
  unread: { what: string; why: string }[];
}

export interface NextAction {
  what: string;
  why: string;
  says?: string;
  noted?: string;
  use?: string;
  use_for?: string;
  agent?: string;
  call?: Record<string, string>;
  action?: { name: string; args: Record<string, unknown> };
  optional: boolean;
  of: 'broken' | 'begun' | 'method' | 'new';
  evidence?: Evidence[];
}

export interface ProgressItem {
  phase: string;
  kind: string;
  id: string;
  state: string;
  status?: string;
  evidence: Evidence[];
}

export interface Drift {
  kind: string;
  about: string;
  says: string;
  evidence: Evidence[];
}

interface Trouble {
  file: string;
  line?: number;
  message: string;
}

export interface Next {
  project: string;
  phases: { phase: string; state: string; evidence: Evidence[] }[];
  actions: NextAction[];
  drift: Drift[];
  troubles: Trouble[];
  items?: ProgressItem[];
  totals: { stories: number; done: number; waiting_for_review: number; done_without_review: number };
  verification?: { verdict: string; contract: string; receipt?: string; says: string };
}

export interface Reconciled {
  proposal?: string;
  applied: boolean;
  ledgers: {
    file: string;
    changes: { key: string; from?: string; to: string; why: string; line?: number }[];
    diff: string;
  }[];
  broken: { file: string; line?: number; message: string }[];
  /** What the ledgers and files disagree on and no file proves. */
  left: string[];
}

export interface Task {
  task_id: string;
  status: string;
  agent: string;
  output_key: string;
  task: string;
  depends_on: string[];
  attempts: number;
  created_at: string;
  updated_at: string;
  approval?: string;
  run_id?: string;
  worker?: string;
  until?: string;
  error?: string;
  from?: string;
}

export interface TaskShown {
  task: Task;
  brief?: string;
  waits?: { digest: string; texts: { name: string; text: string; characters: number; sha256: string }[] };
}

export interface Run {
  run_id: string;
  branch: string;
  status: string;
  workflow?: string;
  started_at?: string;
  last_checkpoint?: string;
  progress: { completed: number; total?: number; percent?: number };
  steps_completed: number[];
  current_step?: number;
  resume_step?: number;
  agent?: string;
  agent_notes?: string;
  artefacts: { step?: number; name: string; path: string; exists: boolean }[];
  folder: string;
  problems: unknown[];
}

/** A run in a list. */
type RunLine = Pick<Run, 'run_id' | 'branch' | 'status' | 'last_checkpoint' | 'progress'>;

export interface RunStatus {
  branch: string;
  run?: Run;
  others: RunLine[];
  journal?: { seq: number; at: string; event: string; step?: number; notes?: string }[];
  problems: unknown[];
}

export interface Receipt {
  id: string;
  status: string;
  reason: string;
  contract: { kind: string; path?: string; sha256?: string };
  working_dir: string;
  stacks: string[];
  started: string;
  duration_ms: number;
  commit?: string;
  dirty?: boolean;
  tree: string;
  hash: string;
  by?: string;
  written_here?: boolean;
}

export interface Verified {
  proven: boolean;
  verdict: string;
  chain: string;
  receipts: number;
  problems: { line?: number; message: string }[];
  last_pass?: Receipt;
  newest?: Receipt;
  tree: string;
  changes: { path: string; change: string }[];
  changes_total: number;
  contract: string;
  notes: string[];
}

export interface Answers {
  next: Next;
  reconcile_ledgers: Reconciled;
  story_history: StoryHistory;
  task_list: {
    total: number;
    counts: Record<string, number>;
    tasks: Task[];
    problems: unknown[];
    next?: string;
  };
  task_show: TaskShown;
  task_cancel: unknown;
  get_workflow_status: RunStatus;
  list_receipts: {
    total: number;
    items: Receipt[];
    problems: { message: string }[];
    notes: string[];
    place: string;
  };
  verify_receipts: Verified;
  delivery_list: { contracts: Delivery[]; problems: unknown[] };
  delivery_validate: {
    contract: Delivery;
    findings: { level: string; message: string; line?: number }[];
    valid: boolean;
  };
  list: { total: number; items: Listed[]; next?: string; note?: string };
  search: { total: number; items: Listed[]; next?: string };
  explain: Explained;
  read: ReadText;
  compile_context: { tokens: number; needed: number; text: string; complete: boolean };
  list_prompts: { items: { name: string; kind: string; target: string }[] };
  memory_list: { memories: Memory[]; total: number; next?: string };
  memory_get: {
    memory: Memory;
    revisions: { revision: number; text: string; agent: string; at: string }[];
    sources: string[];
    stored: boolean;
  };
  memory_pairs: MemoryPairs;
  memory_stats: {
    total: number;
    live: number;
    superseded: number;
    forgotten: number;
    byType: Record<string, number>;
  };
  memory_status: MemoryStatus;
  recall_structured: { hits: MemoryHit[]; notes: string[] };
  memory_keep_both: unknown;
  memory_update: unknown;
  sources_update: unknown;
  get_failure_museum: {
    failures: Failure[];
    total: number;
    by_category: Record<string, number>;
    rules: { rule: string; from: string }[];
    notes: string[];
  };
  check_failures: {
    warnings: Failure[];
    rules: string[];
    compared: number;
  };
  sources_list: { sources: Source[] };
  sources_diff: { reviews: SourceReview[]; upToDate: string[]; absent: string[] };
  doctor: Doctor;
  usage_show: { place: string; noting: boolean; items: Used[]; days: UsedDay[]; problem?: string };
  hosts_show: { hosts: CheckedHost[] };
}
