import { orElse } from '../../base/errors.ts';
import { posix } from 'node:path';
import { mapLimited, once } from '../../base/async.ts';
import { contentUri } from '../../base/files/paths.ts';
import { push } from '../../base/values.ts';
import { fold } from '../../base/text/suggest.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { commandFor, usualAgent } from '../../catalogue/identity.ts';
import { type BmadRecord, isListed, shortName } from '../../model/record.ts';
import { type AgentProfile, type MenuItem, namedIn, neededFiles } from './agent.ts';

/** An entry of an agent's menu, as a user asks for it. */
interface MenuCommand {
  agent: BmadRecord;
  /** What the agent is told: `*create-prd`, `CP`. */
  said: string;
  /** What the entry starts, where that is something of its own. */
  starts: BmadRecord | undefined;
  /** Of several agents that have it, this one is usually asked. */
  isUsual: boolean;
}

/** The entries of menus that a word stands for. */
export interface MeantCommands {
  /** Those that have the word, in the order in which the agents are served. */
  named: MenuCommand[];
  /** The project's own for something that other generations have under this name. */
  counterpart: MenuCommand | undefined;
}

const READS_AT_ONCE = 8;

/** Made for the whole catalogue by whoever asks. */
interface Means {
  profileOf(agent: BmadRecord): Promise<AgentProfile>;
  startedBy(item: MenuItem, agent: BmadRecord): BmadRecord | undefined;
  /** What a workflow is called today, by any name it has had. */
  nameOfToday(short: string): string;
}

/** The menus of all agents. */
export function createMenus(catalogue: Catalogue, means: Means) {
  const agents = catalogue.winners.filter((record) => record.kind === 'agent' && isListed(record));

  async function allMenus(): Promise<Menu[]> {
    return mapLimited(agents, READS_AT_ONCE, async (agent) => {
      // An agent whose file cannot be read has no commands; to start it says why.
      const { menu } = await means.profileOf(agent).catch(orElse({ menu: [] }));
      return { agent, menu };
    });
  }

  return {
    /** Who has each piece of work in the menu, in the order in which the agents are served. */
    doing: once(async (): Promise<ReadonlyMap<BmadRecord, readonly BmadRecord[]>> => {
      const all = new Map<BmadRecord, BmadRecord[]>();
      for (const { agent, menu } of await allMenus())
        for (const work of new Set(menu.map((item) => means.startedBy(item, agent))))
          if (work !== undefined && work.kind !== 'agent') push(all, work, agent);
      return all;
    }),
    async meant(word: string): Promise<MeantCommands> {
      const wanted = fold(word.trim().replace(/^\*+/, ''));
      const menus = await allMenus();
      const named = commandsIn(menus, wanted, means);
      const old = commandFor(means.nameOfToday(fold(shortName(wanted))));
      const counterpart =
        old === undefined
          ? undefined
          : commandsIn(menus, old.command, means).find(
              ({ agent }) => agent.origin.kind !== 'package' && agent.name === old.agent,
            );
      return { named, counterpart };
    },
  };
}

interface Menu {
  agent: BmadRecord;
  menu: readonly MenuItem[];
}

function commandsIn(menus: readonly Menu[], wanted: string, { startedBy }: Means): MenuCommand[] {
  if (wanted === '') return [];
  const usual = usualAgent(wanted);
  return menus.flatMap(({ agent, menu }) =>
    menu
      .filter((item) => wordsFor(item).includes(wanted))
      .map((item) => ({
        agent,
        said: item.code.split(/\s/, 1)[0] ?? item.code,
        starts: startedBy(item, agent),
        isUsual: agent.name === usual,
      })),
  );
}

/** Up to 6.0 commands begin with a star, and some take arguments: `*create-doc {template}`. */
function bare(code: string): string {
  const [first = ''] = code.trim().replace(/^\*+/, '').split(/\s/, 1);
  return fold(first);
}

function wordsFor({ code, also = [] }: MenuItem): string[] {
  return [bare(code), ...also.map(fold)];
}

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

interface WorkMeans {
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
  means: WorkMeans,
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
    .flatMap((use) => usedAt(agent, use).flatMap((path) => recordAt(path, agent, catalogue) ?? []));
  if (starts === undefined) return undefined;
  // What the entry does not name itself, its task does.
  const needed = neededFiles(agent, await textOf(agent));
  const wanted = new Set([...uses, ...namedIn(await textOf(starts), needed)]);
  const known = await catalogue.files.preferring(agent.origin).all();
  const urisOf = (some: Iterable<string>): string[] =>
    [...some]
      .filter((use) => !use.startsWith('tasks/'))
      .flatMap((use) => usedAt(agent, use).find((path) => known.has(path)) ?? [])
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
  { menu, startedBy, nameOfToday }: WorkMeans,
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

/** A pack has files of its own, and uses those of the core as well. */
function usedAt({ bmadRelativePath }: BmadRecord, use: string): string[] {
  const own = posix.dirname(posix.dirname(bmadRelativePath));
  return [posix.join(own, use), posix.join('.bmad-core', use)];
}

function recordAt(path: string, { origin }: BmadRecord, { callable }: Catalogue): BmadRecord | undefined {
  return callable.find((record) => record.bmadRelativePath === path && record.origin === origin);
}
