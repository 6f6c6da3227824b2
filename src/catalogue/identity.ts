import commands from '../../assets/names/commands.json' with { type: 'json' };
import same from '../../assets/names/same.json' with { type: 'json' };
import { agentTitled } from '../base/text/agent-titles.ts';
import { fold } from '../base/text/suggest.ts';
import { grouped } from '../base/values.ts';
import { METHOD } from '../model/module.ts';
import {
  type Origin,
  type OriginKind,
  type BmadRecord,
  isListed,
  type RecordKind,
  shortName,
  STARTABLE,
} from '../model/record.ts';

/** Modules between which BMAD has moved what is in the tables; version 4 had one for all of it. */
const MOVED_BETWEEN = new Set([...METHOD, 'tea']);
/** The only agents that the core module ever had. */
const OF_CORE = new Set(['master', 'orchestrator']);

type Table = ReadonlyMap<string, readonly string[]>;
const tableOf = (rows: readonly (readonly string[])[]): Table =>
  new Map(rows.flatMap((names) => names.map((name) => [name, names] as const)));

/**
 * What BMAD has called one and the same thing from version 4 to today, without prefixes; the name of today first, or the
 * last one it had, then the one that comes closest to it. Upstream's shims and the ids of its installers are the source.
 */
let tables: { agent: Table; work: Table } | undefined;

function namesOfOne(kind: RecordKind, short: string): readonly string[] | undefined {
  tables ??= { agent: tableOf(same.agents), work: tableOf(same.work) };
  return (kind === 'agent' ? tables.agent : tables.work).get(short);
}

/** What it is, whatever its generation calls it: the same text for all records of one thing. Nothing for mere material. */
export function identityOf({ kind, moduleName, name }: BmadRecord): string | undefined {
  if (!STARTABLE.includes(kind)) return undefined;
  const short = fold(shortName(name));
  const group = kind === 'agent' ? 'agent' : 'work';
  const names = isOfMethod(kind, moduleName, short) ? namesOfOne(kind, short) : undefined;
  // What one generation has as a task another has as a workflow or a skill.
  return names === undefined ? `${group} ${moduleName}/${short}` : `${group} ${names[0] ?? short}`;
}

function isOfMethod(kind: RecordKind, moduleName: string, short: string): boolean {
  return MOVED_BETWEEN.has(moduleName) && (kind !== 'agent' || moduleName !== 'core' || OF_CORE.has(short));
}

/** The names that something of this name has had in other generations, the closest first. */
export function otherNames(kind: RecordKind, name: string): readonly string[] {
  const short = fold(shortName(name));
  // `architecte` is the architect; a content that has an agent of that very name was found before.
  const titled = kind === 'agent' ? agentTitled(name) : undefined;
  if (titled !== undefined) return namesOfOne(kind, titled) ?? [titled];
  return (namesOfOne(kind, short) ?? []).filter((other) => other !== short);
}

/** What a workflow is called today, by any name it has had; a name that is in no table is its own. */
export function nameOfToday(short: string): string {
  return namesOfOne('workflow', short)?.[0] ?? short;
}

/** Of several records of one thing in one origin: the one that a record of another origin stands for. */
function counterpart(record: BmadRecord, candidates: readonly BmadRecord[]): BmadRecord | undefined {
  const shortOf = ({ name }: BmadRecord): string => fold(shortName(name));
  const order = [shortOf(record), ...otherNames(record.kind, record.name)];
  const place = (candidate: BmadRecord): number => {
    const at = order.indexOf(shortOf(candidate));
    return at < 0 ? order.length : at;
  };
  return [...candidates].sort((a, b) => place(a) - place(b))[0];
}

/**
 * What version 4 does by a command of an agent, where later versions have a workflow: under its name of today, the agent
 * and what it is told. Names alone are in the tables of `identity.ts`.
 */
export const COMMANDS = commands;

interface OldCommand {
  agent: string;
  /** Without its star. */
  command: string;
}

const parsed = (way: string): OldCommand => {
  const [agent = '', command = ''] = way.split(' *');
  return { agent, command };
};

/** The command that stands for what is called so today. */
export function commandFor(today: string): OldCommand | undefined {
  return Object.hasOwn(COMMANDS, today) ? parsed(COMMANDS[today as keyof typeof COMMANDS]) : undefined;
}

/** The agent that is meant by a command which several have. */
export function usualAgent(command: string): string | undefined {
  const ways = Object.values(COMMANDS).map(parsed);
  return ways.find((way) => way.command === fold(command))?.agent;
}

/** Content from git is added to a project's own; it does not say which BMAD the project is of. */
const LEADING: ReadonlySet<OriginKind> = new Set(['project', 'cli', 'env', 'user']);

/**
 * The built-in content that lists leave out, because somebody has installed BMAD in another version: a project of
 * version 4 is not to be offered the workflows of version 6 beside its own. It still answers when it is called.
 */
export function asideOf(records: readonly BmadRecord[]): Origin | undefined {
  const builtIn = records.find(({ origin }) => origin.kind === 'package')?.origin;
  const own = records.find(
    ({ origin, moduleName, bmadVersion, exists }) =>
      exists && bmadVersion !== undefined && LEADING.has(origin.kind) && METHOD.includes(moduleName),
  );
  if (builtIn?.bmadVersion === undefined || own?.bmadVersion === undefined) return undefined;
  return release(own.bmadVersion) === release(builtIn.bmadVersion) ? undefined : builtIn;
}

