import { formatCsv } from '../../base/parse/parse.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { BmadRecord, RecordKind } from '../../model/record.ts';
import type { GeneratedFile } from './generated-files.ts';
import { manifestFolders, masterRecord, rootedPath } from './master-record.ts';

interface Manifest {
  kind: RecordKind;
  about: string;
  columns: readonly string[];
}

const PLAIN = ['name', 'displayName', 'description', 'module', 'path', 'standalone'];

/** The manifests by the name users ask for them, with the columns BMAD's own files have. */
export const MANIFESTS: Record<string, Manifest> = {
  agents: {
    kind: 'agent',
    about: 'The agents offered here: who they are, how they speak, where their files are',
    columns: [
      'name',
      'displayName',
      'title',
      'icon',
      'role',
      'identity',
      'communicationStyle',
      'principles',
      'module',
      'path',
      'canonicalId',
    ],
  },
  workflows: {
    kind: 'workflow',
    about: 'The workflows offered here: what they do, who wrote them, where their files are',
    columns: ['name', 'description', 'module', 'path', 'standalone', 'author', 'canonicalId'],
  },
  tasks: {
    kind: 'task',
    about: 'The tasks offered here: what they do, where their files are',
    columns: PLAIN,
  },
  tools: {
    kind: 'tool',
    about: 'The tools offered here: what they do, where their files are',
    columns: PLAIN,
  },
  skills: {
    kind: 'skill',
    about: 'The skills offered here that are neither agents nor workflows',
    columns: ['canonicalId', 'name', 'description', 'module', 'path'],
  },
};

export const MASTER_ABOUT = 'Everything that was found in any origin, offered or not, and why';

/** What is served, as CSV in BMAD's form, and the whole master manifest, winners and losers, as JSON. */
export function manifestFiles(catalogue: Catalogue): Map<string, GeneratedFile> {
  const files = new Map<string, GeneratedFile>();
  for (const [name, { kind, about, columns }] of Object.entries(MANIFESTS)) {
    files.set(`manifests/${name}`, {
      mimeType: 'text/csv',
      about,
      make: async () =>
        formatCsv([
          columns,
          ...catalogue.winners
            .filter((record) => record.kind === kind)
            .map((record) => cells(record, columns)),
        ]),
    });
  }
  files.set('manifests/master.json', {
    mimeType: 'application/json',
    about: MASTER_ABOUT,
    make: async () => `${JSON.stringify(await masterManifest(catalogue), null, 2)}\n`,
  });
  return files;
}

function cells(record: BmadRecord, columns: readonly string[]): string[] {
  const { standalone, ...details } = record.details ?? {};
  const values: Record<string, string | undefined> = {
    ...details,
    name: record.name,
    displayName: record.displayName ?? record.name,
    title: record.title,
    icon: record.icon,
    description: record.description,
    module: record.moduleName,
    path: rootedPath(record),
    canonicalId: record.name,
    standalone: standalone === undefined ? '' : String(standalone),
  };
  return columns.map((column) => values[column] ?? '');
}

async function masterManifest(catalogue: Catalogue): Promise<Record<string, unknown>> {
  const folders = await manifestFolders(catalogue.sources);
  const groups: Record<string, object[]> = { agents: [], workflows: [], tasks: [] };
  for (const record of catalogue.records) {
    const group = record.kind === 'knowledge' ? 'knowledge' : `${record.kind}s`;
    (groups[group] ??= []).push(masterRecord(record, catalogue, folders));
  }
  const { modules, problems } = catalogue;
  return { ...groups, modules: modules.map(({ help: _help, ...module }) => module), problems };
}
