import { basename } from 'node:path';
import { once } from '../../base/async.ts';
import { attempt, noted } from '../../base/expected.ts';
import { parseToml, type Table } from '../../base/parse/parse.ts';
import { contentUri } from '../../base/files/paths.ts';
import { maskSecretValues } from '../../base/secrets/scanner.ts';
import type { ContentFiles } from '../../catalogue/content-files.ts';
import type { BmadRecord, Problem } from '../../model/record.ts';
import type { Tree } from '../../sources/tree.ts';
import type { Central } from './central-config.ts';
import { applyLayers } from './layers.ts';
import { RENDERED, skillFolder } from './skill-folder.ts';

/** A skill that has been put together with the project's overrides. */
export interface ResolvedSkill {
  customization: Table;
  /** The override files that took part. */
  overrides: string[];
  /** Rendered Markdown by path, for skills that must be rendered before use. */
  rendered: ReadonlyMap<string, string> | undefined;
  /** Whether it must be rendered and could not be; BMAD's own script halts then. */
  halted: boolean;
  problems: Problem[];
}

export interface SkillResolver {
  files: ContentFiles;
  projectRoot: string | undefined;
  /** The project's `_bmad` folder, if it has one now. */
  projectBmad(): Promise<Tree | undefined>;
  central(): Promise<Table>;
  /** The same with the files it comes from and what is wrong with them. */
  centralLayers(): Promise<Central>;
  /** What was resolved before, where no file can have changed since. */
  kept?: Map<BmadRecord, Promise<ResolvedSkill>>;
}

export async function resolveSkill(record: BmadRecord, resolver: SkillResolver): Promise<ResolvedSkill> {
  const { kept } = resolver;
  const known = kept?.get(record);
  if (known !== undefined) return known;
  const resolved = resolvedNow(record, resolver);
  kept?.set(record, resolved);
  resolved.catch(() => kept?.delete(record));
  return resolved;
}

async function resolvedNow(record: BmadRecord, resolver: SkillResolver): Promise<ResolvedSkill> {
  const problems: Problem[] = [];
  const files = resolver.files.preferring(record.origin);
  const defaults = await readDefaults(`${skillFolder(record)}/customize.toml`, files, problems);
  const overrides = [`custom/${record.name}.toml`, `custom/${record.name}.user.toml`];
  const layered = await applyLayers(defaults, await resolver.projectBmad(), overrides);
  problems.push(...layered.problems);
  const customization = maskSecretValues(layered.values) as Table;
  const { rendered, halted } = await render(
    record,
    { defaults, customization },
    { ...resolver, files },
    problems,
  );
  return { customization, overrides: layered.files, rendered, halted, problems };
}

/** Parsed once for each reading of the file: the same bytes mean the same table. */
const parsedDefaults = new WeakMap<Buffer, Table>();

async function readDefaults(path: string, files: ContentFiles, problems: Problem[]): Promise<Table> {
  if (!(await files.all()).has(path)) return {};
  const { bytes } = await files.read(path);
  const known = parsedDefaults.get(bytes);
  if (known !== undefined) return known;
  const parsed = attempt(() => parseToml(path, bytes.toString('utf8')), noted(problems, path, undefined));
  if (parsed !== undefined) parsedDefaults.set(bytes, parsed);
  return parsed ?? {};
}

/** Few projects have a workflow that has to be rendered. */
const renderer = once(() => import('./render-skill.ts'));

async function render(
  record: BmadRecord,
  { defaults, customization }: { defaults: Table; customization: Table },
  { files, central, projectRoot }: SkillResolver,
  problems: Problem[],
): Promise<Pick<ResolvedSkill, 'rendered' | 'halted'>> {
  const folder = skillFolder(record);
  if (!(await files.all()).has(`${folder}/workflow.md`)) return { rendered: undefined, halted: false };
  const { needsRendering, renderSources, RenderError } = await renderer();
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
