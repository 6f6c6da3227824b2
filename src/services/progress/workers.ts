import { attempt, orElse } from '../../base/errors.ts';
import type { Step } from '../../base/step.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { COMMANDS } from '../../catalogue/identity.ts';
import { behaviourOf, type BmadRecord, type RecordKind, shortName } from '../../model/record.ts';
import type { Evidence, Phase, StoryStatus } from './rules.ts';

interface Ways {
  /** Workflows of version 6, the oldest names first: a project has those of its own version. */
  v6: readonly string[];
  /** An agent of version 4, and the command it is given. */
  v4?: string;
  /** Who does it in version 6, where such an agent is installed. */
  agents: readonly string[];
  /** Not offered where the project's own version has no such thing. */
  ownOnly?: true;
}

/** What can be done next, whatever a version calls it. */
const WAYS = {
  brainstorm: {
    v6: ['brainstorm-project', 'brainstorming'],
    v4: COMMANDS.brainstorming,
    agents: ['analyst'],
  },
  brief: {
    v6: ['create-product-brief', 'product-brief'],
    v4: COMMANDS['product-brief'],
    agents: ['analyst'],
  },
  'document code': {
    v6: ['document-project', 'project-context'],
    v4: COMMANDS['project-context'],
    agents: ['analyst'],
  },
  begin: { v6: ['workflow-init'], agents: ['analyst'], ownOnly: true },
  prd: { v6: ['create-prd', 'prd'], v4: COMMANDS.prd, agents: ['pm'] },
  'tech spec': {
    v6: ['tech-spec', 'create-tech-spec', 'quick-spec', 'spec'],
    agents: ['quick-flow-solo-dev', 'pm'],
  },
  ux: { v6: ['create-ux-design', 'ux'], v4: COMMANDS.ux, agents: ['ux-designer'] },
  architecture: {
    v6: ['create-architecture', 'architecture'],
    v4: COMMANDS.architecture,
    agents: ['architect'],
  },
  'backend architecture': {
    v6: [],
    v4: 'architect *create-backend-architecture',
    agents: [],
    ownOnly: true,
  },
  'brownfield architecture': {
    v6: [],
    v4: 'architect *create-brownfield-architecture',
    agents: [],
    ownOnly: true,
  },
  'shard architecture': { v6: [], v4: 'po *shard-doc', agents: [], ownOnly: true },
  epics: { v6: ['create-epics-and-stories'], v4: COMMANDS['create-epics-and-stories'], agents: ['pm'] },
  readiness: {
    v6: ['check-implementation-readiness', 'implementation-readiness', 'solutioning-gate-check'],
    v4: COMMANDS['check-implementation-readiness'],
    agents: ['architect'],
    ownOnly: true,
  },
  'sprint planning': { v6: ['sprint-planning'], v4: COMMANDS['sprint-planning'], agents: ['sm', 'dev'] },
  'epic context': { v6: ['epic-tech-context'], agents: ['sm'], ownOnly: true },
  'create story': { v6: ['create-story', 'build'], v4: COMMANDS['create-story'], agents: ['sm', 'dev'] },
  'approve story': {
    v6: ['story-context', 'story-ready'],
    v4: 'po *validate-story-draft',
    agents: ['sm'],
    ownOnly: true,
  },
  'develop story': { v6: ['dev-story', 'build'], v4: COMMANDS['dev-story'], agents: ['dev'] },
  'review story': { v6: ['code-review'], v4: COMMANDS['code-review'], agents: ['dev'] },
  'apply review': { v6: ['dev-story', 'build'], v4: 'dev *review-qa', agents: ['dev'] },
  'close story': { v6: ['story-done'], agents: ['dev'], ownOnly: true },
  'quick work': {
    v6: ['quick-dev', 'build'],
    // A developer of version 4 does nothing without a story; this writes one from a sentence.
    v4: 'pm *create-story',
    agents: ['quick-flow-solo-dev', 'dev'],
  },
  retrospective: { v6: ['retrospective'], agents: ['sm', 'dev'] },
  'correct course': { v6: ['correct-course'], v4: 'pm *correct-course', agents: ['pm', 'sm'] },
} satisfies Record<string, Ways>;

