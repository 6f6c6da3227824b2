import { attempt, noted } from '../../base/errors.ts';
import { basename } from 'node:path';
import { contentUri } from '../../base/files/paths.ts';
import { field, isTable, parseToml, type Table, tableOf } from '../../base/parse/parse.ts';
import { maskSecretValues } from '../../base/secrets/scanner.ts';
import type { ContentFiles } from '../../catalogue/content-files.ts';
import type { BmadRecord, Problem } from '../../model/record.ts';
import type { Tree } from '../../sources/tree.ts';
import { applyLayers, type Central } from './layers.ts';

/** A file that overrides something, and how people find it. */
interface Override {
  tree: Tree;
  file: string;
  shown: string;
}

/** A skill that has been put together with the project's overrides. */
export interface ResolvedSkill {
  customization: Table;
  /** The override files that took part. */
  overrides: Override[];
  /** Those in the home folder that did not, because the project has its own. */
  passedOver: Override[];
  /** Rendered Markdown by path, for skills that must be rendered before use. */
  rendered: ReadonlyMap<string, string> | undefined;
  /** Whether it must be rendered and could not be; BMAD's own script halts then. */
  halted: boolean;
  problems: Problem[];
}

export interface SkillResolver {
  files: ContentFiles;
  projectRoot: string | undefined;
  /** What is in the home folder: its overrides count where the project has none. */
  ofUser: readonly Tree[];
  /** The project's `_bmad` folder, if it has one now. */
  projectBmad(): Promise<Tree | undefined>;
  central(): Promise<Table>;
}

/** What a project makes of its skills and its configuration, each made once. */
export interface ProjectSkills extends Pick<SkillResolver, 'projectBmad'> {
  resolved(record: BmadRecord): Promise<ResolvedSkill>;
  /** The central configuration with the files it comes from and what is wrong with them. */
  centralLayers(): Promise<Central>;
}

export async function resolveSkill(record: BmadRecord, resolver: SkillResolver): Promise<ResolvedSkill> {
  const problems: Problem[] = [];
  const files = resolver.files.preferring(record.origin);
  const defaults = await readDefaults(`${skillFolder(record)}/customize.toml`, files, problems);
  const { layered, overrides, passedOver } = await overridden(record.name, defaults, resolver);
  problems.push(...layered.problems);
  const customization = maskSecretValues(layered.values) as Table;
  const { rendered, halted } = await render(
    record,
    { defaults, customization },
    { ...resolver, files },
    problems,
  );
  return { customization, overrides, passedOver, rendered, halted, problems };
}

/** The files that override a skill, as BMAD names them. */
export const overridesOf = (name: string): string[] => [`custom/${name}.toml`, `custom/${name}.user.toml`];

/** The defaults with what the project overrides; with what the user does, where the project overrides nothing. */
async function overridden(name: string, defaults: Table, { projectBmad, ofUser }: SkillResolver) {
  const bmad = await projectBmad();
  const layered = await applyLayers(defaults, bmad, overridesOf(name));
  const own = layered.files.map((file) => ({ tree: bmad as Tree, file, shown: `_bmad/${file}` }));
  for (const tree of ofUser) {
    const shown = (file: string): string => tree.place(file);
    const users = await applyLayers(defaults, tree, overridesOf(name), shown);
    const files = users.files.map((file) => ({ tree, file, shown: shown(file) }));
    if (own.length > 0 && files.length > 0) return { layered, overrides: own, passedOver: files };
    if (files.length + users.problems.length > 0) return { layered: users, overrides: files, passedOver: [] };
  }
  return { layered, overrides: own, passedOver: [] };
}

async function readDefaults(path: string, files: ContentFiles, problems: Problem[]): Promise<Table> {
  if (!(await files.all()).has(path)) return {};
  const { bytes } = await files.read(path);
  return attempt(() => parseToml(path, bytes.toString('utf8')), noted(problems, path, {}));
}

