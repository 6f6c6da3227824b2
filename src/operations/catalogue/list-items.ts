import * as z from 'zod';
import { globMatcher } from '../../base/text/glob.ts';
import { contentUri } from '../../base/files/paths.ts';
import { withoutHidden } from '../../base/text/hidden.ts';
import { fold } from '../../base/text/suggest.ts';
import { oneLine, plural } from '../../base/text/text.ts';
import { isListed, type BmadRecord, type RecordKind } from '../../model/record.ts';
import { inPhase } from './categories.ts';
import type { Workspace } from '../context.ts';
import type { Detail } from '../fields.ts';

/** The kinds of records by the name of their list. */
export const LISTED_KINDS = {
  agents: 'agent',
  workflows: 'workflow',
  tasks: 'task',
  tools: 'tool',
  skills: 'skill',
  knowledge: 'knowledge',
  templates: 'template',
  checklists: 'checklist',
  teams: 'team',
} as const satisfies Record<string, RecordKind>;

/** One line of a list, whatever is listed. */
export const itemSchema = z.object({
  /** What to call it by: the shortest name that leads to it, a module code, or a path. */
  name: z.string(),
  kind: z.string(),
  module: z.string().optional(),
  title: z.string().optional(),
  description: z.string(),
  phase: z.string().optional(),
  uri: z.string().optional(),
  aliases: z.array(z.string()).optional(),
  origin: z.string().optional(),
  replacedBy: z.string().optional(),
});
export type Item = z.output<typeof itemSchema>;

export interface ItemFilters {
  module: string | undefined;
  category: string | undefined;
  pattern: string | undefined;
}

export interface Items {
  items: Item[];
  note?: string;
}

/** Lists stay readable even when a file has a description of megabytes. */
const DESCRIPTION_LIMIT = 1_000;

const itemsByRecord = new WeakMap<BmadRecord, Item>();

/** Made once for each record: records belong to one catalogue and never change. */
export function recordItem(record: BmadRecord, workspace: Workspace): Item {
  const item = itemsByRecord.get(record) ?? makeItem(record, workspace);
  itemsByRecord.set(record, item);
  return item;
}

function makeItem(record: BmadRecord, { catalogue }: Workspace): Item {
  const { displayName, title, icon, phase, deprecated } = record;
  const heading =
    record.kind === 'agent' ? [displayName, icon, title].filter(Boolean).join(' ') : displayName;
  return {
    name: catalogue.names.handleOf(record),
    kind: record.kind,
    module: record.moduleName,
    ...(heading === undefined || heading === '' ? {} : { title: oneLine(heading, 120) }),
    description: oneLine(record.description, DESCRIPTION_LIMIT),
    ...(phase === undefined ? {} : { phase }),
    uri: contentUri(record.bmadRelativePath),
    aliases: [record.name, ...record.aliases].map((alias) => oneLine(alias, 120)),
    origin: record.origin.displayName,
    ...(deprecated?.successor === undefined ? {} : { replacedBy: deprecated.successor }),
  };
}

export function recordItems(
  workspace: Workspace,
  kind: RecordKind,
  { module, category }: ItemFilters,
): Items {
  const all = workspace.catalogue.winners.filter(
    (record) => module === undefined || record.moduleName === module,
  );
  const ofKind = all.filter((record) => record.kind === kind && isListed(record));
  const old = kind === 'agent' ? [] : all.filter((record) => record.deprecated !== undefined);
  const wantsOld = category !== undefined && fold(category) === 'deprecated';
  const chosen = wantsOld ? old : category === undefined ? ofKind : inPhase(ofKind, category, workspace);
  return {
    items: chosen.map((record) => recordItem(record, workspace)),
    ...(kind === 'workflow' && category === undefined && old.length > 0
      ? {
          note: `${plural(old.length, 'old name')} still work when called; category:"deprecated" lists them.`,
        }
      : {}),
    ...(kind === 'task' && ofKind.length === 0
      ? { note: 'This version of BMAD has no tasks: former tasks are now workflows and skills.' }
      : {}),
  };
}

export function moduleItems({ catalogue }: Workspace, { module }: ItemFilters): Items {
  const modules = catalogue.modules.filter(({ code }) => module === undefined || code === module);
  return {
    items: modules.map(({ code, name, description, version, origin }) => ({
      name: code,
      kind: 'module',
      title: version === undefined ? name : `${name} ${version}`,
      description,
      origin: origin.displayName,
    })),
  };
}

export async function resourceItems(
  { delivery }: Workspace,
  { module, pattern }: ItemFilters,
): Promise<Items> {
  const matches = pattern === undefined ? () => true : globMatcher(pattern.replace(/^bmad:\/\//, ''));
  const paths = (await delivery.paths()).filter(
    ({ path }) => matches(path) && (module === undefined || path.startsWith(`${module}/`)),
  );
  return {
    items: paths.map(({ path, mimeType, origin }) => ({
      name: withoutHidden(path),
      kind: 'resource',
      description: mimeType,
      uri: contentUri(path),
      origin,
    })),
  };
}

/** Whether an entry holds all the words, in whatever order. */
export function holdsWords(item: Item, words: string): boolean {
  const text = [item.name, item.title, item.description, ...(item.aliases ?? [])]
    .join(' ')
    .normalize('NFC')
    .toLowerCase();
  return words
    .normalize('NFC')
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

const summaries = new WeakMap<Item, string>();

/** Made once for each item: a list needs it to count, and again to show it. */
function summaryOf(item: Item): string {
  const summary = summaries.get(item) ?? oneLine(item.description, 140);
  summaries.set(item, summary);
  return summary;
}

export function itemLine(item: Item, detail: Detail): string {
  if (item.kind === 'resource')
    return detail === 'full'
      ? `- ${item.uri ?? ''} (${item.description}, ${item.origin ?? ''})`
      : `- ${item.uri ?? ''}`;
  if (detail === 'concise') return item.name;
  const place = [item.module, item.phase].filter(Boolean).join(', ');
  const replaced = item.replacedBy === undefined ? '' : ` → ${item.replacedBy}`;
  const head = `- **${item.name}**${item.title === undefined ? '' : ` ${item.title}`}${place === '' ? '' : ` (${place})`}${replaced}`;
  if (detail !== 'full') return item.description === '' ? head : `${head}: ${summaryOf(item)}`;
  const extra = [
    item.uri,
    item.aliases === undefined ? undefined : `also: ${item.aliases.join(', ')}`,
    item.origin,
  ]
    .filter(Boolean)
    .join('; ');
  return `${head}: ${item.description}\n  ${extra}`;
}
