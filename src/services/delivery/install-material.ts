import { attempt, noted, orElse } from '../../base/errors.ts';
import { basename, dirname } from 'node:path/posix';
import { contentUri } from '../../base/files/paths.ts';
import { isTable, parseYaml, type Table, tableOf } from '../../base/parse/parse.ts';
import type { SayStep } from '../../base/step.ts';
import { present, those } from '../../base/values.ts';
import { behaviourOf, sharesItsFolder, type Problem } from '../../model/record.ts';
import { HALT, kitProgramNotes, type Material } from './activation.ts';
import type { CustomizedAgent } from './customize.ts';
import { missingPart, otherFilesNote, partsNamed, standsNote, type WorkflowPart } from './workflow.ts';
import {
  inAllForms,
  missingNames,
  missingNote,
  namedFiles,
  namesBeside,
  type PathRule,
  rulesOf,
  usualRule,
} from './named-paths.ts';
import { skillFolder, usedValues } from './resolve-skill.ts';
import type { CommonParts } from './skill-material.ts';

interface InstallParts extends CommonParts {
  /** What there is to say of the agent's customization; its text is the main text. */
  customized: CustomizedAgent;
  /** The text of another file of the content; nothing when there is none. */
  read(path: string): Promise<string | undefined>;
  /** Whether there is such a file in the content. */
  has(path: string): boolean;
  /** The files of a folder of the content, and below it. */
  below(folder: string): readonly string[];
}

const BASE_PROTOCOL = '_config/custom/agent-base.md';

/** Agents, workflows and tasks that predate skills: their files, and how the paths in them can be read. */
export async function installMaterial(parts: InstallParts): Promise<Material> {
  const { record, main, customized, has } = parts;
  const problems: Problem[] = [...customized.problems];
  const workflow = behaviourOf(record).needsEngine ? await yamlWorkflow(parts, problems) : undefined;
  const files = [{ uri: contentUri(record.bmadRelativePath), text: main }, ...(workflow?.files ?? [])];
  const used = files.map(({ text }) => text).join('\n');
  const core = await coreConfig(parts, used);
  // Every agent of the kit begins by loading it, and it runs most of the programs.
  const protocol = used.includes(BASE_PROTOCOL) ? ((await parts.read(BASE_PROTOCOL)) ?? '') : '';
  const rules = rulesOf(used, record, has);
  const missing = missingNames(used, rules, has);
  const belonging = [...(workflow?.further ?? []), ...furtherFiles(parts, used, rules)];
  const done = core.loaded === undefined ? '' : contentUri(core.loaded);
  const further = [...new Set(belonging)].filter(
    (uri) => uri !== done && !files.some((file) => file.uri === uri),
  );
  return {
    notes: (say) =>
      those(
        customized.notes,
        resolvedNote(parts, used, core.loaded),
        pathNotes(parts, used, rules, say),
        otherFilesNote(parts, further, say),
        folderNotes(parts, used, say),
        used.includes('bmad-help.csv') && standsNote(parts.project, say),
        missingNote(missing),
        kitProgramNotes(`${used}\n${protocol}`, say),
        workflow?.notes,
      ),
    values: [
      ...usedValues(
        {
          ...parts,
          values: {
            ...parts.values,
            bmad_folder: basename(record.origin.root),
            ...Object.fromEntries(workflow?.values ?? []),
          },
        },
        [used, ...parts.beside],
      ),
      ...core.values,
    ],
    context: () => customized.extra,
    files,
    further,
    problems,
    ...present({ halt: workflow?.halt }),
  };
}

/** Texts that must not begin before their configuration is read are told that it is. */
function resolvedNote({ record, has }: InstallParts, text: string, core?: string): string | undefined {
  const module = `${record.moduleName}/config.yaml`;
  const loaded = core ?? (has(module) && text.includes(`/${module}`) ? module : undefined);
  return (
    loaded &&
    `\`${loaded}\` is loaded; the values used are under Values, and steps that load it can be skipped.`
  );
}