async function render(
  record: BmadRecord,
  { defaults, customization }: { defaults: Table; customization: Table },
  { files, central, projectRoot }: SkillResolver,
  problems: Problem[],
): Promise<Pick<ResolvedSkill, 'rendered' | 'halted'>> {
  const folder = skillFolder(record);
  if (!(await files.all()).has(`${folder}/workflow.md`)) return { rendered: undefined, halted: false };
  // Few projects have a workflow that has to be rendered.
  const { needsRendering, renderSources, RenderError } = await import('./render-skill.ts');
  const sources = await markdownOf(folder, files);
  if (!needsRendering(sources.values())) return { rendered: undefined, halted: false };
  try {
    const rendered = renderSources({
      sources,
      central: await central(),
      customization,
      defaults,
      projectRoot: projectRoot ?? '{project-root}',
      locate: (target) => contentUri(`${RENDERED}${record.name}/${target}`),
      skillRoot: contentUri(`${RENDERED}${record.name}`),
    });
    return { rendered, halted: false };
  } catch (error) {
    if (!(error instanceof RenderError)) throw error;
    problems.push({
      file: `${skillFolder(record)}/workflow.md`,
      message: `cannot be rendered: ${error.message}`,
    });
    return { rendered: undefined, halted: true };
  }
}

async function markdownOf(folder: string, files: ContentFiles): Promise<Map<string, string>> {
  const sources = new Map<string, string>();
  for (const path of await files.below(folder)) {
    if (!path.endsWith('.md') || basename(path) === 'SKILL.md') continue;
    sources.set(path.slice(folder.length + 1), (await files.read(path)).bytes.toString('utf8'));
  }
  return sources;
}

const UNKNOWN_PROJECT = '(unknown: ask the user for the folder, or pass "project" with the call)';
const NOBODY = '(none given: leave it out)';

interface Known {
  /** The flat configuration of the record's module. */
  values: Table;
  projectRoot: string | undefined;
  today: string;
}

/**
 * The values that a text and its own files use, whatever way they write them, and no others; but a user who has chosen a
 * language is to be spoken to in it even where the text does not ask for that.
 */
export function usedValues(
  { values, projectRoot, today }: Known,
  texts: readonly string[],
  own: readonly [string, string][] = [],
): [string, string][] {
  const known = [...own, ...plainSettings(values, projectRoot), ['date', today] as [string, string]];
  const isUsed = ([key, value]: [string, string]): boolean =>
    isChosenLanguage(key, value) || texts.some((text) => uses(text, key));
  const used = known
    .filter(isUsed)
    .map(([key, value]): [string, string] => [key, isNobody(key, value) ? NOBODY : value]);
  return [['project-root', projectRoot ?? UNKNOWN_PROJECT], ...used];
}

/** Central values are those of all modules: a skill of the core asks for the folders of another that is there. */
export function valuesOfAll({ central, values }: { central: Table; values: Table }): Table {
  const others = Object.values(tableOf(field(central, 'modules'))).filter(isTable);
  return { ...Object.assign({}, ...others), ...values } as Table;
}

/** What installers write where no name is given is nobody's name. */
const isNobody = (key: string, value: string): boolean => key === 'user_name' && value === 'BMad';

function isChosenLanguage(key: string, value: string): boolean {
  return key === 'communication_language' && !/^english$/i.test(value);
}

/** The settings that are texts or can be written as one. */
export function plainSettings(table: Table, projectRoot: string | undefined): [string, string][] {
  return Object.entries(table).flatMap(([key, value]): [string, string][] =>
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
      ? [[key, String(value).replaceAll('{project-root}', () => projectRoot ?? '{project-root}')]]
      : [],
  );
}

/** `{user_name}`, `` `user_name` ``, `config:user_name`: a word like this is the name of a value; `date` may be just a word. */
function uses(text: string, key: string): boolean {
  if (!key.includes('_')) return text.includes(`{${key}}`) || text.includes(`\`${key}\``);
  for (let at = text.indexOf(key); at >= 0; at = text.indexOf(key, at + key.length))
    if (!isPartOfName(text[at - 1]) && !isPartOfName(text[at + key.length])) return true;
  return false;
}

function isPartOfName(character: string | undefined): boolean {
  return character !== undefined && /[\w-]/.test(character);
}

/** Rendered files live under this first path segment: `bmad://rendered/bmad-build/workflow.md`. */
export const RENDERED = 'rendered/';

export function skillFolder(record: BmadRecord): string {
  return record.bmadRelativePath.slice(0, record.bmadRelativePath.lastIndexOf('/'));
}
