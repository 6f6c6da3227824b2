import { noted } from '../../base/errors.ts';
import { fromRoot } from '../../base/files/paths.ts';
import {
  field,
  isTable,
  parseFrontMatter,
  parseToml,
  parseYaml,
  type Table,
  textField,
} from '../../base/parse/parse.ts';
import { present, sha256 } from '../../base/values.ts';
import type { HelpRow, ModuleInfo } from '../../model/module.ts';
import {
  type BmadRecord,
  type Deprecation,
  type Problem,
  type RecordDetails,
  type RecordKind,
  shortName,
} from '../../model/record.ts';
import { optionalText, type Source, type Tree } from '../../sources/tree.ts';
import { type Reading, detailsOf, parsedTable, readable, recordOf } from '../reader.ts';

interface SkillPlace {
  source: Source;
  generation: string;
  module: ModuleInfo;
  shims: Shims;
  /** The skill's folder from the BMAD root. */
  folder: string;
  /** Where the manifest says it belongs: `bmm/plan/bmad-prd`. The same as the folder where there is no manifest. */
  filedUnder: string;
  listed: boolean;
  bmadVersion: string | undefined;
}

/** Folders that group skills without being a phase of the work. */
const NOT_A_PHASE = new Set(['agents', 'v6-shims', 'workflows', 'skills', 'tasks']);

/** Reads one skill folder. Only the front matter and the kind are looked at; the text itself is read when asked for. */
export async function readSkill(place: SkillPlace, problems: Problem[]): Promise<BmadRecord | undefined> {
  const file = `${place.folder}/SKILL.md`;
  return understood(place, file, problems).catch(noted(problems, file, undefined));
}

/** The files beside a skill that say what it is. */
export const BESIDE_SKILL = ['customize.toml', 'bmad-skill-manifest.yaml'];

/** One skill again, after its text was edited. An old name, and what launches something else, depend on other files too. */
export async function readSkillAgain(
  source: Source,
  before: BmadRecord,
  { modules }: Reading,
): Promise<BmadRecord | undefined> {
  const { bmadRelativePath: file, deprecated, launches, phase, moduleRelativePath } = before;
  const module = modules.find(({ code }) => code === before.moduleName);
  if (!file.endsWith('/SKILL.md') || before.kind === 'knowledge' || module === undefined) return undefined;
  if (deprecated !== undefined || launches !== undefined) return undefined;
  const folder = file.slice(0, -'/SKILL.md'.length);
  const problems: Problem[] = [];
  const place: SkillPlace = {
    source,
    generation: before.generation,
    module,
    shims: new Map(),
    folder,
    filedUnder: folder,
    listed: before.source === 'manifest',
    bmadVersion: before.bmadVersion,
  };
  const now = await readSkill(place, problems);
  return now === undefined || problems.length > 0
    ? undefined
    : present<BmadRecord>({ ...now, phase, moduleRelativePath });
}

async function understood(place: SkillPlace, file: string, problems: Problem[]): Promise<BmadRecord> {
  const text = await place.source.tree.text(file);
  const { data } = parseFrontMatter(file, text);
  const folderName = place.folder.slice(place.folder.lastIndexOf('/') + 1);
  const description = await describe(place, problems);
  return record(place, { file, name: textField(data, 'name') ?? folderName, text, data, ...description });
}

interface SkillParts {
  file: string;
  name: string;
  text: string;
  data: Table;
  kind: RecordKind;
  /** Display name, title and icon, where the skill itself tells them. */
  persona: Table;
  details: RecordDetails | undefined;
  customizable?: string;
}

/**
 * What a skill is. Its name proves nothing (`bmad-agent-builder` is a workflow): from 6.4 on the table in
 * `customize.toml` tells, before that the `type` in `bmad-skill-manifest.yaml`, and a `workflow.md` beside it.
 */