export type Work = keyof typeof WAYS;

const PHASE_OF: Partial<Record<Work, Phase>> = {
  brainstorm: 'analysis',
  brief: 'analysis',
  'document code': 'analysis',
  begin: 'analysis',
  prd: 'planning',
  'tech spec': 'planning',
  ux: 'planning',
  architecture: 'solutioning',
  epics: 'solutioning',
  readiness: 'solutioning',
};

/** The tasks of version 4 that work on stories; its agents have them as commands. */
const TASKS_4: Partial<Record<string, Work>> = {
  'create-next-story': 'create story',
  'validate-next-story': 'approve story',
  'review-story': 'review story',
  'apply-qa-fixes': 'review story',
  'qa-gate': 'review story',
  'trace-requirements': 'review story',
  'nfr-assess': 'review story',
  'risk-profile': 'develop story',
  'test-design': 'develop story',
  // Checklists, which are run by one task.
  'story-dod-checklist': 'develop story',
  'story-draft-checklist': 'approve story',
};

/** What a workflow or task of this name does, in any version; a command of version 4 begins with a star. */
export function worksOf(workflow: string): Work[] {
  if (workflow.startsWith('*')) return commandWorks(workflow);
  const name = plainName(workflow);
  const old = TASKS_4[name];
  const works = Object.entries<Ways>(WAYS) as [Work, Ways][];
  return [
    ...(old === undefined ? [] : [old]),
    ...works.flatMap(([work, { v6 }]) => (v6.includes(name) ? [work] : [])),
  ];
}

function commandWorks(command: string): Work[] {
  const task = TASKS_4[command.slice(1)];
  const works = Object.entries<Ways>(WAYS) as [Work, Ways][];
  const found = works.flatMap(([work, { v4 }]) => (v4?.endsWith(` ${command}`) === true ? [work] : []));
  return task === undefined ? found : [task, ...found];
}

function plainName(workflow: string): string {
  const parts = workflow.split(/[/:]/).filter((part) => !/^(?:workflow|skill)\.\w+$/i.test(part));
  return (parts.at(-1) ?? '').replace(/\.\w+$/, '').replace(/^bmad-/, '');
}

/** The phase that a workflow belongs to, by its name in any version or by its path; nothing for one that is not BMAD's. */
export function phaseOfWorkflow(workflow: string): Phase | undefined {
  const name = plainName(workflow);
  const works = Object.entries<Ways>(WAYS) as [Work, Ways][];
  const work = works.find(([, { v6 }]) => v6.includes(name))?.[0];
  return work === undefined ? undefined : (PHASE_OF[work] ?? 'implementation');
}

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

/** Something to do, why, and who does it. */
export interface Action {
  what: string;
  why: string;
  evidence: Evidence[];
  worker?: Worker | undefined;
  /** The phase of the document that it is about. */
  phase?: Phase | undefined;
  /** When the worker is needed at all, where what is left is an edit or there are others. */
  workerFor?: string | undefined;
  /** What somebody wrote about it, in their own words. */
  says?: string;
  /** What the worker is told. */
  about?: string;
  /** The story that it is about, and what is done with it. */
  story?: { id: string; work: Work };
  /** Further calls, each with what it is for: instead of the worker, or after it. One that says what the action says is the action. */
  steps?: Step[];
  optional?: boolean;
  /** What has to be repaired first, and ways to begin something new; all else follows by the method. */
  of?: 'broken' | 'new';
}

/** What sprint planning does, in one call. */
export const MAKE_LEDGER: Step = {
  operation: 'sprint_plan',
  args: {},
  why: 'Make the ledger from the epics',
};

