import type { Version } from '../installs.ts';

/** A project as it lies on disk, and what has to be said about it. */
export interface ProgressTree {
  name: string;
  /** The install it has; none for a project without BMAD. */
  install?: Version;
  files: Readonly<Record<string, string>>;
  /** Analysis, planning, solutioning, implementation: c complete, p in progress, n not started, u unknown. */
  phases: string;
  /** The first action, and what is used for it; `-` for nothing. */
  next: readonly [what: string | RegExp, use: string];
  /** Every action that is due in order, as it is shown: `Build story 1.1 → dev *develop-story`, ` (optional)` behind what may wait. */
  all?: readonly string[];
  /** The ways to begin something new, in order. */
  ways?: readonly string[];
  /** When files were changed, where that decides; all others are written in one go. */
  times?: Readonly<Record<string, string>>;
  /** `kind about` of each disagreement, in order. */
  drift?: readonly string[];
  /** State of items by id, with the place that decided: `complete docs/prd.md:3`. */
  items?: Readonly<Record<string, string>>;
  /** Files that could not be read. */
  troubles?: readonly string[];
}

/** Nothing is due. */
export const NOTHING: ProgressTree['next'] = ['-', '-'];

export const TEXT =
  'The shop sells plants to people who have no time for them. Every part of this paragraph is here so that there is a real text with enough letters to count as written.\n';
export const FRENCH =
  'La boutique vend des plantes à celles et ceux qui n’ont pas le temps de s’en occuper. Ce paragraphe existe pour que le texte soit assez long et compte comme rédigé.\n';

export const out = '_bmad-output/planning-artifacts';
export const impl = '_bmad-output/implementation-artifacts';
export const steps = (...done: (number | string)[]): string =>
  `---\nstepsCompleted: [${done.join(', ')}]\ninputDocuments: []\n---\n\n# Document\n\n${TEXT}`;
export const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);
export const status = (word: string): string =>
  `---\ntitle: Shop\nstatus: ${word}\n---\n\n# Document\n\n${TEXT}`;
export const plain = `# Document\n\n${TEXT}`;
export const EPICS = `# Epics\n\n${TEXT}\n## Epic 1: Base\n\n### Story 1.1: Setup\n\n### Story 1.2: Login\n\n## Epic 2: Shop\n\n### Story 2.1: Cart\n`;
export const story = (number: string, word: string, tasks = ''): string =>
  `# Story ${number}: Title\n\nStatus: ${word}\n\n## Story\n\nAs a user, I want it.\n\n## Tasks / Subtasks\n\n${tasks}`;
export const v4Story = (number: string, word: string): string =>
  `# Story ${number}: Title\n\n## Status\n\n${word}\n\n## Story\n\n**As a** user\n`;
export const ledger = (rows: Readonly<Record<string, string>>): string =>
  `# legend\ngenerated: 05-06-2025 21:30\nproject: Shop\ndevelopment_status:\n${Object.entries(rows)
    .map(([key, word]) => `  ${key}: ${word}\n`)
    .join('')}`;
export const workflows = (rows: Readonly<Record<string, string>>): string =>
  `generated: "2025-11-01"\nproject: Shop\nselected_track: method\nworkflow_status:\n${Object.entries(rows)
    .map(([key, word]) => `  ${key}: ${word}\n`)
    .join('')}`;
export const planned604 = {
  [`${out}/prd.md`]: steps(...upTo(11)),
  [`${out}/architecture.md`]: steps(...upTo(8)),
  [`${out}/epics.md`]: EPICS,
};
export const two = {
  'epic-1': 'in-progress',
  '1-1-setup': 'done',
  '1-2-login': 'backlog',
  'epic-1-retrospective': 'optional',
};
