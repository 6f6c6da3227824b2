import { withoutComments } from '../../base/text/markdown.ts';

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

/** What people and models write instead: other versions, other habits, French documents. */
const MEANT: Record<StoryStatus, readonly string[]> = {
  backlog: ['to-do', 'todo', 'not-started', 'planned'],
  drafted: ['draft', 'brouillon'],
  'ready-for-dev': ['ready', 'ready-for-development', 'approved', 'approuve', 'approuvee', 'pret-pour-dev'],
  'in-progress': ['inprogress', 'started', 'wip', 'blocked', 'en-cours'],
  review: ['in-review', 'ready-for-review', 'ready-for-done', 'implementation-complete', 'en-revue'],
  done: ['complete', 'completed', 'termine', 'terminee'],
};

/** The status of a story that a text stands for: `InProgress`, `✅ Done (2026-01-05)`, `Ready for Review`. */
export function storyStatus(text: string): StoryStatus | undefined {
  const word = folded(text);
  return STORY_STATUSES.find((status) => status === word || MEANT[status].includes(word));
}

/** The legal word of a row that another word stands for beyond doubt: `Done`, `in_progress`, `completed`. */
export function meantWord(kind: RowKind, text: string): string | undefined {
  const word = folded(text);
  if (rankOf(kind, word) !== undefined) return word;
  const status = storyStatus(text);
  return status !== undefined && rankOf(kind, status) !== undefined ? status : undefined;
}

const FINISHED =
  /^(?:complete|completed|final|finali[sz]ed|done|approved|accepted|published|valide|validee|approuve|approuvee|finalise|finalisee|termine|terminee)$/;
const OPEN =
  /^(?:(?:draft|brouillon)(?:-.*)?|drafted|drafting|wip|in-progress|inprogress|started|review|in-review|ready-for-review|needs-work|not-ready|en-cours|en-revue|pending|todo|proposed)$/;

/** Whether a document calls itself finished; nothing when the word says neither. */
export function documentState(text: string): 'complete' | 'in progress' | undefined {
  const word = folded(text);
  if (FINISHED.test(word)) return 'complete';
  return OPEN.test(word) ? 'in progress' : undefined;
}

/** Without marks, accents, emphasis and what follows in brackets or behind a dash. */
function folded(text: string): string {
  const words = withoutComments(text.slice(0, 200));
  const end = words.search(/[([|]|\s[-–—:]/);
  return words
    .slice(0, end === -1 ? undefined : end)
    .normalize('NFKD')
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .toLowerCase()
    .replace(/[\s_]+/g, '-');
}
