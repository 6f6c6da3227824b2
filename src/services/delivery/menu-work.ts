import { posix } from 'node:path';
import { contentUri } from '../../base/files/paths.ts';
import { fold } from '../../base/text/suggest.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { shortName, type BmadRecord } from '../../model/record.ts';
import { namedIn, neededFiles, type MenuItem } from './agent-profile.ts';

/** What an entry of an agent's menu has the agent do. */
export interface CommandedWork {
  /** The entry as it was said: `*draft`, `CP`. */
  said: string;
  starts: BmadRecord;
  /** Templates and checklists that belong to it. */
  beside: string[];
  /** Those that the entry names itself: entries of one task differ in them. */
  named: string[];
}

interface Means {
  menu: readonly MenuItem[];
  startedBy(item: MenuItem, agent: BmadRecord): BmadRecord | undefined;
  textOf(record: BmadRecord): Promise<string>;
  /** What a workflow is called today, by any name it has had. */
  nameOfToday(short: string): string;
}

/** An entry of a menu that a message names, and the prompt in the agent's own file that it leads to. */
export interface NamedEntry {
  said: string;
  prompt?: string | undefined;
}

/** The entry of a menu that a message begins with. */
export function namedEntry(menu: readonly MenuItem[], message: string): NamedEntry | undefined {
  const item = entryIn(menu, message.trim());
  return item && { said: saidFor(item), prompt: item.prompt };
}

const saidFor = ({ code }: MenuItem): string => code.split(/\s/, 1)[0] ?? code;

/** What a message to an agent starts, where it begins with an entry of its menu. */
export async function commandedWork(
  agent: BmadRecord,
  message: string,
  catalogue: Catalogue,
  means: Means,
): Promise<CommandedWork | undefined> {
  const { menu, startedBy, textOf } = means;
  const item = entryIn(menu, message.trim()) ?? counterpartIn(message.trim(), agent, means);
  if (item === undefined) return undefined;
  const said = saidFor(item);
  const own = startedBy(item, agent);
  if (own !== undefined) return { said, starts: own, beside: [], named: [] };
  const { uses = [] } = item;
  const [starts] = uses
    .filter((use) => use.startsWith('tasks/'))
    .flatMap((use) => placesOf(agent, use).flatMap((path) => recordAt(path, agent, catalogue) ?? []));
  if (starts === undefined) return undefined;
  // What the entry does not name itself, its task does.
  const needed = neededFiles(agent, await textOf(agent));
  const wanted = new Set([...uses, ...namedIn(await textOf(starts), needed)]);
  const known = await catalogue.files.preferring(agent.origin).all();
  const urisOf = (some: Iterable<string>): string[] =>
    [...some]
      .filter((use) => !use.startsWith('tasks/'))
      .flatMap((use) => placesOf(agent, use).find((path) => known.has(path)) ?? [])
      .map(contentUri);
  return { said, starts, beside: urisOf(wanted), named: urisOf(uses) };
}

/** `*draft`, `*create-doc prd`, `CP`, `CP for a shop`; a word without mark or capitals only where nothing else is said. */
function entryIn(menu: readonly MenuItem[], message: string): MenuItem | undefined {
  const [word = ''] = message.split(/\s/, 1);
  const isMarked = word.startsWith('*');
  if (!isMarked && word !== message) return /^[A-Z][A-Z\d]{1,4}$/.test(word) ? byCode(menu, word) : undefined;
  const wanted = fold(word.replace(/^\*+/, ''));
  if (wanted === '') return undefined;
  return menu.find(
    ({ code, also = [] }) => bare(code) === wanted || also.some((each) => fold(each) === wanted),
  );
}

/** The entry for what another version has under this name: `*create-prd` is `*prd` here. */
function counterpartIn(
  message: string,
  agent: BmadRecord,
  { menu, startedBy, nameOfToday }: Means,
): MenuItem | undefined {
  const [word = ''] = message.split(/\s/, 1);
  if (!/^\*\w/.test(word)) return undefined;
  const today = nameOfToday(fold(word.slice(1)));
  return menu.find((item) => {
    const starts = startedBy(item, agent);
    return starts !== undefined && nameOfToday(fold(shortName(starts.name))) === today;
  });
}

const byCode = (menu: readonly MenuItem[], word: string): MenuItem | undefined =>
  menu.find(({ code }) => code === word);

/** A command without its star and what it takes: `*create-doc {template}`. */
function bare(code: string): string {
  const [first = ''] = code.trim().replace(/^\*+/, '').split(/\s/, 1);
  return fold(first);
}

/** A pack has files of its own, and uses those of the core as well. */
function placesOf({ bmadRelativePath }: BmadRecord, use: string): string[] {
  const own = posix.dirname(posix.dirname(bmadRelativePath));
  return [posix.join(own, use), posix.join('.bmad-core', use)];
}

function recordAt(path: string, { origin }: BmadRecord, { callable }: Catalogue): BmadRecord | undefined {
  return callable.find((record) => record.bmadRelativePath === path && record.origin === origin);
}
