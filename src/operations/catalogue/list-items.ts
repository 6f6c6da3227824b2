import { orElse, attempt, BmadError, quoted } from '../../base/errors.ts';
import * as z from 'zod';
import { contentUri } from '../../base/files/paths.ts';
import { plural, say, t, wordsNow } from '../../base/text/message.ts';
import { fold, nearest } from '../../base/text/suggest.ts';
import { oneLine } from '../../base/text/text.ts';
import { madeOnce, present, push, those } from '../../base/values.ts';
import {
  type Origin,
  type BmadRecord,
  isListed,
  qualifiedName,
  type RecordKind,
  shortName,
} from '../../model/record.ts';
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
  /** Of a workflow, with all detail: the agents that have it in their menu. */
  agents: z.array(z.string()).optional(),
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
export const besideSchema = z.array(z.object({ module: z.string(), name: z.string(), count: z.int() }));

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
  const all = (await workspace.beside()).map(({ code, name, counts }) => ({
    module: code,
    name,
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

const itemsOf = madeOnce((workspace: Workspace) =>
  madeOnce((record: BmadRecord) => makeItem(record, workspace)),
);

/** Made once for each record of a workspace, whose records never change. */
export const recordItem = (record: BmadRecord, workspace: Workspace): Item => itemsOf(workspace)(record);

function versionOf({ moduleVersion, bmadVersion }: BmadRecord): string | undefined {
  return moduleVersion ?? bmadVersion;
}

type Placed = Pick<Entry, 'origin'>;

const usualOrigins = madeOnce((catalogue: Workspace['catalogue']) =>
  madeOnce((entries: readonly Placed[]) => usualOrigin(entries, catalogue)),
);

/** Where entries are of several origins: those that are not of the one that most are of tell theirs. */
export function originTelling(
  entries: readonly Placed[],
  { catalogue }: Workspace,
): <T extends Item>(item: T) => T {
  const name = usualOrigins(catalogue)(entries);
  if (name === undefined) return (item) => item;
  return (item) => (item.origin === name || isToldByModule(item) ? item : { ...item, elsewhere: true });
}

/** The origin that most entries are of; nothing where all of them are of one. */
function usualOrigin(entries: readonly Placed[], { sources }: Workspace['catalogue']): string | undefined {
  const counts = new Map<string | undefined, number>();
  for (const { origin } of entries) counts.set(origin, (counts.get(origin) ?? 0) + 1);
  if (counts.size < 2) return undefined;
  // Of two with as many, the first in rank.
  const ranked = sources.map(({ origin }) => origin.displayName);
  return ranked.toSorted((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0))[0];
}

/** A pack of version 4 is a module and a folder of the same name: `Project (.bmad-creative-writing)`. */
const isToldByModule = ({ name, module = name, origin = '' }: Item): boolean =>
  origin.endsWith(`(.${module})`);

function makeItem(record: BmadRecord, { catalogue }: Workspace): Item {
  const { displayName, title, icon, phase, deprecated } = record;
  const isAgent = record.kind === 'agent';
  const heading = isAgent ? [displayName, icon, title].filter(Boolean).join(' ') : displayName;
  return present<Item>({
    name: catalogue.names.handleOf(record),
    kind: record.kind,
    module: record.moduleName,
    title: shortened(heading, 120),
    person: isAgent ? shortened(displayName, 120) : undefined,
    icon: isAgent ? shortened(icon, 20) : undefined,
    description: oneLine(whatItIs(record), DESCRIPTION_LIMIT),
    author: shortened(record.details?.author, 120),
    phase,
    uri: contentUri(record.bmadRelativePath),
    aliases: [record.name, ...record.aliases].map((alias) => oneLine(alias, 120)),
    origin: record.origin.displayName,
    version: versionOf(record),
    replacedBy: deprecated?.successor,
  });
}

const shortened = (text: string | undefined, most: number): string | undefined =>
  text === undefined || text === '' ? undefined : oneLine(text, most);

/** Agents compiled by an installer are described by their title, which says it twice: role and identity say more. */
function whatItIs({ kind, title, description, details }: BmadRecord): string {
  if (kind !== 'agent' || (description !== '' && fold(description) !== fold(title ?? ''))) return description;
  const told = [details?.role, details?.identity].filter((each) => each !== undefined);
  return told.length === 0
    ? description
    : told.map((each) => (each.endsWith('.') ? each.slice(0, -1) : each)).join('. ');
}

const listsOf = madeOnce((_workspace: Workspace) => new Map<string, Entries>());
/** Callers may make up any number of filters. */
const LISTS_KEPT = 32;

/** The records of a list, chosen once for each workspace: a page of it does not depend on how many there are. */
export function recordEntries(workspace: Workspace, kind: RecordKind, filters: ItemFilters): Entries {
  const { module, category, version } = filters;
  const lists = listsOf(workspace);
  const key = JSON.stringify([kind, module, category, version, wordsNow() !== undefined]);
  const known = lists.get(key);
  if (known !== undefined) return known;
  const made = chosenEntries(workspace, kind, filters);
  if (lists.size >= LISTS_KEPT) lists.clear();
  lists.set(key, made);
  return made;
}

function chosenEntries(
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
  const left = everywhere.filter(({ origin }) => origin === meant);
  const asideCount =
    category === undefined || wantsOld
      ? left.length
      : attempt(() => inCategory(left, category, workspace).length, orElse(0));
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
    ...besides(asideCount, meant),
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
  return [moduleVersion, bmadVersion]
    .filter((own) => own !== undefined)
    .map(fold)
    .some((own) => own === wanted || own.startsWith(`${wanted}.`) || own.startsWith(`${wanted}-`));
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

/** Made once for each item: a list needs it to count, and again to show it. */
const summaryOf = madeOnce(({ description }: Item) => oneLine(description, 140));

export function itemLine(item: Item, detail: Detail): string {
  if (item.kind === 'resource')
    return detail === 'full'
      ? `- ${item.uri ?? ''} (${item.description}, ${item.origin ?? ''})`
      : `- ${item.uri ?? ''}`;
  if (detail === 'brief') return item.name;
  const place = those(item.module, item.phase, item.elsewhere === true && item.origin).join(', ');
  const replaced = item.replacedBy === undefined ? '' : ` → ${item.replacedBy}`;
  const head = `- **${item.name}**${item.title === undefined ? '' : ` ${item.title}`}${place === '' ? '' : ` (${place})`}${replaced}`;
  if (detail !== 'full') return item.description === '' ? head : t`${head}: ${summaryOf(item)}`;
  const extra = those(
    item.uri,
    item.author !== undefined && t`by ${item.author}`,
    item.agents !== undefined && t`in the menu of ${item.agents.join(', ')}`,
    item.aliases !== undefined && t`also: ${item.aliases.join(', ')}`,
    item.origin,
    item.version,
  ).join('; ');
  return t`${head}: ${item.description}\n  ${extra}`;
}

/** Why there are no tasks, as far as that can be said: without content there is nothing to say about its version. */
export function noTasks({ catalogue }: Workspace): { note?: string } {
  return catalogue.winners.some(({ format }) => format === 'skill')
    ? { note: t`This version of BMAD has no tasks: former tasks are now workflows and skills.` }
    : {};
}

/** `3 in analysis, 2 in planning`. */
function countsIn(counts: Partial<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([category, count]) => t`${count ?? 0} in ${say(category)}`)
    .join(', ');
}

/** How much of each of these kinds a module offers. */
export function contentsOf(
  code: string,
  kinds: readonly RecordKind[],
  { winners, aside }: Workspace['catalogue'],
): string {
  const own = winners.filter(
    (record) => record.moduleName === code && isListed(record) && record.origin !== aside,
  );
  return kinds
    .flatMap((kind) => {
      const count = own.filter((record) => record.kind === kind).length;
      return count === 0
        ? []
        : [kind === 'knowledge' ? t`${count} pieces of knowledge` : plural(count, kind)];
    })
    .join(', ');
}

/** The four phases of the method, whatever a release calls them. */
export const CATEGORIES = ['analysis', 'planning', 'solutioning', 'implementation', 'other'] as const;
/** How fields describe them. */
export const CATEGORY_WORDS = `${CATEGORIES.join(', ')}; or a phase of this BMAD`;
type Category = (typeof CATEGORIES)[number];

/** Folders were numbered up to 6.10. Modules number phases of their own. */
const SIGNS: readonly (readonly [RegExp, Category])[] = [
  [/^1-|analysis/, 'analysis'],
  [/^2-|planning/, 'planning'],
  [/^3-|solutioning/, 'solutioning'],
  [/^4-|implementation/, 'implementation'],
];

/** From 6.11 on there are two phases, `plan` and `ship`; the same work was in these four before. */
const WORK: Readonly<Record<Exclude<Category, 'other'>, readonly string[]>> = {
  analysis: ['brainstorming', 'deep-recon', 'forge-idea', 'prfaq', 'product-brief', 'project-context'],
  planning: ['prd', 'spec', 'ux'],
  solutioning: ['architecture', 'create-epics-and-stories'],
  implementation: ['create-story', 'dev-story', 'sprint-planning'],
};
const BY_WORK = new Map(
  Object.entries(WORK).flatMap(([category, names]) => names.map((name) => [name, category as Category])),
);
const COARSE = new Map<string, Category>([
  ['plan', 'planning'],
  ['ship', 'implementation'],
]);

/** The phases that help rows name, by module and skill; made once, for catalogues may have thousands of rows. */
const helpPhases = madeOnce(({ catalogue }: Workspace) => {
  const found = new Map<string, string[]>();
  for (const { code, help } of catalogue.modules)
    for (const { skill, phase } of help) push(found, qualifiedName({ moduleName: code, name: skill }), phase);
  return found;
});

/** The phases a record belongs to: that of its folder, and those its help rows name. */
function phasesOf(record: BmadRecord, workspace: Workspace): string[] {
  const help = helpPhases(workspace).get(qualifiedName(record)) ?? [];
  return [record.phase ?? '', ...help].filter(Boolean);
}

/** Its own phase decides, then the folders its own folder is in; a name such as sprint-planning says nothing. */
export function categoryOf(record: BmadRecord, workspace: Workspace): Category {
  const folders = record.bmadRelativePath.split('/').slice(0, -2);
  const words = [...phasesOf(record, workspace), ...folders].map(fold);
  for (const word of words) {
    const sign = SIGNS.find(([pattern]) => pattern.test(word));
    if (sign !== undefined) return sign[1];
  }
  const known = BY_WORK.get(shortName(record.name));
  const coarse = words.find((word) => COARSE.has(word));
  return known ?? COARSE.get(coarse ?? '') ?? 'other';
}

/** `1-analysis` and `2-plan-workflows` are the folders of earlier versions for what is called analysis and planning. */
function categoryNamed(word: string): Category | undefined {
  const plain = fold(word)
    .replace(/^\d-/, '')
    .replace(/^plan-workflows$/, 'planning');
  return CATEGORIES.find((category) => category === plain);
}

/**
 * The records of a category, by either spelling, or of a phase that this BMAD has: that of their folder, and those their
 * help rows name. A category may be empty; a word that is neither throws an error that lists both.
 */
export function inCategory(
  records: readonly BmadRecord[],
  wanted: string,
  workspace: Workspace,
): BmadRecord[] {
  const category = categoryNamed(wanted);
  if (category !== undefined) return records.filter((record) => categoryOf(record, workspace) === category);
  const phases = (record: BmadRecord): string[] => phasesOf(record, workspace);
  const found = records.filter((record) => phases(record).some((phase) => fold(phase) === fold(wanted)));
  if (found.length > 0) return found;
  // Users and models know these two from other releases.
  const coarse = COARSE.get(fold(wanted));
  if (coarse !== undefined) return inCategory(records, coarse, workspace);
  const known = [...new Set(records.flatMap(phases))].sort().slice(0, PHASES_NAMED);
  throw new BmadError('not_found', t`There is no category ${quoted(wanted)} here.`, {
    reason: 'content',
    subject: wanted,
    suggestions: nearest(wanted, [...CATEGORIES, ...known]),
    hint: t`Categories: ${[...CATEGORIES, 'deprecated'].join(', ')}.${known.length === 0 ? '' : t` Phases of this BMAD: ${known.join(', ')}.`}`,
  });
}

const PHASES_NAMED = 30;

/** How many of the records each category has. */
export function categoryCounts(
  records: readonly BmadRecord[],
  workspace: Workspace,
): Partial<Record<Category, number>> {
  const counts: Partial<Record<Category, number>> = {};
  for (const record of records) {
    const own = categoryOf(record, workspace);
    counts[own] = (counts[own] ?? 0) + 1;
  }
  return counts;
}

/** How many of each kind are served and shown in lists; old names, which only answer when called, are counted apart. */
export function listedCounts({ catalogue }: Workspace): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const record of catalogue.winners) {
    if (!record.exists || record.origin === catalogue.aside) continue;
    const kind = isListed(record) ? record.kind : record.deprecated === undefined ? undefined : 'deprecated';
    if (kind !== undefined) counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}