export interface CommandInstead {
  agent: BmadRecord;
  /** Without its star. */
  command: string;
}

/**
 * What a project of version 4 has in the place of a built-in workflow: a command of one of its agents. What it has under
 * the same name or an older one overrides the workflow already.
 */
export function commandInstead(
  record: BmadRecord,
  winners: readonly BmadRecord[],
): CommandInstead | undefined {
  if (record.kind === 'agent') return undefined;
  const old = commandFor(nameOfToday(fold(shortName(record.name))));
  if (old === undefined) return undefined;
  const agent = winners.find(
    ({ kind, name, generation }) => kind === 'agent' && generation === 'v4' && name === old.agent,
  );
  return agent === undefined ? undefined : { agent, command: old.command };
}

/** `6.12` of `6.12.0`: what changes with it is more than a repair. */
function release(version: string): string {
  return version.replace(/^v/, '').split('.').slice(0, 2).join('.');
}

export interface ServedOnce {
  served: BmadRecord[];
  /** What is not served, because another origin has the same thing, and what is served in its place. */
  overridden: ReadonlyMap<BmadRecord, BmadRecord>;
}

/**
 * Each thing from one origin: what a project has in an older generation is not offered a second time as it is built in.
 * One origin may have several records of a thing, such as workflows to create, edit and check a PRD; all of them are
 * served. `rank` says which origin comes first.
 */
export function servedOnce(winners: readonly BmadRecord[], rank: (record: BmadRecord) => number): ServedOnce {
  const first = new Map<string, BmadRecord[]>();
  const identities = new Map(winners.map((record) => [record, identityOf(record)]));
  for (const record of winners) {
    const identity = isListed(record) ? identities.get(record) : undefined;
    if (identity === undefined) continue;
    const known = first.get(identity);
    const best = known?.[0];
    if (best === undefined || rank(record) < rank(best)) first.set(identity, [record]);
    else if (record.origin === best.origin) known?.push(record);
  }
  const overridden = new Map<BmadRecord, BmadRecord>();
  const twinOf = (record: BmadRecord): BmadRecord | undefined => {
    const candidates = first.get(identities.get(record) ?? '') ?? [];
    const [best] = candidates;
    return best === undefined || best.origin === record.origin ? undefined : counterpart(record, candidates);
  };
  const originalOf = originals(winners, rank);
  for (const record of winners.filter(isListed)) {
    const original = originalOf(record);
    const twin = twinOf(original) ?? (original === record ? undefined : original);
    if (twin !== undefined) overridden.set(record, twin);
  }
  const old = winners.filter((each) => !isListed(each));
  const targetOf = old.length === 0 ? () => undefined : targets(winners);
  for (const record of old) {
    const instead = insteadOfOld(record, targetOf, overridden, twinOf);
    if (instead !== undefined) overridden.set(record, instead);
  }
  return { served: winners.filter((record) => !overridden.has(record)), overridden };
}

/**
 * The packs of version 4 bring copies of what they use of the core, and of each other. The one of the first rank is meant,
 * which is the core's where it is installed; a file that a pack has changed is the pack's own.
 */
function originals(
  winners: readonly BmadRecord[],
  rank: (record: BmadRecord) => number,
): (record: BmadRecord) => BmadRecord {
  const keyOf = ({ kind, name, likeness }: BmadRecord): string => `${kind} ${fold(name)} ${likeness ?? ''}`;
  const first = new Map<string, BmadRecord>();
  for (const record of winners.filter(({ likeness }) => likeness !== undefined)) {
    const best = first.get(keyOf(record));
    if (best === undefined || rank(record) < rank(best)) first.set(keyOf(record), record);
  }
  return (record) => (record.likeness === undefined ? undefined : first.get(keyOf(record))) ?? record;
}

/** What an old name stands for now, or what a launcher launches: the first there is. */
function targets(winners: readonly BmadRecord[]): (record: BmadRecord) => BmadRecord | undefined {
  const launched = new Set(winners.flatMap(({ launches }) => launches ?? []));
  const byPath = grouped(
    winners.filter(({ bmadRelativePath }) => launched.has(bmadRelativePath)),
    ({ bmadRelativePath }) => bmadRelativePath,
  );
  const byName = new Map<string, BmadRecord>();
  for (const record of winners)
    if (record.deprecated === undefined && !byName.has(record.name)) byName.set(record.name, record);
  return ({ launches, deprecated, origin }) =>
    launches === undefined
      ? byName.get(deprecated?.successor ?? '')
      : byPath.get(launches)?.find((other) => other.origin === origin);
}

/**
 * An old name leads on to what has replaced it, and a launcher to what it launches: they stay as long as that is served,
 * and no other origin has the very thing they are named after.
 */
function insteadOfOld(
  record: BmadRecord,
  targetOf: (record: BmadRecord) => BmadRecord | undefined,
  overridden: ReadonlyMap<BmadRecord, BmadRecord>,
  twinOf: (record: BmadRecord) => BmadRecord | undefined,
): BmadRecord | undefined {
  const twin = twinOf(record);
  if (twin !== undefined && fold(shortName(twin.name)) === fold(shortName(record.name))) return twin;
  const { deprecated } = record;
  if (deprecated !== undefined && deprecated.successor === undefined) return twin;
  const target = targetOf(record);
  const instead = target === undefined ? undefined : overridden.get(target);
  return instead === undefined ? undefined : (twin ?? instead);
}
