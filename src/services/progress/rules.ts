import { withoutComments } from '../../base/text/markdown.ts';

export type { Problem as Trouble } from '../../model/record.ts';

/** The states of a story in the order they come, as BMAD's ledgers name them. */
export const STORY_STATUSES = [
  'backlog',
  'drafted',
  'ready-for-dev',
  'in-progress',
  'review',
  'done',
] as const;
export type StoryStatus = (typeof STORY_STATUSES)[number];

export type RowKind = 'epic' | 'story' | 'retrospective';

/** The words a ledger may have, the lowest first. `contexted` and `completed` are those of the early alphas. */
const LEGAL: Record<RowKind, readonly (readonly string[])[]> = {
  story: [['backlog'], ['drafted'], ['ready-for-dev'], ['in-progress'], ['review'], ['done']],
  epic: [['backlog'], ['in-progress', 'contexted'], ['done']],
  retrospective: [['optional'], ['done', 'completed']],
};

/** What a row says that has just been planned. */
export const FIRST_WORD: Record<RowKind, string> = {
  epic: 'backlog',
  story: 'backlog',
  retrospective: 'optional',
};

/** How far a word is along its row; nothing when it is no word of that kind of row. */
export function rankOf(kind: RowKind, word: string): number | undefined {
  const rank = LEGAL[kind].findIndex((words) => words.includes(word));
  return rank === -1 ? undefined : rank;
}

/** The words that a ledger takes for a row; those of the early alphas only where it knows them. */
export function wordsFor(
  kind: RowKind,
  { drafts, contexts }: { drafts: boolean; contexts: boolean },
): string[] {
  const drop = new Set([
    ...(drafts ? [] : ['drafted']),
    ...(contexts ? [kind === 'epic' ? 'in-progress' : ''] : ['contexted', 'completed']),
  ]);
  return LEGAL[kind].flat().filter((word) => !drop.has(word));
}

/** The states of a story file of version 4, in the order they come; its template has some, its tasks write the others. */
const V4_WORDS = ['Draft', 'Approved', 'InProgress', 'Ready for Review', 'Review', 'Ready for Done', 'Done'];
/** The states of a spec, as its template lists them. */
const SPEC_WORDS = ['draft', 'ready-for-dev', 'in-progress', 'in-review', 'done'];

/** The words that a story file takes, by its kind. */
export function fileWords({
  v4,
  isSpec,
  status,
}: {
  v4?: boolean;
  isSpec: boolean;
  status?: StoryStatus | undefined;
}): readonly string[] {
  if (v4 === true) return V4_WORDS;
  if (isSpec) return SPEC_WORDS;
  return wordsFor('story', { drafts: status === 'drafted', contexts: false }).slice(1);
}

/** What a file says while the ledger has a word. A spec is done when it is built; the review after that is the ledger's. */
const IN_FILES: Record<StoryStatus, { v4: string; spec: string }> = {
  backlog: { v4: 'Draft', spec: 'draft' },
  drafted: { v4: 'Draft', spec: 'draft' },
  'ready-for-dev': { v4: 'Approved', spec: 'ready-for-dev' },
  'in-progress': { v4: 'InProgress', spec: 'in-progress' },
  review: { v4: 'Review', spec: 'done' },
  done: { v4: 'Done', spec: 'done' },
};

export function fileWord(word: StoryStatus, { v4, isSpec }: { v4?: boolean; isSpec: boolean }): string {
  return v4 === true ? IN_FILES[word].v4 : isSpec ? IN_FILES[word].spec : word;
}

/** The other words for it that BMAD's own files have: those of version 4 and of specs, and what the builds of 6.0 set. */
const ALSO: Partial<Record<StoryStatus, readonly string[]>> = {
  drafted: ['draft'],
  'ready-for-dev': ['approved'],
  'in-progress': ['inprogress'],
  review: ['in-review', 'ready-for-review', 'ready-for-done', 'implementation-complete'],
  done: ['complete', 'completed'],
};

/** The status of a story that a word of BMAD's files stands for: `InProgress`, `Ready for Review`. */
export function storyStatus(text: string): StoryStatus | undefined {
  const word = folded(text);
  return STORY_STATUSES.find((status) => status === word || ALSO[status]?.includes(word) === true);
}

/** The legal word of a row that another word of BMAD stands for: `Done`, `in_progress`, `completed`. */
export function meantWord(kind: RowKind, text: string): string | undefined {
  return [folded(text), storyStatus(text) ?? ''].find((word) => rankOf(kind, word) !== undefined);
}

const FINISHED = new Set(['complete', 'completed', 'final', 'done', 'approved']);
const OPEN = new Set(['draft', 'drafted', 'in-progress', 'review', 'in-review', 'ready-for-review']);

/** Whether a document calls itself finished; nothing when the word says neither. */
export function documentState(text: string): 'complete' | 'in progress' | undefined {
  const word = folded(text);
  if (FINISHED.has(word)) return 'complete';
  return OPEN.has(word) ? 'in progress' : undefined;
}

/** Without signs and emphasis, as ledgers write it. */
function folded(text: string): string {
  return withoutComments(text.slice(0, 200))
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .toLowerCase()
    .replace(/[\s_]+/g, '-');
}

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
  /** Of epics, stories and specs: the column of a board where it stands. */
  column?: string | undefined;
  /** Of a story: what it is called, and its epic. */
  title?: string;
  epic?: string;
  /** `1.2`, and how many of the tasks in its file are ticked. */
  number?: string;
  tasks?: { done: number; total: number };
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

/** Where something stands on a board: by the word that it has, whatever generation wrote it, else by its state. */
export function columnOf({ state, status = '' }: Pick<Item, 'state' | 'status'>): string {
  if (state === 'complete') return 'done';
  const word = storyStatus(status);
  if (word === 'review') return 'review';
  if (word === 'drafted' || word === 'ready-for-dev') return 'ready';
  return state === 'in progress' ? 'progress' : 'backlog';
}

/** `1-2-cart-totals-with-tax` is `1.2 Cart totals with tax`. */
export function titleOf(id: string): string {
  const [, epic, story, rest = ''] = /^(?:story-)?([a-z]?\d+)[.-](\d+[a-z]?)(?:-(.*))?$/i.exec(id) ?? [];
  if (epic === undefined || story === undefined) return id;
  const words = rest.replaceAll('-', ' ').trim();
  return `${epic}.${story} ${words.charAt(0).toUpperCase()}${words.slice(1)}`.trim();
}

/** Two places of a project that do not agree, or one that cannot be right. */
export interface Drift {
  kind: DriftKind;
  about: string;
  says: string;
  evidence: Evidence[];
}

/** What the ledger has while a spec of a story says so. Its build ends at the review; what follows is the ledger's. */
export function ledgerOfSpec(status: StoryStatus): StoryStatus {
  if (status === 'review') return 'in-progress';
  return status === 'done' ? 'review' : status;
}
