import { sha256 } from '../../base/values.ts';
import { attempt, BmadError, orElse, quoted } from '../../base/errors.ts';
import { contentPath, contentUri } from '../../base/files/paths.ts';
import { field, isTable, parseFrontMatter, type Table } from '../../base/parse/parse.ts';
import type { SayStep } from '../../base/step.ts';
import { hiddenIn } from '../../base/text/hidden.ts';
import { nearest } from '../../base/text/suggest.ts';
import { cut, oneLine } from '../../base/text/text.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import {
  behaviourOf,
  type BmadRecord,
  isListed,
  recordKey,
  STARTABLE,
  type Origin,
} from '../../model/record.ts';
import type { Tree } from '../../sources/tree.ts';
import { serve, type ServedFile } from './files.ts';

/**
 * Everything that can be started, in the shape of skills: a folder with a `SKILL.md` and the files it needs. `startText` is
 * what starting a record delivers, as Markdown that does not depend on the day.
 */
export function createSkillShelf(
  catalogue: Catalogue,
  startText: (record: BmadRecord, say: SayStep) => Promise<string>,
) {
  let named: readonly NamedSkill[] | undefined;
  let byName: ReadonlyMap<string, NamedSkill> | undefined;
  let folders: ReadonlyMap<string, number> | undefined;

  /** All skills, sorted by URI; no file is read for it. */
  const all = (): readonly NamedSkill[] => (named ??= nameSkills(catalogue.winners, catalogue.aside));

  /** The skill a URI belongs to, and the path in its folder, which is empty for the folder itself. */
  function locate(uri: string): { skill: NamedSkill; path: string } {
    const [module = '', name = '', ...rest] = segmentsOf(uri);
    byName ??= new Map(all().map((skill) => [skill.name, skill]));
    const skill = byName.get(name);
    if (skill?.root === `${SKILL_SCHEME}${module}/${name}`) return { skill, path: rest.join('/') };
    throw new BmadError('not_found', `There is no skill at ${quoted(uri)}.`, {
      reason: 'content',
      subject: cut(uri, 1_000),
      suggestions: nearest(name, byName.keys()).flatMap((near) => {
        const found = byName?.get(near);
        return found === undefined ? [] : [skillUri(found, SKILL_FILE)];
      }),
      steps: [{ operation: 'list_skills', why: 'List the skills' }],
    });
  }

  /** Its own files in the place it comes from, by their paths in the skill's folder. */
  async function ownFiles(record: BmadRecord): Promise<Map<string, string>> {
    const { bmadRelativePath: main, moduleRelativePath, uses } = record;
    if (uses !== undefined) {
      const above = main.slice(0, main.length - moduleRelativePath.length);
      return new Map([main, ...uses].sort().map((path) => [path.slice(above.length), path]));
    }
    const folder = main.slice(0, main.lastIndexOf('/') + 1);
    if (sharesFolder(record, folder)) return new Map([[main.slice(folder.length), main]]);
    const files = await treeOf(record).files(folder.replace(/\/$/, ''));
    return new Map(files.map((path) => [path.slice(folder.length), path]));
  }

  /** Agents and tasks share one folder; workflows have their own, though it may contain variants of one. */
  function sharesFolder(record: BmadRecord, folder: string): boolean {
    const { kind, origin } = record;
    if (behaviourOf(record).isSkill) return false;
    if (folder === '' || SHELVES.test(folder)) return true;
    folders ??= countFolders(catalogue.winners);
    return kind !== 'workflow' && (folders.get(`${origin.root} ${folder}`) ?? 0) > 1;
  }

  function treeOf({ origin }: BmadRecord): Tree {
    const source = catalogue.sources.find((candidate) => candidate.origin === origin);
    if (source === undefined) throw new Error(`The origin ${origin.displayName} has no source.`);
    return source.tree;
  }

  /** The paths of its files, sorted, `SKILL.md` among them, and how each is read. */
  async function open(skill: NamedSkill, say: SayStep) {
    const { record } = skill;
    const own = await ownFiles(record);
    const paths = [...new Set([SKILL_FILE, ...own.keys()])].sort();

    async function file(path: string): Promise<ServedFile> {
      if (path === SKILL_FILE) {
        const beside = paths.filter((other) => other !== SKILL_FILE);
        const text = await (behaviourOf(record).isSkill
          ? ownSkillFile(skill)
          : madeSkillFile(skill, beside, say));
        return { path, mimeType: 'text/markdown', text, origin: record.origin };
      }
      const place = own.get(path);
      if (place !== undefined)
        return { ...serve(place, await treeOf(record).read(place), record.origin), path };
      const uri = skillUri(skill, path);
      throw new BmadError('not_found', `There is no file ${quoted(uri)}.`, {
        subject: cut(uri, 1_000),
        suggestions: nearest(path, paths).map((known) => skillUri(skill, known)),
        steps: [
          {
            operation: 'get_skill',
            args: { uri: skillUri(skill, SKILL_FILE) },
            why: 'List the files of this skill',
          },
        ],
      });
    }

    return { paths, file };
  }

  /** Byte for byte, unless hosts would refuse it: then only its front matter is replaced. */
  async function ownSkillFile(skill: NamedSkill): Promise<string> {
    const { bmadRelativePath: main } = skill.record;
    const text = serve(main, await treeOf(skill.record).read(main)).text ?? '';
    const { data, body } = attempt(() => parseFrontMatter(main, text), orElse({ data: {}, body: text }));
    return isSkillHead(data, skill) ? text : `${head(skill)}${body}`;
  }

  /** What is older than skills is delivered the way it is started. */
  async function madeSkillFile(skill: NamedSkill, beside: readonly string[], say: SayStep): Promise<string> {
    const files = beside.map((path) => `- \`${path}\``).join('\n');
    return `${head(skill)}\n${await startText(skill.record, say)}\n\n## Files of this skill\n\nUnchanged, beside this file:\n\n${files}\n`;
  }

  return {
    all,
    locate,
    open,
    frontMatter: (uri: string, text: string): Table => parseFrontMatter(uri, text).data,
    uri: skillUri,
  };
}

