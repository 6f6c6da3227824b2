import { t } from '../base/text/message.ts';
import { withoutHidden } from '../base/text/hidden.ts';
import { attempt, noted, orElse } from '../base/errors.ts';
import { field, parseToml, parseYaml, tableOf, textField, type Table, isEmpty } from '../base/parse/parse.ts';
import { fold } from '../base/text/suggest.ts';
import { oneLine } from '../base/text/text.ts';
import { present, sha256 } from '../base/values.ts';
import {
  type Origin,
  qualifiedName,
  type BmadRecord,
  type Problem,
  type RecordDetails,
} from '../model/record.ts';
import { detailsOf, plainTexts } from '../readers/reader.ts';
import type { Source } from '../sources/tree.ts';

/** What an override says of who an agent is. */
interface Renaming {
  /** The file, for people. */
  file: string;
  isFor(record: BmadRecord): boolean;
  name: string | undefined;
  title: string | undefined;
  icon: string | undefined;
  /** What it makes of the role, style and principles that the agent has. */
  details(before: RecordDetails, record: BmadRecord): RecordDetails;
}

const NAME_LENGTH = 200;

/** The texts of overrides, as digests, by the names of the files: an agent is another one when its menu is. */
export type Overrides = Map<string, string>;

function note(overrides: Overrides, name: string, text: string): void {
  overrides.set(name, `${overrides.get(name) ?? ''}${sha256(text)}`);
}

/** What overrides say of a record. */
export function overrideOf(record: BmadRecord, overrides: ReadonlyMap<string, string>): string | undefined {
  return overrides.get(
    record.format === 'compiled-agent'
      ? `${record.moduleName}-${stem(record.bmadRelativePath)}`
      : record.name,
  );
}

/**
 * Agents under the names that overrides give them: those are the names people see and call them by. A name that one
 * override takes from another agent, or gives to two, is told.
 */
export async function namesInForce(
  records: readonly BmadRecord[],
  sources: readonly Source[],
): Promise<{ records: BmadRecord[]; problems: Problem[]; overrides: Overrides }> {
  const renamings: Renaming[] = [];
  const overrides: Overrides = new Map();
  const written: Written[] = [];
  const ofProject = new Set<string>();
  for (const source of sources.filter(({ origin }) => origin.kind !== 'package'))
    renamings.push(
      ...(await ofCompiled(source, overrides, written)),
      ...(await ofSkills(source, overrides, ofProject)),
    );
  if (renamings.length === 0) return { records: [...records], problems: [], overrides };
  const renamed = new Map<BmadRecord, string[]>();
  const inForce = records.map((record) => {
    const own = record.kind === 'agent' ? renamings.filter(({ isFor }) => isFor(record)) : [];
    const named = own.reduce(withNames, record);
    if (named.displayName !== record.displayName)
      renamed.set(
        named,
        own.map(({ file }) => file),
      );
    return named;
  });
  return { records: withoutTaken(inForce, records), problems: alike(inForce, renamed), overrides };
}

function withNames(record: BmadRecord, { name, title, icon, details }: Renaming): BmadRecord {
  const aliases = [name, title, ...record.aliases].filter((alias) => alias !== undefined);
  return {
    ...record,
    ...present({ displayName: name }),
    description: describedAs(record, name, title),
    details: details(record.details ?? {}, record),
    ...present({ title, icon }),
    aliases: [...new Set(aliases)],
  };
}

/** Descriptions of skills say whom to ask for; those of compiled agents are their titles. */
function describedAs(record: BmadRecord, name: string | undefined, title: string | undefined): string {
  const { displayName: old, description } = record;
  if (title !== undefined && description === record.title) return title;
  if (name === undefined || old === undefined) return description;
  return description.replaceAll(`talk to ${old}`, () => `talk to ${name}`);
}

/** The name an agent had before still leads to it, unless another agent is called that now. */
function withoutTaken(inForce: readonly BmadRecord[], before: readonly BmadRecord[]): BmadRecord[] {
  const called = new Map<string, Set<string>>();
  for (const record of inForce) {
    if (record.kind !== 'agent' || record.displayName === undefined) continue;
    const key = fold(record.displayName);
    called.set(key, (called.get(key) ?? new Set()).add(qualifiedName(record)));
  }
  return inForce.map((record, index) => {
    const old = before[index]?.displayName;
    if (old === undefined || old === record.displayName) return record;
    const others = [...(called.get(fold(old)) ?? [])].filter((name) => name !== qualifiedName(record));
    if (others.length === 0) return record;
    return { ...record, aliases: record.aliases.filter((alias) => fold(alias) !== fold(old)) };
  });
}

function alike(inForce: readonly BmadRecord[], renamed: ReadonlyMap<BmadRecord, string[]>): Problem[] {
  const problems = new Map<string, Problem>();
  for (const [record, files] of renamed) {
    const name = record.displayName ?? '';
    const others = inForce.filter(
      (other) =>
        other.kind === 'agent' &&
        other.exists &&
        fold(other.displayName ?? '') === fold(name) &&
        qualifiedName(other) !== qualifiedName(record),
    );
    const names = [...new Set([record, ...others].map(qualifiedName))].sort();
    const file = files.at(-1) ?? '';
    if (others.length > 0)
      problems.set(`${file} ${name}`, {
        file,
        message: t`${names.join(' and ')} are both called "${oneLine(name, 100)}"; call them by these names`,
      });
  }
  return [...problems.values()];
}