async function describe(
  { source, folder, module }: SkillPlace,
  problems: Problem[],
): Promise<Pick<SkillParts, 'kind' | 'persona' | 'details' | 'customizable'>> {
  const file = `${folder}/customize.toml`;
  const customization = await optionalText(source.tree, file);
  if (customization !== undefined) {
    const table = /^[ \t]*\[{1,2}[ \t]*(agent|workflow)\b/m.exec(customization)?.[1];
    const known = module.roster.some((entry) => folder.endsWith(`/${entry.code}`));
    const own =
      table === 'agent'
        ? parsedTable(file, problems, () => field(parseToml(file, customization), 'agent'))
        : {};
    return {
      kind: table === 'agent' || table === 'workflow' ? table : 'skill',
      // What the roster says of an agent comes first.
      persona: known ? {} : own,
      details: detailsOf((key) => field(own, key)),
      customizable: sha256(customization),
    };
  }
  const manifestFile = `${folder}/bmad-skill-manifest.yaml`;
  const manifest = await optionalText(source.tree, manifestFile);
  const persona =
    manifest === undefined
      ? {}
      : parsedTable(manifestFile, problems, () => parseYaml(manifestFile, manifest));
  const details = detailsOf((key) => field(persona, key));
  if (textField(persona, 'type') === 'agent') return { kind: 'agent', persona, details };
  const entries = await source.tree.list(folder);
  return {
    kind: entries.some(({ name }) => name === 'workflow.md') ? 'workflow' : 'skill',
    persona: {},
    details,
  };
}

function record(
  place: SkillPlace,
  { file, name, text, data, kind, persona, details, customizable }: SkillParts,
): BmadRecord {
  const { source, module, folder } = place;
  const description = textField(data, 'description') ?? '';
  const help = module.help.filter((row) => row.skill === name);
  const roster = module.roster.find((entry) => entry.code === name);
  const displayName =
    roster?.name ??
    textField(persona, 'displayName') ??
    textField(persona, 'name') ??
    help.find((row) => row.action === '')?.displayName;
  const title = roster?.title ?? textField(persona, 'title');
  return recordOf(source, {
    kind,
    listed: place.listed,
    moduleName: module.code,
    moduleVersion: module.version,
    bmadVersion: place.bmadVersion,
    name,
    displayName,
    title,
    icon: roster?.icon ?? textField(persona, 'icon'),
    description,
    bmadRelativePath: file,
    moduleRelativePath: `${afterModule(place.filedUnder)}/SKILL.md`,
    generation: place.generation,
    format: 'skill',
    phase: phaseOf(place.filedUnder, help),
    aliases: [shortName(name), displayName, title, ...help.flatMap((row) => [row.menuCode, row.displayName])],
    details,
    deprecated: deprecationOf(place, name, data, description),
    launches: launcherTarget(source.tree.root, text),
    digest: sha256(text),
    customizable,
  });

  function afterModule(path: string): string {
    return path.startsWith(`${module.code}/`) ? path.slice(module.code.length + 1) : folder;
  }
}

function phaseOf(folder: string, help: readonly HelpRow[]): string | undefined {
  const between = folder.split('/').slice(1, -1);
  const group = folder.startsWith('.') ? undefined : between.find((part) => !NOT_A_PHASE.has(part));
  return group ?? help.find((row) => row.phase !== '')?.phase;
}

/** 6.12 marks old ids as shims; from 6.8 to 6.11 their description begins with the word. */
function deprecationOf(
  { shims }: SkillPlace,
  name: string,
  data: Table,
  description: string,
): Deprecation | undefined {
  const metadata = field(data, 'metadata');
  const shim = isTable(metadata) && textField(metadata, 'lifecycle') === 'shim';
  if (!shim && !/^deprecated\b/i.test(description)) return undefined;
  return shims.get(name) ?? deprecationFromDescription(description);
}

/** Until 6.2 many skills only tell the model to load a file of the install; they stand for that file. */
const LAUNCHER_LENGTH = 3_000;

function launcherTarget(root: string, text: string): string | undefined {
  if (text.length > LAUNCHER_LENGTH) return undefined;
  const target = /LOAD the FULL (?:agent file from )?@?\{project-root\}\/([^\s,`]+)/i.exec(text)?.[1];
  if (target === undefined) return undefined;
  const rootName = root.slice(Math.max(root.lastIndexOf('/'), root.lastIndexOf('\\')) + 1);
  return fromRoot(target, rootName);
}

const SKILL_MANIFEST = 'bmad-skill-manifest.yaml';

interface Common {
  generation: string;
  bmadVersion: string | undefined;
}

/**
 * Skills of which a package has the manifest alone: some were published without their Markdown. An agent's manifest says
 * who it is, which is enough to become it; of a workflow only the name is left, and that its file is missing.
 */
export async function readBare(
  source: Source,
  module: ModuleInfo,
  folder: string,
  common: Common,
  problems: Problem[],
): Promise<BmadRecord | undefined> {
  const file = `${folder}/${SKILL_MANIFEST}`;
  const text = await readable(source.tree, file, problems);
  if (text === undefined) return undefined;
  const table = parsedTable(file, problems, () => parseYaml(file, text));
  const name = textField(table, 'name') ?? folder.slice(folder.lastIndexOf('/') + 1);
  const help = module.help.filter((row) => row.skill === name);
  const details = detailsOf((key) => field(table, key));
  const isAgent = textField(table, 'type') === 'agent' && details?.role !== undefined;
  if (!isAgent && help.length === 0) return undefined;
  const main = isAgent ? file : `${folder}/SKILL.md`;
  const [displayName, title] = isAgent
    ? [textField(table, 'displayName'), textField(table, 'title')]
    : [help[0]?.displayName, undefined];
  return recordOf(source, {
    ...common,
    kind: isAgent ? 'agent' : 'workflow',
    listed: true,
    moduleName: module.code,
    moduleVersion: module.version,
    name,
    displayName,
    title,
    icon: isAgent ? textField(table, 'icon') : undefined,
    description: isAgent ? aboutOf(title, textField(table, 'capabilities')) : (help[0]?.description ?? ''),
    bmadRelativePath: main,
    moduleRelativePath: main.slice(main.indexOf('/') + 1),
    format: isAgent ? 'document' : 'skill',
    phase: isAgent ? undefined : help[0]?.phase,
    aliases: [shortName(name), displayName, title, ...help.flatMap((row) => [row.menuCode, row.displayName])],
    details: isAgent ? details : undefined,
    digest: isAgent ? sha256(text) : undefined,
  });
}

function aboutOf(title = '', capabilities = ''): string {
  return [title, capabilities].filter((each) => each !== '').join(': ');
}

/** The skill folders below a folder, and those of which there is only a manifest. Everything below a skill belongs to it, even a folder with another SKILL.md. */
export async function findSkills(
  tree: Tree,
  start: string,
  problems: Problem[],
): Promise<{ folders: string[]; bare: string[]; shims: Shims }> {
  const folders: string[] = [];
  const bare: string[] = [];
  const shims: Shims = new Map();
  async function visit(folder: string): Promise<void> {
    const entries = await tree.list(folder).catch(noted(problems, folder, []));
    const has = (name: string): boolean =>
      entries.some((entry) => entry.kind === 'file' && entry.name === name);
    if (has('SKILL.md')) {
      folders.push(folder);
      return;
    }
    if (has(SKILL_MANIFEST)) bare.push(folder);
    if (folder.endsWith('-shims')) await readShims(tree, folder, shims, problems);
    for (const entry of entries) {
      if (entry.kind === 'folder' && entry.link !== true && !/^[._]/.test(entry.name))
        await visit(`${folder}/${entry.name}`);
    }
  }
  await visit(start);
  return { folders, bare, shims };
}

/** What each old id forwards to, from the table in a shim folder's README. */
export type Shims = Map<string, Deprecation>;

async function readShims(tree: Tree, folder: string, shims: Shims, problems: Problem[]): Promise<void> {
  const file = `${folder}/README.md`;
  for (const line of ((await readable(tree, file, problems)) ?? '').split('\n')) {
    const row = /^\|\s*`([\w-]+)`\s*\|\s*(?:`([\w-]+)`)?\s*(?:\(([^)|]{1,80})\))?/.exec(line);
    if (row?.[1] !== undefined) shims.set(row[1], deprecation(row[2], row[3]));
  }
}

/** Shims outside such a folder say it in their description: "forwards to bmad-project-context". */
function deprecationFromDescription(description: string): Deprecation {
  const forwards = /forwards to `?([\w-]+)`?(?:\s*\(([^)]{1,80})\))?/i.exec(description);
  return deprecation(forwards?.[1], forwards?.[2]);
}

function deprecation(successor: string | undefined, intent: string | undefined): Deprecation {
  return present<Deprecation>({ successor, intent });
}
