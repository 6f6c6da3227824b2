import { attempt, orElse } from '../../base/errors.ts';
import { breath } from '../../base/async.ts';
import { present } from '../../base/values.ts';
import { t } from '../../base/text/message.ts';
import { decodeText } from '../../base/text/text.ts';
import { basename, dirname } from 'node:path/posix';
import { contentPath, contentUri, fromProject, fromRoot } from '../../base/files/paths.ts';
import { parseYaml, type Table, tableOf, textField, field } from '../../base/parse/parse.ts';
import type { SayStep } from '../../base/step.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { ContentFiles } from '../../catalogue/content-files.ts';
import {
  behaviourOf,
  instructionsBeside,
  sharesItsFolder,
  type BmadRecord,
  type Problem,
  qualifiedName,
} from '../../model/record.ts';
import { skillFolder } from './resolve-skill.ts';

/** A file that a `workflow.yaml` names in a key. */
export interface WorkflowPart {
  key: 'instructions' | 'template' | 'validation' | 'checklist';
  path: string;
}

const KEYS: readonly WorkflowPart['key'][] = ['instructions', 'template', 'validation', 'checklist'];

/**
 * The files that a workflow in YAML names in its keys, whether or not they are there. Where it says nothing of
 * instructions, those beside it are meant.
 */
export function partsNamed(record: BmadRecord, table: Table, has: (path: string) => boolean): WorkflowPart[] {
  const folder = dirname(record.bmadRelativePath);
  const isBeside = field(table, 'instructions') === undefined;
  return KEYS.flatMap((key) => {
    const path =
      key === 'instructions' && isBeside
        ? instructionsBeside(record).find(has)
        : supportingPath(textField(table, key), record, folder);
    return path === undefined ? [] : [{ key, path }];
  });
}

/** The same of the text; nothing of one that is not YAML, which others tell. */
export function partsIn(record: BmadRecord, main: string, has: (path: string) => boolean): WorkflowPart[] {
  if (!behaviourOf(record).needsEngine) return [];
  return partsNamed(
    record,
    attempt(() => tableOf(parseYaml(record.bmadRelativePath, main)), orElse({})),
    has,
  );
}

/** Said of a part that is not there, when its workflow is started and when all are checked. */
export function missingPart(record: BmadRecord, { key, path }: WorkflowPart): Problem {
  return { file: record.bmadRelativePath, message: t`"${key}" names ${path}, which does not exist` };
}

/** The parts of all workflows that are not there. Without its instructions a workflow cannot be followed at all. */
export async function missingParts({ callable, files }: Catalogue): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const record of callable) {
    await breath();
    if (!behaviourOf(record).needsEngine || record.origin.kind === 'package') continue;
    const own = files.preferring(record.origin);
    const known = await own.all();
    // One that cannot be read is told of as such.
    const main = await own.read(record.bmadRelativePath).catch(orElse(undefined));
    const parts =
      main === undefined ? [] : partsIn(record, decodeText(main.bytes), (path) => known.has(path));
    for (const part of parts.filter(({ path }) => !known.has(path)))
      problems.push({
        ...missingPart(record, part),
        ...(part.key === 'instructions' ? {} : { mild: true as const }),
      });
  }
  return problems;
}

/** The content path behind `{installed_path}/instructions.md`; nothing for `false`, prose, or what leads outside. */
function supportingPath(value: string | undefined, record: BmadRecord, folder: string): string | undefined {
  if (value === undefined || !/\.\w{2,4}$/.test(value)) return undefined;
  const isFromTop = fromProject(value) !== value;
  const path = isFromTop
    ? fromRoot(value, basename(record.origin.root))
    : value.replace('{installed_path}', folder);
  return attempt(() => contentPath(path.includes('/') ? path : `${folder}/${path}`), orElse(undefined));
}

/** Where a workflow runs and what its placeholders stand for, as data for programs; models read the same as text. */
export interface WorkflowContext {
  bmadServerRoot: string;
  projectRoot?: string;
  mcpResources: string;
  agentManifestPath: string;
  agentCount: number;
  placeholders: {
    project_root?: string;
    bmad_root: string;
    module_root: string;
    config_source: string;
    installed_path: string;
    output_folder?: string;
  };
  moduleInfo: { name: string; version?: string; bmadVersion?: string };
  originInfo: {
    kind: string;
    displayName: string;
    priority: number;
    /** The origin whose content would be served if this one did not have something of that name. */
    insteadOf?: string;
    /** What is served where this origin is not asked for. */
    otherwise?: { name: string; origin: string };
    /** The version of BMAD that the project has itself, where this is another one that is built in. */
    projectHas?: string;
  };
}