/** Who to ask, by the name that leads there in this project. */
interface Worker {
  kind: 'agent' | 'workflow';
  name: string;
  command?: string | undefined;
  /** The agent whose workflow it is. */
  by?: string | undefined;
  /** The record is of the project's own install. */
  own: boolean;
  record: BmadRecord;
}

const WORKFLOW_KINDS: readonly RecordKind[] = ['workflow', 'task', 'tool', 'skill'];

/** By catalogue, which never changes: a change on disk makes another one. */
const known = new WeakMap<Catalogue, Map<string, BmadRecord | undefined>>();

/** Finds who does a piece of work in this project: what it has installed itself comes before all else. */
export class Workers {
  readonly #catalogue: Catalogue;
  readonly #found: Map<string, BmadRecord | undefined>;

  constructor(catalogue: Catalogue) {
    this.#catalogue = catalogue;
    known.set(catalogue, (this.#found = known.get(catalogue) ?? new Map()));
  }

  /** `v4` when the work is on something that version 4 made. */
  for(work: Work, v4: boolean): Worker | undefined {
    const { v6, v4: old, agents, ownOnly }: Ways = WAYS[work];
    const modern = v6.flatMap((name) => this.#workflow(name, agents) ?? []);
    const ancient = old === undefined ? [] : this.#agent(old);
    const ways = v4 ? [...ancient, ...modern] : [...modern, ...ancient];
    return ways.find(({ own }) => own) ?? (ownOnly === true ? undefined : ways[0]);
  }

  /** A workflow of version 4 that the project has: it names agent after agent, from the idea to the last story. */
  frame(name: string): Worker | undefined {
    const record = this.#find(name, ['workflow']);
    const isOwn = record?.generation === 'v4' && record.origin.kind === 'project';
    return isOwn ? this.#worker('workflow', record) : undefined;
  }

  #workflow(name: string, agents: readonly string[]): Worker | undefined {
    const record = this.#find(name, WORKFLOW_KINDS);
    if (record === undefined || record.generation === 'v4') return undefined;
    const found = agents.flatMap((agent) => {
      const its = this.#find(agent, ['agent']);
      return its?.origin.kind === record.origin.kind ? [{ agent, its }] : [];
    });
    // Whoever took over from an agent answers to its name too, but does not do all that it did.
    const by = (found.find(({ agent, its }) => shortName(its.name) === agent) ?? found[0])?.its;
    return {
      ...this.#worker('workflow', record),
      by: by === undefined ? undefined : this.#catalogue.names.handleOf(by),
    };
  }

  #agent(way: string): Worker[] {
    const [name = '', command] = way.split(' ');
    const record = this.#find(name, ['agent']);
    if (record === undefined || !behaviourOf(record).takesCommands) return [];
    return [{ ...this.#worker('agent', record), command }];
  }

  #worker(kind: Worker['kind'], record: BmadRecord): Worker {
    const name = this.#catalogue.names.handleOf(record);
    return { kind, name, own: record.origin.kind === 'project', record };
  }

  /** Most names are of other versions, and to find that out takes a look at all names there are. */
  #find(name: string, kinds: readonly RecordKind[]): BmadRecord | undefined {
    const key = `${name} ${kinds.join(' ')}`;
    if (!this.#found.has(key)) this.#found.set(key, this.#look(name, kinds));
    return this.#found.get(key);
  }

  /** What the project has itself, else the method's own module: several modules have a `create-story`. */
  #look(name: string, kinds: readonly RecordKind[]): BmadRecord | undefined {
    const found = ['bmm', 'bmad-core', 'core', undefined].flatMap((module) => {
      const query = { name, kinds, module, fuzzy: false };
      const choice = attempt(() => this.#catalogue.names.resolve(query), orElse(undefined));
      return choice === undefined || choice.record.deprecated !== undefined ? [] : [choice.record];
    });
    return found.find(({ origin }) => origin.kind === 'project') ?? found[0];
  }
}
