import type { StoryStatus } from './words.ts';
import type { Work } from './workers.ts';

interface Rule {
  /** What a file or ledger says, for people. */
  when: string;
  /** What comes next; nothing where it is over. */
  work?: Work;
  /** What the ledger has then. */
  ledger?: StoryStatus;
}

/**
 * BMAD's own rules for what comes after what, in the order in which BMAD asks them. rule-quotes.ts of the tests has the lines that
 * state each of them, and the reference has both for people.
 */
export const RULES = {
  'in progress': { when: 'a story is `in-progress`', work: 'develop story' },
  review: { when: 'a story is in `review`', work: 'review story' },
  ready: { when: 'a story is `ready-for-dev` (version 4: `Approved`)', work: 'develop story' },
  draft: { when: 'a story is a draft (`drafted`, version 4: `Draft`)', work: 'approve story' },
  planned: { when: 'a story is only planned (`backlog`)', work: 'create story' },
  'planned later': { when: 'a story is only planned and another is not done yet', work: 'create story' },
  built: { when: 'a story has been built', ledger: 'review' },
  reviewed: { when: 'a review of a story has passed', ledger: 'done' },
  'gate passed': { when: 'the gate of a story says `PASS` or `WAIVED` (version 4)', work: 'close story' },
  findings: { when: 'a review has left something to do', work: 'apply review', ledger: 'in-progress' },
  fixed: {
    when: 'the story has been changed since a gate that did not pass (version 4)',
    work: 'review story',
  },
  'spec in review': {
    when: 'the spec of a story is `in-review`: the build reviews itself',
    work: 'develop story',
    ledger: 'in-progress',
  },
  'spec done': {
    when: 'the spec of a story is `done`: built, but not yet reviewed for the ledger',
    work: 'review story',
    ledger: 'review',
  },
  'tech spec': {
    when: 'a `tech-spec-*.md` is `in-progress` or in `review`: it is still being written',
    work: 'tech spec',
  },
  'quick work': { when: 'any other spec is not `done`', work: 'quick work' },
  readiness: { when: 'the plan is complete and no sprint is planned', work: 'readiness' },
  shards: {
    when: 'the plan is complete and `core-config.yaml` wants it in shards (version 4)',
    work: 'epics',
  },
  'no interface': {
    when: 'the architecture comes next (version 4)',
    work: 'backend architecture',
  },
  'master checklist': {
    when: 'the plan is complete and no story has been drafted yet (version 4)',
    work: 'readiness',
  },
  'existing code': {
    when: 'the architecture comes next and there is code already (version 4)',
    work: 'brownfield architecture',
  },
  beginning: { when: 'nothing has been planned yet (version 4)' },
  'epic begins': { when: 'an epic is in the `backlog` (early alphas only)', work: 'epic context' },
  'epic done': {
    when: 'all stories of an epic are `done` and its retrospective is `optional`',
    work: 'retrospective',
  },
  'epic rejected': { when: 'the verdict of a retrospective is `rejected`' },
  'retrospective held': { when: 'the retrospective of an epic is written' },
} as const satisfies Record<string, Rule>;

export type RuleName = keyof typeof RULES;

/** What the ledger has while a spec of a story says so. Its build ends at the review; what follows is the ledger's. */
export function ledgerOfSpec(status: StoryStatus): StoryStatus {
  if (status === 'review') return RULES['spec in review'].ledger;
  return status === 'done' ? RULES['spec done'].ledger : status;
}

/** The sections that the PRD of version 4 has without an instruction for them: their title is all that is asked for. */
export const TITLES_ALONE = ['Overall UX Vision', 'Key Interaction Paradigms'];
