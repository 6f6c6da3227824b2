import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { BmadError } from '../../base/errors.ts';
import {
  field,
  isTable,
  ParseError,
  parseFrontMatter,
  parseToml,
  textField,
  type Table,
} from '../../base/parse.ts';
import type { HelpRow, ModuleInfo } from '../../model/module.ts';
import {
  shortName,
  type BmadRecord,
  type Deprecation,
  type Problem,
  type RecordKind,
} from '../../model/record.ts';
import type { Source } from '../../sources/source.ts';
import { optionalText } from '../../sources/tree.ts';
import { deprecationFromDescription, type Shims } from './shims.ts';

export const GENERATION = 'skills-6.11';

export interface SkillPlace {
  source: Source;
  module: ModuleInfo;
  shims: Shims;
  /** The skill's folder from the BMAD root. */
  folder: string;
}

/** Folders that group skills without being a phase of the work. */
const NOT_A_PHASE = new Set(['agents', 'v6-shims']);

/** Reads one skill folder. Only the front matter and the kind are looked at; the text itself is read when asked for. */
export async function readSkill(place: SkillPlace, problems: Problem[]): Promise<BmadRecord | undefined> {
  const file = `${place.folder}/SKILL.md`;
  try {
    const text = await place.source.tree.text(file);
    const { data } = parseFrontMatter(file, text);
    const folderName = place.folder.slice(place.folder.lastIndexOf('/') + 1);
    const name = textField(data, 'name') ?? folderName;
    const customization = (await optionalText(place.source.tree, `${place.folder}/customize.toml`)) ?? '';
    return record(place, { file, name, text, data, customization }, problems);
  } catch (error) {
    if (!(error instanceof ParseError) && !(error instanceof BmadError)) throw error;
    problems.push({
      file,
      message: error.message,
      ...(error instanceof ParseError && error.line !== undefined ? { line: error.line } : {}),
    });
    return undefined;
  }
}

interface SkillParts {
  file: string;
  name: string;
  text: string;
  data: Table;
  /** The text of `customize.toml`, empty when there is none. */
  customization: string;
}

function record(
  { source, module, shims, folder }: SkillPlace,
  parts: SkillParts,
  problems: Problem[],
): BmadRecord {
  const { name, file, customization } = parts;
  const description = textField(parts.data, 'description') ?? '';
  const help = module.help.filter((row) => row.skill === name);
  const kind = kindOf(customization);
  const phase = phaseOf(folder, help);
  const metadata = field(parts.data, 'metadata');
  const shim = isTable(metadata) && textField(metadata, 'lifecycle') === 'shim';
  const deprecated: Deprecation | undefined = shim
    ? (shims.get(name) ?? deprecationFromDescription(description))
    : undefined;
  const roster = module.roster.find((entry) => entry.code === name);
  const persona =
    kind === 'agent' && roster === undefined
      ? personaOf(`${folder}/customize.toml`, customization, problems)
      : {};
  const displayName =
    roster?.name ?? textField(persona, 'name') ?? help.find((row) => row.action === '')?.displayName;
  const title = roster?.title ?? textField(persona, 'title');
  const icon = roster?.icon ?? textField(persona, 'icon');
  return {
    kind,
    source: 'filesystem',
    origin: source.origin,
    moduleName: module.code,
    ...(source.origin.bmadVersion === undefined ? {} : { bmadVersion: source.origin.bmadVersion }),
    name,
    ...(displayName === undefined ? {} : { displayName }),
    ...(title === undefined ? {} : { title }),
    ...(icon === undefined ? {} : { icon }),
    description,
    bmadRelativePath: file,
    moduleRelativePath: file.slice(file.indexOf('/') + 1),
    absolutePath: join(source.tree.root, file),
    exists: true,
    status: 'verified',
    generation: GENERATION,
    format: 'skill',
    ...(phase === undefined ? {} : { phase }),
    aliases: aliasesOf(name, [displayName, title, ...help.flatMap((row) => [row.menuCode, row.displayName])]),
    ...(deprecated === undefined ? {} : { deprecated }),
    digest: createHash('sha256').update(parts.text).digest('hex'),
  };
}

/** The name proves nothing (`bmad-agent-builder` is a workflow); the table in `customize.toml` does. */
function kindOf(customization: string): RecordKind {
  const table = /^[ \t]*\[{1,2}[ \t]*(agent|workflow)\b/m.exec(customization)?.[1];
  return table === 'agent' || table === 'workflow' ? table : 'skill';
}

function phaseOf(folder: string, help: readonly HelpRow[]): string | undefined {
  const between = folder.split('/').slice(1, -1);
  const group = between.find((part) => !NOT_A_PHASE.has(part));
  return group ?? help.find((row) => row.phase !== '')?.phase;
}

function aliasesOf(name: string, others: readonly (string | undefined)[]): string[] {
  const names = [
    shortName(name),
    ...others.filter((other) => other !== undefined && other !== ''),
  ] as string[];
  return [...new Set(names)].filter((alias) => alias !== name);
}

/** Name, title and icon of an agent the module's roster does not describe. */
function personaOf(file: string, customization: string, problems: Problem[]): Table {
  try {
    const agent = field(parseToml(file, customization), 'agent');
    return isTable(agent) ? agent : {};
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    problems.push({
      file,
      ...(error.line === undefined ? {} : { line: error.line }),
      message: error.message,
    });
    return {};
  }
}