/** Version 4 names a whole folder where the user chooses: `.bmad-core/templates`. */
function folderNotes({ record, project, below }: InstallParts, text: string, say: SayStep): string[] {
  const [top = ''] = record.bmadRelativePath.split('/', 1);
  if (!top.startsWith('.bmad-')) return [];
  const named = [...text.matchAll(/[\w./-]+/g)].map(([word]) => word.replace(/\/$/, ''));
  const folders = [...new Set(named)].filter(
    (word) => /^\.bmad-[a-z\d-]+\/[\w-]+$/.test(word) && below(word).length > 0,
  );
  return folders.map((folder) =>
    folder.endsWith('/checklists')
      ? checklistNote(below(folder), project, say)
      : `What \`${folder}\` has: ${say({ operation: 'list', args: { what: 'resources', pattern: `${folder}/*`, project } })}.`,
  );
}

/** The checklists to choose from, and the call that runs one of them. */
function checklistNote(paths: readonly string[], project: string | undefined, say: SayStep): string {
  const names = paths.map((path) => basename(path).replace(/\.\w+$/, ''));
  const call = say({ operation: 'execute', args: { name: '<name>', kind: 'workflow', project } });
  return `Checklists, each run by its name with ${call}: ${names.join(', ')}.`;
}

/** Templates that version 4 calls by their names: "using Story Template" is `story-tmpl.yaml`. */
function namedTemplates({ record, below }: InstallParts, text: string): string[] {
  const [top = ''] = record.bmadRelativePath.split('/', 1);
  if (!top.startsWith('.bmad-') || record.kind !== 'task') return [];
  const said = text.toLowerCase();
  return below(`${top}/templates`).filter((path) => {
    const name = basename(path).replace(/-tmpl\.ya?ml$/, '');
    return name !== basename(path) && said.includes(`${name.replaceAll('-', ' ')} template`);
  });
}

/** Generations whose texts lead to other texts, and these to further ones. */
const LEADS_ON = new Set(['compiled', 'v4']);

function pathNotes(
  { record, project, has }: InstallParts,
  text: string,
  rules: readonly PathRule[],
  say: SayStep,
): string[] {
  const starting = (kind: string): string =>
    say({ operation: 'execute', args: { name: '<name>', kind, project } });
  const reading = (target: string): string =>
    say({ operation: 'read', args: { target, kind: 'resource', project } });
  const { bmadRelativePath, moduleRelativePath } = record;
  const notes: string[] = [];
  const { pathsByFolder } = behaviourOf(record);
  // `.bmad-core/`, or nothing when the root itself is the folder.
  const above = bmadRelativePath.slice(0, bmadRelativePath.length - moduleRelativePath.length);
  const stated = inAllForms(rules.length > 0 || pathsByFolder ? rules : [usualRule(record, has)], has);
  for (const folder of new Set([...stated.map((rule) => rule.folder), ...(pathsByFolder ? [above] : [])])) {
    const written = stated.filter((rule) => rule.folder === folder).map((rule) => `\`${rule.written}x\``);
    if (pathsByFolder && folder === above) written.push('a dependency `{type}/{name}`');
    notes.push(`Files the text names as ${written.join(' or ')}: ${reading(`bmad://${folder}x`)}.`);
  }
  const folder = skillFolder(record);
  const beside = 'Paths such as `./x` or `x` are relative to the file that names them';
  if (namesBeside(text, folder, has))
    notes.push(`${beside}; for this file: ${reading(`${contentUri(folder)}/x`)}.`);
  else if (LEADS_ON.has(record.generation)) notes.push(`${beside}.`);
  if (/_c(?:onfig|fg)\/agent-manifest\.csv/.test(text))
    notes.push(
      `\`agent-manifest.csv\` says who the agents were when BMAD was installed; for the agents as they are now: ${reading('bmad://manifests/agents')}.`,
    );
  const [work, agent] = [starting('workflow'), starting('agent')];
  // At a command line both are started the same way.
  const start =
    work === agent
      ? `A workflow, task or agent it names: ${work}.`
      : `A workflow or task it names: ${work}; an agent: ${agent}.`;
  return [...notes, start];
}

/** The parts of a `workflow.yaml`: its instructions come along, the rest is named by link. */
async function yamlWorkflow(
  parts: InstallParts,
  problems: Problem[],
): Promise<Pick<Material, 'files' | 'values' | 'further' | 'halt'> & { notes: string[] }> {
  const { record, main } = parts;
  const table = attempt(
    () => tableOf(parseYaml(record.bmadRelativePath, main)),
    noted(problems, record.bmadRelativePath, {}),
  );
  const folder = dirname(record.bmadRelativePath);
  const files: Material['files'] = [];
  const further: string[] = [];
  const missing: WorkflowPart[] = [];
  for (const part of partsNamed(record, table, (path) => parts.has(path))) {
    const { key, path } = part;
    const text = await parts.read(path);
    if (text === undefined) missing.push(part);
    else if (key === 'instructions') files.push({ uri: contentUri(path), text });
    else further.push(contentUri(path));
  }
  problems.push(...missing.map((part) => missingPart(record, part)));
  const engine = 'core/tasks/workflow.xml';
  const config = `${record.moduleName}/config.yaml`;
  const known = (await parts.read(engine)) !== undefined;
  return {
    files,
    further,
    // Without its instructions a workflow says nothing of what is to be done.
    ...(missing.some(({ key }) => key === 'instructions') ? { halt: HALT } : {}),
    notes: known
      ? [`Its engine is ${contentUri(engine)}: read it once per session, then follow the text as it says.`]
      : [],
    values: [
      ['installed_path', contentUri(folder)],
      ...(parts.has(config) ? [['config_source', contentUri(config)] as [string, string]] : []),
    ],
  };
}

/** What belongs to it: the folder of a workflow; of a file that shares its folder with others, the files it names. */
function furtherFiles(parts: InstallParts, text: string, rules: readonly PathRule[]): string[] {
  const { record, files, has } = parts;
  const { isAlone, isDeliveredAlone } = behaviourOf(record);
  // Version 4 also names dependencies without their endings; those cannot be put together from the text.
  const unnamed = (record.uses ?? []).filter((path) => !text.includes(basename(path)));
  if (record.kind === 'agent') return unnamed.map(contentUri);
  const isShared = isAlone || isDeliveredAlone || sharesItsFolder(record);
  const own = isShared
    ? [...unnamed, ...namedFiles(text, rules, has), ...namedTemplates(parts, text)]
    : files;
  return own.map(contentUri);
}

const CORE = '.bmad-core/core-config.yaml';

/**
 * The settings of version 4. Its texts and personas send a model to `core-config.yaml` for them; where they are given,
 * nobody has to read that file. `values` are those that a text names, one by one or as a part (`prd.*`), and `loaded` is the
 * file, where the text sends its reader to it.
 */
export async function coreConfig(
  { record, read }: Pick<InstallParts, 'record' | 'read'>,
  text: string,
): Promise<{ values: [string, string][]; loaded?: string }> {
  const [top = ''] = record.bmadRelativePath.split('/', 1);
  const none = { values: [] };
  if (!top.startsWith('.bmad-') && record.generation !== 'v4') return none;
  const own = `${top}/core-config.yaml`;
  const ofPack = await read(own);
  const file = ofPack ?? (await read(CORE));
  if (file === undefined) return none;
  const path = ofPack === undefined ? CORE : own;
  const settings = tableOf(attempt(() => parseYaml(CORE, file), orElse({})));
  const parts = [...text.matchAll(/`(\w+)\.\*`/g)].map(([, part = '']) => tableOf(settings[part]));
  const named = new Set([...(text.match(/\b[a-z]+[A-Z]\w*/g) ?? []), ...parts.flatMap(Object.keys)]);
  const all = settingsIn(settings);
  const values = all.filter(([key]) => named.has(key));
  return { values, ...(text.includes(path) ? { loaded: path } : {}) };
}

/** All settings by their own names, whatever part they are in: `qaLocation` of `qa`. */
function settingsIn(table: Table): [string, string][] {
  return Object.entries(table).flatMap(([key, value]): [string, string][] => {
    if (isTable(value)) return settingsIn(value);
    if (Array.isArray(value)) return [[key, value.filter((each) => typeof each === 'string').join(', ')]];
    return ['string', 'boolean', 'number'].includes(typeof value) ? [[key, String(value)]] : [];
  });
}
