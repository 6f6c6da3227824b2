import type { RecordFormat } from '../../model/format.ts';
import type { RecordKind } from '../../model/record.ts';

interface Shelf {
  kind: RecordKind;
  format: RecordFormat;
  files: RegExp;
}

const DOCUMENT = /\.(?:md|markdown|txt|ya?ml|csv|tsv|json|xml)$/i;

/**
 * What each folder of a BMAD folder holds. Its `utils` are parts of agents, not things to start or look up, and the
 * installer leaves copies of changed files behind (`dev.md.bak1`), which no pattern takes.
 */
const SHELVES = new Map<string, Shelf>([
  ['agents', { kind: 'agent', format: 'v4-agent', files: /\.md$/i }],
  ['workflows', { kind: 'workflow', format: 'v4-workflow', files: /\.(?:ya?ml|md)$/i }],
  ['tasks', { kind: 'task', format: 'document', files: DOCUMENT }],
  ['templates', { kind: 'template', format: 'document', files: DOCUMENT }],
  ['checklists', { kind: 'checklist', format: 'document', files: DOCUMENT }],
  ['data', { kind: 'knowledge', format: 'document', files: DOCUMENT }],
  ['agent-teams', { kind: 'team', format: 'document', files: /\.ya?ml$/i }],
]);

export const SHELF_NAMES: readonly string[] = [...SHELVES.keys()];

/** What a file is by its path in its BMAD folder; nothing for hidden files, read-me files and all else. */
export function shelfOf(path: string): Shelf | undefined {
  const segments = path.split('/');
  const shelf = SHELVES.get(segments[0] ?? '');
  const file = segments.at(-1) ?? '';
  if (shelf === undefined || segments.length < 2 || !shelf.files.test(file)) return undefined;
  const ignored = segments.some((segment) => segment.startsWith('.')) || /^readme\b/i.test(file);
  return ignored ? undefined : shelf;
}
