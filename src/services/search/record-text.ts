import table from '../../../assets/words/abbreviations.json' with { type: 'json' };
import { mapLimited } from '../../base/async.ts';
import { grouped, push, present } from '../../base/values.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { analyse } from '../../meaning/analyse.ts';
import type { ModuleInfo } from '../../model/module.ts';
import { type BmadRecord, qualifiedName, shortName } from '../../model/record.ts';

/** What an agent says of itself, as far as it helps to find it and what it starts. */
export interface AgentText {
  role?: string | undefined;
  menu: readonly { text: string; starts: BmadRecord | undefined }[];
}

/** The parts of a record that are searched; a hit names the one that counted most. */
export const FIELDS = [
  'name',
  'full name',
  'alias',
  'title',
  'role',
  'description',
  'phase',
  'menu',
  'help',
] as const;
export type Field = (typeof FIELDS)[number];

export interface RecordText {
  record: BmadRecord;
  fields: Record<Field, readonly string[]>;
}

/** How many agent files are read in parallel, and how many at most: no one has more, and a search should not wait. */
const AT_ONCE = 16;
const MOST_AGENTS = 500;
/** A description of megabytes says nothing more about its subject. */
const TEXT_LENGTH = 4_000;

/** What an agent says of itself, in a form that can be kept. */
export interface DescribedAgent {
  /** Its position among the records. */
  at: number;
  role?: string | undefined;
  /** What the entries of its menu say, and the full names of what they start. */
  menu: { text: string; starts?: string | undefined }[];
}

/** The agents that are described. */
export function agentsAmong(records: readonly BmadRecord[]): { agent: BmadRecord; at: number }[] {
  return records
    .flatMap((agent, at) => (agent.kind === 'agent' ? [{ agent, at }] : []))
    .slice(0, MOST_AGENTS);
}

export async function describedAgents(
  records: readonly BmadRecord[],
  describe: (agent: BmadRecord) => Promise<AgentText>,
  signal?: AbortSignal,
  /** What is known of one from before, by its number among the agents. */
  known: (number: number) => DescribedAgent | undefined = () => undefined,
): Promise<DescribedAgent[]> {
  return mapLimited(agentsAmong(records), AT_ONCE, async ({ agent, at }, number) => {
    signal?.throwIfAborted();
    const before = known(number);
    if (before !== undefined) return { ...before, at };
    const { role, menu } = await describe(agent);
    const entries = menu.map(({ text, starts }) => ({
      text,
      ...(starts === undefined ? {} : { starts: qualifiedName(starts) }),
    }));
    return { at, ...present({ role }), menu: entries };
  });
}

/** Everything that is searched, record by record, in the order of the catalogue. */
export async function recordTexts(
  catalogue: Catalogue,
  records: readonly BmadRecord[],
  describe: (agent: BmadRecord) => Promise<AgentText>,
): Promise<RecordText[]> {
  const textAt = textsFrom(catalogue, records, await describedAgents(records, describe));
  return records.map((_, at) => textAt(at));
}

/** What is searched of the record at a position. */
export type TextAt = (at: number) => RecordText;

/** The texts of records, each made when it is asked for. */
export function textsFrom(
  { modules }: Pick<Catalogue, 'modules'>,
  records: readonly BmadRecord[],
  described: readonly DescribedAgent[],
): TextAt {
  const known = new Map(described.map((agent) => [agent.at, agent]));
  const offered = menuTexts(described);
  const rows = new Map(modules.map((module) => [module.code, rowsOf(module)]));
  return (at) => {
    const record = records[at] as BmadRecord;
    const module = rows.get(record.moduleName);
    const roster = module?.roster.get(record.name);
    const help = module?.help.get(record.name) ?? [];
    const own = known.get(at);
    return {
      record,
      fields: shortened({
        name: [shortName(record.name)],
        'full name': [spelledOut(shortName(record.name))],
        alias: record.aliases,
        title: [record.title ?? '', record.displayName ?? ''],
        role: [own?.role ?? ''],
        description: [record.description, roster ?? ''],
        phase: [record.phase ?? '', record.moduleName, record.kind],
        menu: [...(own?.menu.map(({ text }) => text) ?? []), ...(offered.get(qualifiedName(record)) ?? [])],
        help: [
          ...askedFor(shortName(record.name)),
          ...help.flatMap(({ displayName, description, outputs }) => [displayName, description, outputs]),
        ],
      }),
    };
  };
}

/** What agents' menus say about what they start. */
function menuTexts(described: readonly DescribedAgent[]): Map<string, string[]> {
  const texts = new Map<string, string[]>();
  for (const { menu } of described)
    for (const { text, starts } of menu) if (starts !== undefined) push(texts, starts, text);
  return texts;
}

function rowsOf({ help, roster }: ModuleInfo) {
  return {
    help: grouped(help, ({ skill }) => skill),
    roster: new Map(roster.map(({ code, description }) => [code, description])),
  };
}

function shortened(fields: Record<Field, readonly string[]>): Record<Field, readonly string[]> {
  const entries = FIELDS.map((field) => {
    const texts = fields[field].map((text) => singular(text.slice(0, TEXT_LENGTH)).trim()).filter(Boolean);
    return [field, [...new Set(texts)]] as const;
  });
  return Object.fromEntries(entries) as Record<Field, readonly string[]>;
}

/** `PRDs` are more than one PRD; taken apart at its humps it would be neither. */
export function singular(text: string): string {
  if (!/\p{Lu}{2}s/u.test(text)) return text;
  return text.replace(/[\p{L}\p{N}_]+/gu, (word) => (/^\p{Lu}{2,}s$/u.test(word) ? word.slice(0, -1) : word));
}

interface Abbreviation {
  /** In English as the content is; the vocabulary says it in French. */
  words: string;
  /** What it is for, in the words of a person who knows neither the letters nor the terms. */
  about?: readonly string[];
  /** A sentence it is asked for with, for its words: some that the content does not have lead elsewhere. */
  asked?: string;
}

/** What the abbreviations in BMAD's names stand for: people who want such a thing say that, not the letters. */
const ABBREVIATIONS: Readonly<Record<string, Abbreviation>> = table.letters;

/** Most names have none, and need not be taken apart to see that. */
const LETTERS = Object.keys(ABBREVIATIONS);
const hasNone = (name: string): boolean =>
  /^[ -~]*$/.test(name) && !LETTERS.some((each) => name.toLowerCase().includes(each));

function abbreviationsIn(name: string): Abbreviation[] {
  if (hasNone(name)) return [];
  return analyse(name).flatMap((term) =>
    Object.hasOwn(ABBREVIATIONS, term) ? (ABBREVIATIONS[term] ?? []) : [],
  );
}

/** The words behind the abbreviations that a name is made of; nothing for a name without any. */
export function spelledOut(name: string): string {
  return abbreviationsIn(name)
    .map(({ words }) => words)
    .join(', ');
}

export function aboutAbbreviations(name: string): string[] {
  return abbreviationsIn(name).flatMap(({ about = [] }) => about);
}

/** Sentences that things are asked for with and whose words their texts do not have. */
const ASKED: Readonly<Record<string, string>> = table.asked;

function askedFor(name: string): string[] {
  const own = Object.hasOwn(ASKED, name) ? [ASKED[name] ?? ''] : [];
  return [...own, ...abbreviationsIn(name).flatMap(({ asked = [] }) => asked)];
}
