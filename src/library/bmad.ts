import { BmadError } from '../base/errors.ts';
import type { Context } from '../operations/context.ts';
import { activate } from '../operations/activation/activate.ts';
import {
  describeAgents,
  listFiles,
  load,
  queryRecords as queryOperation,
} from '../operations/catalogue/records.ts';
import { list } from '../operations/catalogue/list.ts';
import { search } from '../operations/catalogue/search.ts';
import { readResource } from '../operations/client/resources.ts';
import { type Asker, createAsker } from './ask.ts';
import type {
  Activation,
  AgentManifestEntry,
  AgentMetadata,
  Bmad,
  CacheEntry,
  FileInfo,
  MasterRecord,
  RecordQuery,
  Resource,
  SearchHit,
} from './public.ts';
import { sourcesClear, sourcesList, sourcesResolve } from '../operations/git-sources/sources.ts';

/** Longest page of a list. */
const PAGE = 200;

interface ListPage {
  items: { name: string }[];
  next?: string;
}

interface ActivationPart extends Activation {
  next?: string;
}

/** The library over a context: each call is an operation, with its answer put into the form programs want. */
export async function createBmad(context: Context): Promise<Bmad> {
  const asker = createAsker(context);
  const { ask, askGently } = asker;
  let workspace = await context.workspace();

  async function names(what: 'agents' | 'workflows'): Promise<string[]> {
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const page: ListPage | undefined = await askGently<ListPage, ListPage | undefined>(
        list,
        { what, limit: PAGE, cursor },
        (data) => data,
        undefined,
      );
      if (page === undefined) return [];
      found.push(...page.items.map(({ name }) => name));
      cursor = page.next;
    } while (cursor !== undefined);
    return found;
  }

  const queryRecords = async (query: RecordQuery = {}): Promise<MasterRecord[]> =>
    (await ask<{ records: MasterRecord[] }>(queryOperation, query)).records;

  /** What the agents' manifest says of each, as data. */
  async function agentManifest(): Promise<AgentManifestEntry[]> {
    const agents = await queryRecords({ kind: 'agent', served: true });
    return agents.map((agent) => ({
      name: agent.name,
      displayName: agent.displayName ?? agent.name,
      title: agent.title ?? '',
      icon: agent.icon ?? '',
      role: agent.role ?? '',
      identity: agent.identity ?? '',
      communicationStyle: agent.communicationStyle ?? '',
      principles: agent.principles ?? '',
      module: agent.moduleName,
      path: agent.bmadRelativePath,
    }));
  }

  return {
    get project() {
      return workspace.project.root;
    },
    get warnings() {
      return [...context.configWarnings, ...workspace.warnings];
    },
    loadAgent: (name) => ask<Resource>(load, { name, kind: 'agent' }),
    loadWorkflow: (name) => ask<Resource>(load, { name, kind: 'workflow' }),
    listAgents: () => names('agents'),
    listWorkflows: () => names('workflows'),
    async getAgentMetadata(name) {
      // Without a name the operation describes all agents; a program that passes nothing means none.
      if (!name) return null;
      return askGently<{ agents: AgentMetadata[] }, AgentMetadata | null>(
        describeAgents,
        { name },
        ({ agents }) => agents[0] ?? null,
        null,
      );
    },
    listAgentsWithMetadata: () =>
      askGently<{ agents: AgentMetadata[] }, AgentMetadata[]>(describeAgents, {}, ({ agents }) => agents, []),
    listAllFiles: () => askGently<{ files: FileInfo[] }, FileInfo[]>(listFiles, {}, ({ files }) => files, []),
    async loadFile(relativePath) {
      const { text } = await ask<{ text?: string }>(readResource, { uri: relativePath });
      if (text !== undefined) return text;
      throw new BmadError('invalid_input', 'The file is not a text file.', {
        subject: relativePath,
        hint: 'Read it from its "fullPath" in listAllFiles().',
      });
    },
    queryRecords,
    async findRecord(name, query = {}) {
      const [first] = await queryRecords({ ...query, name, served: true });
      return first ?? null;
    },
    async search(query, options = {}) {
      return (await ask<{ items: SearchHit[] }>(search, { query, ...options })).items;
    },
    async activate(name, options = {}) {
      const input = { name, ...options, detail: 'full' };
      const { next: rest, ...first } = await ask<ActivationPart>(activate, input);
      let { text } = first;
      for (let cursor = rest; cursor !== undefined;) {
        const part = await ask<ActivationPart>(activate, { ...input, cursor });
        text += part.text;
        cursor = part.next;
      }
      const { name: found, kind, title, problems, context: about } = first;
      const agentManifestData = await agentManifest();
      return { name: found, kind, title, text, problems, context: { ...about, agentManifestData } };
    },
    resolveGitSource: (gitUrl) => resolveGitSource(asker, gitUrl),
    async refresh() {
      await context.refresh();
      workspace = await context.workspace();
    },
    close: asker.close,
  };
}

export async function resolveGitSource({ ask }: Asker, gitUrl: string): Promise<string> {
  return (await ask<{ folder: string }>(sourcesResolve, { source: gitUrl })).folder;
}

interface Copy extends Omit<CacheEntry, 'path'> {
  folder: string;
}

export async function listCache({ ask }: Asker): Promise<CacheEntry[]> {
  const { copies = [] } = await ask<{ copies?: Copy[] }>(sourcesList, { copies: true });
  return copies.map(({ folder, ...copy }) => ({ ...copy, path: folder }));
}

export async function clearCache({ ask }: Asker): Promise<void> {
  await ask(sourcesClear, { all: true });
}
