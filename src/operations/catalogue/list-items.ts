import { plural, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { contentUri } from '../../base/files/paths.ts';
import { BmadError, quoted } from '../../base/errors.ts';
import { fold, nearest } from '../../base/text/suggest.ts';
import { oneLine } from '../../base/text/text.ts';
import type { Origin } from '../../model/origin.ts';
import { isListed, type BmadRecord, type RecordKind } from '../../model/record.ts';
import { categoryCounts, inCategory } from './categories.ts';
import { countsIn, noTasks } from './listed-words.ts';
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
  /** Of an agent: who it is, and the sign it goes by. */
  person: z.string().optional(),
  icon: z.string().optional(),
  description: z.string(),
  phase: z.string().optional(),
  author: z.string().optional(),
  uri: z.string().optional(),
  aliases: z.array(z.string()).optional(),
  origin: z.string().optional(),
  version: z.string().optional(),
  /** Whether it is of another origin than most of its list, which its line then tells. */
  elsewhere: z.boolean().optional(),
  replacedBy: z.string().optional(),
});
export type Item = z.output<typeof itemSchema>;

export interface ItemFilters {
  module: string | undefined;
  category: string | undefined;
  pattern: string | undefined;
  version: string | undefined;
}

/** How many more there are, in content that is not listed with the project's own. */
export const asideSchema = z.object({ count: z.int(), from: z.string() });

/** Built-in modules that a list leaves out, and how much of what it lists they have. */
export const besideSchema = z.array(z.object({ module: z.string(), count: z.int() }));

/** What is listed before it is known what is shown: of thousands, only those of a page become items. */
export interface Entry {
  module?: string | undefined;
  origin?: string | undefined;
  /** Nothing for modules and files. */
  record?: BmadRecord;
  item(): Item;
}

export interface Entries {
  entries: Entry[];
  note?: string;
  aside?: z.output<typeof asideSchema>;
}

/** What else is built in, for a list that was not narrowed down. */
export async function besideList(what: string, workspace: Workspace): Promise<z.output<typeof besideSchema>> {
  const kind = Object.hasOwn(LISTED_KINDS, what)
    ? LISTED_KINDS[what as keyof typeof LISTED_KINDS]
    : undefined;
  const all = (await workspace.beside()).map(({ code, counts }) => ({
    module: code,
    count: kind === undefined ? 1 : (counts[kind] ?? 0),
  }));
  return all.filter(({ count }) => count > 0);
}

/** Those that are no records, which are made at once. */
export function entriesOf(items: readonly Item[]): Entry[] {
  return items.map((item) => ({ module: item.module, origin: item.origin, item: () => item }));
}

/** Lists stay readable even when a file has a description of megabytes. */
const DESCRIPTION_LIMIT = 1_000;

const itemsByWorkspace = new WeakMap<Workspace, WeakMap<BmadRecord, Item>>();

/** Made once for each record of a workspace, whose records never change. */
export function recordItem(record: BmadRecord, workspace: Workspace): Item {
  const items = itemsByWorkspace.get(workspace) ?? new WeakMap<BmadRecord, Item>();
  itemsByWorkspace.set(workspace, items);
  const item = items.get(record) ?? makeItem(record, workspace);
  items.set(record, item);
  return item;
}

function versionOf({ moduleVersion, bmadVersion }: BmadRecord): string | undefined {
  return moduleVersion ?? bmadVersion;
}

/** Where entries are of several origins, which are given: those that are not of the one that most are of tell theirs. */
export function originTelling(
  origins: readonly (string | undefined)[],
  { catalogue }: Workspace,
): <T extends Item>(item: T) => T {
  const counts = new Map<string | undefined, number>();
  for (const origin of origins) counts.set(origin, (counts.get(origin) ?? 0) + 1);
  if (counts.size < 2) return (item) => item;
  // Of two with as many, the first in rank.
  const ranked = catalogue.sources.map(({ origin }) => origin.displayName);
  const usual = ranked.toSorted((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0))[0];
  return (item) => (item.origin === usual || isToldByModule(item) ? item : { ...item, elsewhere: true });
}

/** A pack of version 4 is a module and a folder of the same name: `Project (.bmad-creative-writing)`. */
const isToldByModule = ({ name, module = name, origin = '' }: Item): boolean =>
  origin.endsWith(`(.${module})`);

function makeItem(record: BmadRecord, { catalogue }: Workspace): Item {
  const { displayName, title, icon, phase, deprecated } = record;
  const heading =
    record.kind === 'agent' ? [displayName, icon, title].filter(Boolean).join(' ') : displayName;
  return {
    name: catalogue.names.handleOf(record),
    kind: record.kind,
    module: record.moduleName,
    ...(heading === undefined || heading === '' ? {} : { title: oneLine(heading, 120) }),
    ...personOf(record),
    description: oneLine(whatItIs(record), DESCRIPTION_LIMIT),
    ...(record.details?.author === undefined ? {} : { author: oneLine(record.details.author, 120) }),
    ...(phase === undefined ? {} : { phase }),
    uri: contentUri(record.bmadRelativePath),
    aliases: [record.name, ...record.aliases].map((alias) => oneLine(alias, 120)),
    origin: record.origin.displayName,
    ...(versionOf(record) === undefined ? {} : { version: versionOf(record) }),
    ...(deprecated?.successor === undefined ? {} : { replacedBy: deprecated.successor }),
  };
}