export function workflowContext(
  record: BmadRecord,
  catalogue: Catalogue,
  projectRoot: string | undefined,
  values: Table,
): WorkflowContext {
  const { origin, moduleName, moduleVersion, bmadVersion } = record;
  const folder = skillFolder(record);
  const served = catalogue.servedInsteadOf(record);
  const output = values['output_folder'];
  return present<WorkflowContext>({
    bmadServerRoot: origin.root,
    projectRoot,
    mcpResources: 'bmad://',
    agentManifestPath: contentUri('manifests/agents'),
    agentCount: catalogue.count('agent'),
    placeholders: present<WorkflowContext['placeholders']>({
      project_root: projectRoot,
      bmad_root: origin.root,
      module_root: contentUri(moduleName),
      config_source: contentUri(`${moduleName}/config.yaml`),
      installed_path: folder === '' ? 'bmad://' : contentUri(folder),
      output_folder:
        typeof output === 'string'
          ? output.replaceAll('{project-root}', () => projectRoot ?? '{project-root}')
          : undefined,
    }),
    moduleInfo: present<WorkflowContext['moduleInfo']>({
      name: moduleName,
      version: moduleVersion,
      bmadVersion,
    }),
    originInfo: present<WorkflowContext['originInfo']>({
      kind: origin.kind,
      displayName: origin.displayName,
      priority: origin.priority,
      insteadOf: catalogue.displacedBy(record)?.origin.displayName,
      otherwise:
        served === undefined ? undefined : { name: qualifiedName(served), origin: served.origin.displayName },
      projectHas: origin.kind === 'package' ? otherVersion(record, catalogue) : undefined,
    }),
  });
}

/** The version of the project's own install, if it is not the one that a record is of. */
function otherVersion({ bmadVersion, origin }: BmadRecord, { records }: Catalogue): string | undefined {
  const own = records.filter(
    (record) => record.origin.kind === 'project' && record.bmadVersion !== undefined,
  );
  const version = bmadVersion ?? origin.bmadVersion;
  return own.some((record) => record.bmadVersion === version) ? undefined : own[0]?.bmadVersion;
}

/** So many addresses are read at a glance. */
const NAMED = 5;

/** Files elsewhere in the content, by their addresses. */
export function otherFilesNote(
  { record, project }: { record: BmadRecord; project: string | undefined },
  uris: readonly string[],
  say: SayStep,
): string | undefined {
  const start = `${contentUri(skillFolder(record))}/`;
  const others = uris.filter((uri) => !uri.startsWith(start));
  if (others.length === 0) return undefined;
  const left = others.length - NAMED;
  const [folder = ''] = record.bmadRelativePath.split('/', 1);
  const more =
    left > 0
      ? `; ${left} more: ${say({ operation: 'list', args: { what: 'resources', pattern: `${folder}/**`, project } })}`
      : '';
  return `Files it uses: ${others.slice(0, NAMED).join(', ')}${more}.`;
}

/** What help would have to find out by looking for files, which is found out already. */
export function standsNote(project: string | undefined, say: SayStep): string {
  return `To see where the project stands by its files, and what comes next: ${say({ operation: 'next', args: { project } })}.`;
}

const READ_ALONG = /\.(?:md|xml|ya?ml)$/;
/** Each is a file to open with every start; a text with more steps than this names the values itself. */
const MOST_READ = 30;

/** The texts of the steps and references of a workflow: they use its values and scripts too. */
export async function textsBeside(
  record: BmadRecord,
  main: string,
  files: readonly string[],
  content: ContentFiles,
): Promise<string[]> {
  const { isSkill, isAlone, isDeliveredAlone } = behaviourOf(record);
  const isOwn =
    isSkill === true ||
    (record.kind === 'workflow' && isAlone !== true && isDeliveredAlone !== true && !sharesItsFolder(record));
  if (!isOwn) return [];
  // Several workflows may share a folder, each with steps of its own: `steps-c`, `steps-v`.
  const isOwnStep = (path: string): boolean => {
    const folder = /\/(steps[\w-]*)\//.exec(path)?.[1];
    return folder === undefined || main.includes(`${folder}/`);
  };
  const texts = files.filter(
    (path) =>
      READ_ALONG.test(path) &&
      path !== record.bmadRelativePath &&
      !path.includes('/tests/') &&
      isOwnStep(path),
  );
  if (texts.length > MOST_READ) return [];
  const read = async (path: string): Promise<string> =>
    content.read(path).then(({ bytes }) => decodeText(bytes), orElse(''));
  return Promise.all(texts.map(read));
}
