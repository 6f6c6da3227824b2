/** What operations about content, memories, failures, sources and the server answer; see answers.ts. */

export interface Listed {
  name: string;
  kind: string;
  module?: string;
  title?: string;
  description?: string;
  phase?: string;
  uri?: string;
  origin?: string;
  version?: string;
  why?: string;
}

export interface Explained {
  target: string;
  candidates: {
    name: string;
    kind: string;
    origin: string;
    priority: number;
    status: string;
    path: string;
    chosen: boolean;
    why: string;
  }[];
  layers: { key: string; file: string; line?: number; value: string; chosen: boolean }[];
  note?: string;
}

export interface ReadText {
  uri: string;
  mimeType: string;
  origin: string;
  text: string;
  complete: boolean;
  bytes: number;
  tokens: number;
  next?: string;
}

export interface Memory {
  id: string;
  type: string;
  agent: string;
  text: string;
  tags: string[];
  createdAt: string;
  updatedAt: string;
  revision: number;
  supersededBy?: string;
  forgottenAt?: string;
}

export interface MemoryHit extends Omit<Memory, 'text'> {
  snippet: string;
  cut: boolean;
  score: number;
  meaning?: number;
  words: number;
  matched: string[];
  stored: boolean;
  sources: string[];
}

export interface MemoryStatus {
  place: string;
  files: number;
  engine: string;
  index?: string;
  embedder?: string;
  memories: number;
  degraded: boolean;
  notes: string[];
}

export interface Failure {
  id: string;
  title: string;
  category: string;
  severity: string;
  status: string;
  date?: string;
  agents: string[];
  what_happened?: string;
  root_cause?: string;
  impact?: string;
  lesson?: string;
  fix?: string;
  rule?: string;
  tags: string[];
  source: string;
}

export interface Source {
  source: string;
  state: string;
  from: string;
  lockFile: string;
  commit?: string;
  digest?: string;
  files?: number;
  bytes?: number;
  fetchedAt?: string;
  checkedAt?: string;
  pending?: { commit: string; relation?: string };
  skipped: string[];
  trouble?: string;
}

export interface Doctor {
  version: string;
  node: string;
  project?: { root: string; from: string };
  modules: string[];
  origins: {
    name: string;
    kind: string;
    root: string;
    priority: number;
    agents: number;
    workflows: number;
  }[];
  problems: string[];
  findings: { level: string; about: string; text: string }[];
  warnings: string[];
  safety?: { programs: string[]; allowed: boolean };
  ok: boolean;
}

export interface SourceReview {
  source: string;
  from: string;
  to: string;
  digest: string;
  bytes: number;
  relation?: string;
  records: { kind: string; name: string; description: string; change: string; before?: string }[];
  files: { path: string; change: string; plus: number; minus: number; diff?: string; binary?: string }[];
}

export interface Used {
  name: string;
  kind: string;
  uses: number;
  last: string;
}

export interface UsedDay {
  day: string;
  starts: number;
  tokens: number;
}

/** One host in one scope, and what stands in the way of its entry. */
export interface CheckedHost {
  host: string;
  name: string;
  scope: 'user' | 'project';
  file: string;
  found: 'ours' | 'other' | 'none' | 'unreadable';
  checks: { level: 'ok' | 'notice' | 'broken'; text: string; fix?: string }[];
}

export interface StoryHistory {
  stories: { id: string; planned: string; started?: string; done?: string; days?: number }[];
  undated: number;
  median_days?: number;
}

export interface MemoryPairs {
  pairs: { memory: Memory; other: Memory; stored: boolean }[];
  total: number;
  compared?: number;
}

export interface Delivery {
  contract_id: string;
  file: string;
  status: string;
  from_team: string;
  to_team: string;
  date?: string;
  signed_by?: string;
  artefacts: number;
  open_questions: number;
  digest: string;
}