function personOf({ kind, displayName, icon }: BmadRecord): Pick<Item, 'person' | 'icon'> {
  if (kind !== 'agent') return {};
  return {
    ...(displayName === undefined || displayName === '' ? {} : { person: oneLine(displayName, 120) }),
    ...(icon === undefined || icon === '' ? {} : { icon: oneLine(icon, 20) }),
  };
}

/** Agents compiled by an installer are described by their title, which says it twice: role and identity say more. */
function whatItIs({ kind, title, description, details }: BmadRecord): string {
  if (kind !== 'agent' || (description !== '' && fold(description) !== fold(title ?? ''))) return description;
  const told = [details?.role, details?.identity].filter((each) => each !== undefined);
  return told.length === 0
    ? description
    : told.map((each) => (each.endsWith('.') ? each.slice(0, -1) : each)).join('. ');
}

export function recordEntries(
  workspace: Workspace,
  kind: RecordKind,
  { module, category, version }: ItemFilters,
): Entries {
  const { winners, aside } = workspace.catalogue;
  const inModule = winners.filter((record) => module === undefined || record.moduleName === module);
  const all = version === undefined ? inModule : ofVersion(inModule, version);
  const everywhere = all.filter((record) => record.kind === kind && isListed(record));
  // Whoever names a module or a version that only the built-in content has means that.
  const isNamed = module !== undefined || version !== undefined;
  const meant = isNamed && everywhere.every(({ origin }) => origin === aside) ? undefined : aside;
  const ofKind = everywhere.filter(({ origin }) => origin !== meant);
  const old =
    kind === 'agent'
      ? []
      : all.filter(({ deprecated, origin }) => deprecated !== undefined && origin !== meant);
  const wantsOld = category !== undefined && fold(category) === 'deprecated';
  const chosen = wantsOld ? old : category === undefined ? ofKind : inCategory(ofKind, category, workspace);
  return {
    entries: chosen.map((record) => ({
      record,
      module: record.moduleName,
      origin: record.origin.displayName,
      item: () => recordItem(record, workspace),
    })),
    ...(kind === 'workflow' && category === undefined && old.length > 0
      ? {
          note: t`${plural(old.length, 'old name')} still work when called; the category "deprecated" lists them.`,
        }
      : {}),
    ...(category !== undefined && chosen.length === 0 && ofKind.length > 0
      ? { note: t`None here; there are ${countsIn(categoryCounts(ofKind, workspace))}.` }
      : {}),
    ...(kind === 'task' && ofKind.length === 0 ? noTasks(workspace) : {}),
    ...(version !== undefined && ofKind.length === 0 ? overriddenOnes(workspace, kind, version) : {}),
    ...besides(everywhere.length - ofKind.length, meant),
  };
}

/** What a list leaves out, because the project has a BMAD of another version. */
export function besides(count: number, aside: Origin | undefined): Pick<Entries, 'aside'> {
  return count === 0 || aside === undefined ? {} : { aside: { count, from: aside.displayName } };
}

/** A list has what is served; of a version that another origin overrides there may be nothing. */
function overriddenOnes({ catalogue }: Workspace, kind: RecordKind, version: string): { note?: string } {
  const count = [...catalogue.overridden.keys()].filter(
    (record) => record.kind === kind && isListed(record) && isOfVersion(record, version),
  ).length;
  if (count === 0) return {};
  return {
    note:
      count === 1
        ? t`${count} of this version is overridden by another origin; "origin" lists what one has.`
        : t`${count} of this version are overridden by another origin; "origin" lists what one has.`,
  };
}

/** Whether its module or BMAD is of this version, or of a release of it: `6.0` means 6.0.4 as well. */
function isOfVersion({ moduleVersion, bmadVersion }: BmadRecord, version: string): boolean {
  const wanted = fold(version).replace(/^v/, '');
  return [moduleVersion, bmadVersion].some(
    (own) => own !== undefined && (fold(own) === wanted || /^[.-]/.test(rest(fold(own), wanted))),
  );
}

function ofVersion(records: readonly BmadRecord[], version: string): BmadRecord[] {
  const found = records.filter((record) => isOfVersion(record, version));
  if (found.length > 0) return found;
  const known = [...new Set(records.flatMap((record) => versionOf(record) ?? []))].sort();
  throw new BmadError('not_found', t`Nothing here is of version ${quoted(version)}.`, {
    subject: version,
    suggestions: nearest(version, known),
    hint: t`Versions: ${known.join(', ') || t`none is known`}.`,
  });
}

function rest(text: string, start: string): string {
  return text.startsWith(start) ? text.slice(start.length) : '';
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
  if (detail === 'brief') return item.name;
  const place = [item.module, item.phase, item.elsewhere === true ? item.origin : undefined]
    .filter(Boolean)
    .join(', ');
  const replaced = item.replacedBy === undefined ? '' : ` → ${item.replacedBy}`;
  const head = `- **${item.name}**${item.title === undefined ? '' : ` ${item.title}`}${place === '' ? '' : ` (${place})`}${replaced}`;
  if (detail !== 'full') return item.description === '' ? head : t`${head}: ${summaryOf(item)}`;
  const extra = [
    item.uri,
    item.author === undefined ? undefined : t`by ${item.author}`,
    item.aliases === undefined ? undefined : t`also: ${item.aliases.join(', ')}`,
    item.origin,
    item.version,
  ]
    .filter(Boolean)
    .join('; ');
  return t`${head}: ${item.description}\n  ${extra}`;
}
