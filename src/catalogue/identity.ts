import same from '../../assets/names/same.json' with { type: 'json' };
import { agentTitled } from '../base/text/agent-titles.ts';
import { fold } from '../base/text/suggest.ts';
import { shortName, STARTABLE, type BmadRecord, type RecordKind } from '../model/record.ts';

/** Modules between which BMAD has moved what is in the tables; version 4 had one for all of it. */
const METHOD = new Set(['bmm', 'bmad-core', 'tea', 'core']);
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
  return METHOD.has(moduleName) && (kind !== 'agent' || moduleName !== 'core' || OF_CORE.has(short));
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
export function counterpart(record: BmadRecord, candidates: readonly BmadRecord[]): BmadRecord | undefined {
  const shortOf = ({ name }: BmadRecord): string => fold(shortName(name));
  const order = [shortOf(record), ...otherNames(record.kind, record.name)];
  const place = (candidate: BmadRecord): number => {
    const at = order.indexOf(shortOf(candidate));
    return at < 0 ? order.length : at;
  };
  return [...candidates].sort((a, b) => place(a) - place(b))[0];
}
