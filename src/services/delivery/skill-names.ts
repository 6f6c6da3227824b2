import { behaviourOf } from '../../model/format.ts';
import { sha256 } from '../../base/sha256.ts';
import { contentUri } from '../../base/files/paths.ts';
import { cut, oneLine } from '../../base/text/text.ts';
import type { Origin } from '../../model/origin.ts';
import { isListed, qualifiedName, STARTABLE, type BmadRecord } from '../../model/record.ts';

/** A record under the name it has as a skill. */
export interface NamedSkill {
  /** Valid by the rules of skills, and unique among all skills of a project. */
  name: string;
  /** Its folder: `skill://bmm/bmad-prd`. */
  root: string;
  description: string;
  /** Old names, and what lists leave out, are served on request only. */
  listed: boolean;
  record: BmadRecord;
}

export const SKILL_SCHEME = 'skill://';
export const SKILL_FILE = 'SKILL.md';

const NAME_LIMIT = 64;
const DESCRIPTION_LIMIT = 1_024;
const MARK_LENGTH = 8;

/**
 * Gives every record a name. What is a skill already keeps its own; the others are called `{module}-{name}`, so that a
 * name does not depend on which other modules are installed. Where two want the same, the kind is added.
 */
export function nameSkills(records: readonly BmadRecord[], aside?: Origin): NamedSkill[] {
  const named = new Map<string, NamedSkill>();
  // A launcher only names another file of the install, which is served itself.
  const served = records.filter((record) => STARTABLE.includes(record.kind) && record.launches === undefined);
  for (const record of [...served].sort((a, b) => rank(a) - rank(b))) {
    const name = candidates(record).find((candidate) => !named.has(candidate));
    if (name === undefined) continue;
    named.set(name, {
      name,
      root: `${SKILL_SCHEME}${slug(record.moduleName, 'bmad')}/${name}`,
      description: descriptionOf(record),
      listed: isListed(record) && record.origin !== aside,
      record,
    });
  }
  return [...named.values()].sort((a, b) => (`${a.root}/` < `${b.root}/` ? -1 : 1));
}

export function skillUri({ root }: NamedSkill, path: string): string {
  return `${root}/${contentUri(path).slice('bmad://'.length)}`;
}

/** Skills come first, because their names are in their files; what is listed comes before what is not. */
function rank(record: BmadRecord): number {
  return (
    (isListed(record) ? 0 : 4) + (behaviourOf(record).isSkill ? 0 : 2) + (record.kind === 'agent' ? 0 : 1)
  );
}

function candidates(record: BmadRecord): string[] {
  const { kind, name, moduleName } = record;
  const mark = markOf(`${kind} ${qualifiedName(record)}`);
  const qualified = slug(`${moduleName}-${name}`, mark);
  return [
    ...(behaviourOf(record).isSkill ? [slug(name, mark)] : []),
    qualified,
    slug(`${qualified}-${kind}`, mark),
    shortened(qualified, mark),
  ];
}

/** Lowercase letters and digits with single hyphens between them; a text that has none of them becomes its stand-in. */
function slug(text: string, standIn: string): string {
  const plain = text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
  if (plain === '') return standIn;
  return plain.length <= NAME_LIMIT ? plain : shortened(plain, markOf(text));
}

function shortened(name: string, mark: string): string {
  return `${name.slice(0, NAME_LIMIT - MARK_LENGTH - 1).replace(/-$/, '')}-${mark}`;
}

function markOf(text: string): string {
  return sha256(text).slice(0, MARK_LENGTH);
}

function descriptionOf({ description, title, displayName, kind, name }: BmadRecord): string {
  const own = description.trim() === '' ? undefined : description;
  if (own !== undefined && own.length <= DESCRIPTION_LIMIT) return own;
  return oneLine(
    cut(own ?? `${title ?? displayName ?? name} (${kind})`, DESCRIPTION_LIMIT * 2),
    DESCRIPTION_LIMIT,
  );
}
