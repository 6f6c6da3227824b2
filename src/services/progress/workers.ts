import { behaviourOf } from '../../model/format.ts';
import { attempt, expected } from '../../base/expected.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { BmadRecord, RecordKind } from '../../model/record.ts';

/** What can be done next, whatever a version calls it. */
export type Work =
  | 'brainstorm'
  | 'brief'
  | 'document code'
  | 'begin'
  | 'prd'
  | 'tech spec'
  | 'ux'
  | 'architecture'
  | 'epics'
  | 'readiness'
  | 'sprint planning'
  | 'epic context'
  | 'create story'
  | 'approve story'
  | 'develop story'
  | 'review story'
  | 'apply review'
  | 'close story'
  | 'quick work'
  | 'retrospective';

interface Ways {
  /** Workflows of version 6, the oldest names first: a project has those of its own version. */
  v6: readonly string[];
  /** An agent of version 4, and what it is told; commands are said with a star. */
  v4?: { agent: string; command?: string };
  /** Who does it in version 6, where such an agent is installed. */
  agents: readonly string[];
  /** Not offered where the project's own version has no such thing. */
  ownOnly?: true;
}

const WAYS: Record<Work, Ways> = {
  brainstorm: {
    v6: ['brainstorm-project', 'brainstorming'],
    v4: { agent: 'analyst', command: 'brainstorm' },
    agents: ['analyst'],
  },
  brief: {
    v6: ['create-product-brief', 'product-brief'],
    v4: { agent: 'analyst', command: 'create-project-brief' },
    agents: ['analyst'],
  },
  'document code': {
    v6: ['document-project', 'project-context'],
    v4: { agent: 'architect', command: 'document-project' },
    agents: ['analyst'],
  },
  begin: { v6: ['workflow-init'], agents: ['analyst'], ownOnly: true },
  prd: { v6: ['create-prd', 'prd'], v4: { agent: 'pm', command: 'create-prd' }, agents: ['pm'] },
  'tech spec': { v6: ['tech-spec', 'create-tech-spec', 'quick-spec', 'spec'], agents: ['pm'] },
  ux: {
    v6: ['create-ux-design', 'ux'],
    v4: { agent: 'ux-expert', command: 'create-front-end-spec' },
    agents: ['ux-designer'],
  },
  architecture: {
    v6: ['create-architecture', 'architecture'],
    v4: { agent: 'architect', command: 'create-full-stack-architecture' },
    agents: ['architect'],
  },
  epics: { v6: ['create-epics-and-stories'], v4: { agent: 'pm', command: 'shard-prd' }, agents: ['pm'] },
  readiness: {
    v6: ['check-implementation-readiness', 'implementation-readiness', 'solutioning-gate-check'],
    v4: { agent: 'po', command: 'execute-checklist-po' },
    agents: ['architect'],
    ownOnly: true,
  },
  'sprint planning': {
    v6: ['sprint-planning'],
    v4: { agent: 'sm', command: 'draft' },
    agents: ['sm', 'dev'],
  },
  'epic context': { v6: ['epic-tech-context'], agents: ['sm'], ownOnly: true },
  'create story': {
    v6: ['create-story', 'build'],
    v4: { agent: 'sm', command: 'draft' },
    agents: ['sm', 'dev'],
  },
  'approve story': {
    v6: ['story-context', 'story-ready'],
    v4: { agent: 'po', command: 'validate-story-draft' },
    agents: ['sm'],
    ownOnly: true,
  },
  'develop story': {
    v6: ['dev-story', 'build'],
    v4: { agent: 'dev', command: 'develop-story' },
    agents: ['dev'],
  },
  'review story': { v6: ['code-review'], v4: { agent: 'qa', command: 'review' }, agents: ['dev'] },
  'apply review': { v6: ['dev-story', 'build'], v4: { agent: 'dev', command: 'review-qa' }, agents: ['dev'] },
  'close story': { v6: ['story-done'], v4: { agent: 'dev' }, agents: ['dev'], ownOnly: true },
  'quick work': {
    v6: ['quick-dev', 'build'],
    v4: { agent: 'dev', command: 'develop-story' },
    agents: ['dev'],
  },
  retrospective: { v6: ['retrospective'], agents: ['sm', 'dev'] },
};

/** Who to ask, by the name that leads there in this project. */
export interface Worker {
  kind: 'agent' | 'workflow';
  name: string;
  command?: string;
  /** The agent whose workflow it is. */
  by?: string;
  /** The record is of the project's own install. */
  own: boolean;
  record: BmadRecord;
}

const WORKFLOW_KINDS: readonly RecordKind[] = ['workflow', 'task', 'tool', 'skill'];

/** Finds who does a piece of work in this project: what it has installed itself comes before all else. */
export class Workers {
  readonly #catalogue: Catalogue;

  constructor(catalogue: Catalogue) {
    this.#catalogue = catalogue;
  }

  /** `v4` when the work is on something that version 4 made. */
  for(work: Work, v4: boolean): Worker | undefined {
    const { v6, v4: old, agents, ownOnly } = WAYS[work];
    const modern = v6.flatMap((name) => this.#workflow(name, agents) ?? []);
    const ancient = old === undefined ? undefined : this.#agent(old.agent, old.command);
    const ancients = ancient === undefined ? [] : [ancient];
    const ways = v4 ? [...ancients, ...modern] : [...modern, ...ancients];
    return ways.find(({ own }) => own) ?? (ownOnly === true ? undefined : ways[0]);
  }

  #workflow(name: string, agents: readonly string[]): Worker | undefined {
    const record = this.#find(name, WORKFLOW_KINDS);
    if (record === undefined || record.generation === 'v4') return undefined;
    const own = record.origin.kind === 'project';
    const by = agents.flatMap((agent) => {
      const found = this.#find(agent, ['agent']);
      return found !== undefined && found.origin.kind === record.origin.kind
        ? [this.#catalogue.names.handleOf(found)]
        : [];
    })[0];
    return {
      kind: 'workflow',
      name: this.#catalogue.names.handleOf(record),
      ...(by === undefined ? {} : { by }),
      own,
      record,
    };
  }

  #agent(name: string, command: string | undefined): Worker | undefined {
    const record = this.#find(name, ['agent']);
    if (record === undefined || !behaviourOf(record).takesCommands) return undefined;
    return {
      kind: 'agent',
      name: this.#catalogue.names.handleOf(record),
      ...(command === undefined ? {} : { command: `*${command}` }),
      own: record.origin.kind === 'project',
      record,
    };
  }

  /** What the project has itself, else the method's own module: several modules have a `create-story`. */
  #find(name: string, kinds: readonly RecordKind[]): BmadRecord | undefined {
    const found = ['bmm', 'bmad-core', 'core', undefined].flatMap((module) => {
      const query = { name, kinds, module, fuzzy: false };
      const choice = attempt(
        () => this.#catalogue.names.resolve(query),
        expected(() => undefined),
      );
      return choice === undefined || choice.record.deprecated !== undefined ? [] : [choice.record];
    });
    return found.find(({ origin }) => origin.kind === 'project') ?? found[0];
  }
}