/** Folders that are named for what they contain side by side. */
const SHELVES = /(?:^|\/)(?:agents|workflows|tasks|tools|commands|prompts)\/$/;

/** How many of the things that can be started have their main file right in each folder. */
function countFolders(records: readonly BmadRecord[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { kind, origin, bmadRelativePath: path } of records) {
    if (!STARTABLE.includes(kind)) continue;
    const key = `${origin.root} ${path.slice(0, path.lastIndexOf('/') + 1)}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

function segmentsOf(uri: string): string[] {
  const path = uri.startsWith(SKILL_SCHEME) ? uri.slice(SKILL_SCHEME.length) : uri;
  return contentPath(path.replace(/\/$/, '')).split('/');
}

/** JSON strings are YAML strings too, on one line whatever they hold. */
function head({ name, description }: NamedSkill): string {
  return `---\nname: ${JSON.stringify(name)}\ndescription: ${JSON.stringify(description)}\n---\n`;
}

/** Whether a front matter is what the skill rules ask for, and says the same as the list does. */
function isSkillHead(table: Table, { name, description }: NamedSkill): boolean {
  const metadata = field(table, 'metadata');
  const compatibility = field(table, 'compatibility');
  return (
    field(table, 'name') === name &&
    field(table, 'description') === description &&
    !hasHidden(table) &&
    (metadata === undefined || (isTable(metadata) && Object.values(metadata).every(isText))) &&
    (compatibility === undefined ||
      (isText(compatibility) && compatibility !== '' && compatibility.length <= 500))
  );
}

/** The front matter is in lists, where nothing may be read that is not seen. */
function hasHidden(value: unknown): boolean {
  if (typeof value === 'string') return hiddenIn(value).length > 0;
  return typeof value === 'object' && value !== null && Object.entries(value).flat().some(hasHidden);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

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

const SKILL_SCHEME = 'skill://';
const SKILL_FILE = 'SKILL.md';

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

function skillUri({ root }: NamedSkill, path: string): string {
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
  const mark = markOf(recordKey(record));
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
