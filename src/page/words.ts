import { computed } from '@preact/signals';
import { plural, t } from './message.ts';
import { inLine } from './parts/wording.ts';

/** Words for names that a server may add to. */
const byName = (words: Readonly<Record<string, string>>): Readonly<Record<string, string>> => words;

/** Every word of the page, in the words of the person who looks at it. */
export const words = computed(() => ({
  views: {
    inbox: t`Inbox`,
    now: t`Now`,
    board: t`Board`,
    memory: t`Memory`,
    proof: t`Proof`,
    catalogue: t`Catalogue`,
    health: t`Health`,
    item: t`Item`,
    more: t`More`,
  },
  /** Parts of views, by their addresses, and the first of a view, where its name would say too little. */
  parts: byName({
    now: t`Next`,
    runs: t`Runs`,
    tasks: t`Tasks`,
    handover: t`Handover`,
    failures: t`Failures`,
    sources: t`Sources`,
    audit: t`Audit`,
  }),
  shell: {
    connecting: t`Connecting`,
    live: t`Live`,
    lost: t`Connection lost`,
    waiting: (count: number | undefined) =>
      count === undefined ? '' : count === 0 ? t`nothing` : plural(count, 'entry waits', 'entries wait'),
    themes: { system: t`system`, light: t`light`, dark: t`dark` },
  },
  inbox: {
    lead: (count: number) => (count === 0 ? t`Nothing needs a person.` : plural(count, 'entry', 'entries')),
    texts: byName({
      task: t`What is asked`,
      brief: t`All that the worker gets`,
      text: t`The exact text`,
      result: t`What came of it`,
      failures: t`What fails`,
      newer: t`The newer one`,
      older: t`The older one`,
    }),
    kinds: byName({
      memory: t`Memory`,
      task: t`Task`,
      result: t`Result`,
      source: t`Source`,
      ledger: t`Ledger`,
      contract: t`Delivery`,
      handoff: t`Hand-off`,
      verdict: t`Proof`,
      run: t`Run`,
      trust: t`Programs`,
    }),
  },
  next: {
    lead: (done: number, all: number) =>
      all === 0 ? t`No stories yet.` : t`${done} of ${all} stories done.`,
  },
  /** One word for each state, whatever is in it: stories, runs, tasks, deliveries, verdicts, files. */
  states: byName({
    backlog: t`Backlog`,
    'ready-for-dev': t`Ready`,
    drafted: t`Drafted`,
    'in-progress': t`In progress`,
    review: t`In review`,
    done: t`Done`,
    open: t`open`,
    needs_approval: t`needs approval`,
    queued: t`queued`,
    running: t`running`,
    paused: t`paused`,
    pending: t`pending`,
    needs_verification: t`needs a check`,
    completed: t`completed`,
    failed: t`failed`,
    cancelled: t`cancelled`,
    abandoned: t`abandoned`,
    'pending-acceptance': t`waits for an answer`,
    accepted: t`accepted`,
    rejected: t`rejected`,
    renegotiating: t`a new version was asked for`,
    PASS: t`Passed`,
    FAIL: t`Failed`,
    NOT_VERIFIED: t`Verified nothing`,
    opened: t`Run begun`,
    adopted: t`Run taken over`,
    checkpoint: t`Checkpoint`,
    finished: t`Run ended`,
    added: t`added`,
    changed: t`changed`,
    removed: t`removed`,
    critical: t`critical`,
    plan: t`Plan`,
    ship: t`Ship`,
  }),
  dates: { planned: t`Planned`, started: t`Begun`, done: t`Done` },
  chain: {
    whole: t`The chain of receipts is whole`,
    broken: t`The chain of receipts is broken`,
    empty: t`There are no receipts`,
  },
  catalogue: {
    kinds: {
      agents: t`Agents`,
      workflows: t`Workflows`,
      skills: t`Skills`,
      tasks: t`Tasks`,
      knowledge: t`Knowledge`,
      templates: t`Templates`,
      checklists: t`Checklists`,
    },
  },
  memory: {
    kinds: byName({
      'shared-context': t`Facts`,
      decisions: t`Decisions`,
      'agent-learnings': t`Learnt`,
      failures: t`Failures`,
      stories: t`Stories`,
    }),
    oneKind: byName({
      'shared-context': t`Fact`,
      decisions: t`Decision`,
      'agent-learnings': t`Learnt`,
      failures: t`Failure`,
      stories: t`Story`,
    }),
  },
  failures: {
    compared: (count: number, near: number) =>
      near === 0
        ? t`None of ${count} past failures has anything in common with it.`
        : t`Past failures, the nearest first (${near} of ${count}):`,
    fields: {
      what_happened: t`What happened`,
      root_cause: t`Cause`,
      impact: t`Impact`,
      lesson: t`Lesson`,
      fix: t`Fix`,
      rule: t`Rule`,
    },
  },
  health: {
    found: {
      ours: t`set up`,
      other: t`has an entry that is not ours`,
      none: t`not set up`,
      unreadable: t`its file cannot be used`,
    },
    scopes: { user: t`for all projects`, project: t`this project` },
  },
}));

/** A state in the words of the reader; one that nobody knows here as it is written. */
export const stateOf = (state: string): string => words.value.states[state] ?? inLine(state, 60);
