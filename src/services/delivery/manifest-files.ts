import { formatCsv } from '../../base/parse/parse.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { BmadRecord, RecordKind } from '../../model/record.ts';
import type { GeneratedFile } from './generated-files.ts';

/** The manifests by the name users ask for them, with the columns BMAD's own files have. */
export const MANIFESTS: Record<string, { kind: RecordKind; columns: readonly string[] }> = {
  agents: {
    kind: 'agent',
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
  workflows: { kind: 'workflow', columns: ['name', 'description', 'module', 'path', 'canonicalId'] },
  tasks: { kind: 'task', columns: ['name', 'displayName', 'description', 'module', 'path', 'standalone'] },
  tools: { kind: 'tool', columns: ['name', 'displayName', 'description', 'module', 'path', 'standalone'] },
  skills: { kind: 'skill', columns: ['canonicalId', 'name', 'description', 'module', 'path'] },
};

/** What is served, as CSV in BMAD's form, and the whole master manifest, winners and losers, as JSON. */
export function manifestFiles(catalogue: Catalogue): Map<string, GeneratedFile> {
  const files = new Map<string, GeneratedFile>();
  for (const [name, { kind, columns }] of Object.entries(MANIFESTS)) {
    files.set(`manifests/${name}`, {
      mimeType: 'text/csv',
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
    make: async () => `${JSON.stringify(masterManifest(catalogue), null, 2)}\n`,
  });
  return files;
}

function cells(record: BmadRecord, columns: readonly string[]): string[] {
  const values: Record<string, string | undefined> = {
    name: record.name,
    displayName: record.displayName ?? record.name,
    title: record.title,
    icon: record.icon,
    description: record.description,
    module: record.moduleName,
    path: record.bmadRelativePath,
    canonicalId: record.name,
    standalone: 'true',
  };
  return columns.map((column) => values[column] ?? '');
}

function masterManifest({ records, modules, problems }: Catalogue): Record<string, unknown> {
  const groups: Record<string, BmadRecord[]> = { agents: [], workflows: [], tasks: [] };
  for (const record of records) {
    const group = record.kind === 'knowledge' ? 'knowledge' : `${record.kind}s`;
    groups[group] = [...(groups[group] ?? []), record];
  }
  return { ...groups, modules: modules.map(({ help: _help, ...module }) => module), problems };
}