/**
 * Skills from 6.4 on: `custom/{skill}.toml` of the project, and over it `{skill}.user.toml`; those in the home folder for
 * skills of which the project says nothing.
 */
async function ofSkills(
  { origin, tree }: Source,
  overrides: Overrides,
  ofProject: Set<string>,
): Promise<Renaming[]> {
  const isOwn = origin.kind === 'project';
  if (!isOwn && origin.kind !== 'user') return [];
  const names = (await tree.list('custom').catch(orElse([]))).map(({ name }) => name);
  const found: Renaming[] = [];
  // The user's own come last, and so are in force.
  for (const name of names.sort((a, b) => Number(isOfUser(a)) - Number(isOfUser(b)) || (a < b ? -1 : 1))) {
    const skill = /^(.+?)(?:\.user)?\.toml$/.exec(name)?.[1];
    if (skill === undefined || skill === 'config') continue;
    const text = await tree.text(`custom/${name}`).catch(orElse(''));
    note(overrides, skill, text);
    if (isOwn) ofProject.add(skill);
    // The doctor and the answers tell of one that does not parse.
    const table = attempt(() => parseToml(name, text), orElse({}));
    const file = isOwn ? `_bmad/custom/${name}` : tree.place(`custom/${name}`);
    const own = tableOf(field(table, 'agent'));
    const isFor = (record: BmadRecord): boolean => record.name === skill && (isOwn || !ofProject.has(skill));
    const said = detailsOf((key) => plainTexts(field(own, key)));
    const details: Renaming['details'] = (before) => ({
      ...before,
      ...said,
      ...bothPrinciples(before, said),
    });
    found.push(...renaming(file, own, said && details, isFor));
  }
  return found;
}

/** Lists of a skill are extended; everything else is replaced. */
function bothPrinciples({ principles }: RecordDetails, said: RecordDetails | undefined): RecordDetails {
  const both = [principles, said?.principles].filter((each) => each !== undefined);
  return both.length === 0 ? {} : { principles: both.join(' ') };
}

const isOfUser = (name: string): boolean => name.endsWith('.user.toml');

/** The customization that an origin has of a compiled agent. */
interface Written {
  agent: string;
  origin: Origin;
  text: string;
}

/**
 * Compiled agents: `_config/agents/{module}-{agent}.customize.yaml` beside them; the project's counts for all, and the
 * user's where neither says anything.
 */
async function ofCompiled(
  { origin, tree }: Source,
  overrides: Overrides,
  written: Written[],
): Promise<Renaming[]> {
  const isFirst = (other: Origin, record: BmadRecord): boolean =>
    other === record.origin || other.kind === 'project';
  const found: Renaming[] = [];
  for (const folder of ['_cfg/agents', '_config/agents']) {
    for (const { name } of await tree.list(folder).catch(orElse([]))) {
      const [, agent] = /^(.+)\.customize\.yaml$/.exec(name) ?? [];
      const text = agent === undefined ? '' : await tree.text(`${folder}/${name}`).catch(orElse(''));
      if (agent === undefined) continue;
      note(overrides, agent, text);
      written.push({ agent, origin, text });
      // Most are templates that nobody has filled in.
      if (!FILLED_IN.test(text)) continue;
      const table = tableOf(attempt(() => parseYaml(name, text), noted([], name, {})));
      const metadata = tableOf(field(tableOf(field(table, 'agent')), 'metadata'));
      const isFor = (record: BmadRecord): boolean =>
        record.format === 'compiled-agent' &&
        `${record.moduleName}-${stem(record.bmadRelativePath)}` === agent &&
        (isFirst(origin, record) ||
          (origin.kind === 'user' &&
            !written.some(
              (each) => each.agent === agent && isFirst(each.origin, record) && saysSomething(each.text),
            )));
      const persona = tableOf(field(table, 'persona'));
      const said = detailsOf((key) => plainTexts(field(persona, key)));
      found.push(
        ...renaming(
          `${folder}/${name}`,
          metadata,
          said && ((before, record) => ({ ...kept(before, record), ...said })),
          isFor,
        ),
      );
    }
  }
  return found;
}

const saysSomething = (text: string): boolean =>
  !isEmpty(attempt(() => parseYaml('customize.yaml', text), orElse({})));

/** A key with a value, or the first entry of a list. */
const FILLED_IN =
  /^[ \t]+(?:name|title|icon|role|identity|communication_style|principles):(?: (?!["']{2}[ \t]*$|\[\])[^\s#]|[ \t]*\n[ \t]+- )/m;

/** The first alphas replace what is filled in of a persona, later ones the whole. */
function kept(before: RecordDetails, { bmadVersion = '' }: BmadRecord): RecordDetails {
  if (/^6\.0\.0-alpha\.\d$/.test(bmadVersion)) return before;
  const { author, standalone } = before;
  return present<RecordDetails>({ author, standalone });
}

const stem = (path: string): string => path.slice(path.lastIndexOf('/') + 1).replace(/\.md$/i, '');

function renaming(
  file: string,
  table: Table,
  details: Renaming['details'] | undefined,
  isFor: Renaming['isFor'],
): Renaming[] {
  const told = (key: string): string | undefined =>
    oneLine(withoutHidden(textField(table, key) ?? ''), NAME_LENGTH) || undefined;
  const [name, title, icon] = [told('name'), told('title'), told('icon')];
  return [name, title, icon, details].every((each) => each === undefined)
    ? []
    : [{ file, isFor, name, title, icon, details: details ?? ((before) => before) }];
}
