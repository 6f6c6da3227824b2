import { noted } from '../../base/expected.ts';
import { sha256 } from '../../base/sha256.ts';
import {
  field,
  isTable,
  parseFrontMatter,
  parseToml,
  parseYaml,
  textField,
  type Table,
} from '../../base/parse/parse.ts';
import { present } from '../../base/present.ts';
import type { HelpRow, ModuleInfo } from '../../model/module.ts';
import {
  shortName,
  type BmadRecord,
  type Deprecation,
  type Problem,
  type RecordDetails,
  type RecordKind,
} from '../../model/record.ts';
import type { Source } from '../../sources/source.ts';
import { optionalText } from '../../sources/tree.ts';
import { detailsOf } from '../details.ts';
import type { Reading } from '../reader.ts';
import { parsedTable, recordOf } from '../reading.ts';
import { deprecationFromDescription, type Shims } from './shims.ts';

export interface SkillPlace {
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
  for (const prefix of [rootName, '_bmad', '.bmad', 'bmad']) {
    if (target.startsWith(`${prefix}/`)) return target.slice(prefix.length + 1);
  }
  return target;
}
