import { behaviourOf } from '../../model/format.ts';
import { attempt, noted, orElse } from '../../base/expected.ts';
import { basename, dirname } from 'node:path/posix';
import { parseYaml, tableOf, textField } from '../../base/parse/parse.ts';
import { contentPath, contentUri } from '../../base/files/paths.ts';
import type { SayStep } from '../../base/step.ts';
import type { BmadRecord, Problem } from '../../model/record.ts';
import type { Material } from './activation.ts';
import type { CustomizedAgent } from './agent-customization.ts';
import { usedValues, type CommonParts } from './skill-material.ts';

interface InstallParts extends CommonParts {
  /** What there is to say of the agent's customization; its text is the main text. */
  customized: CustomizedAgent;
  /** The text of another file of the content; nothing when there is none. */
  read(path: string): Promise<string | undefined>;
}

/** Agents, workflows and tasks that predate skills: their files, and how the paths in them can be read. */
export async function installMaterial(parts: InstallParts): Promise<Material> {
  const { record, main } = parts;
  const { customized } = parts;
  const problems: Problem[] = [...customized.problems];
  const workflow = behaviourOf(record).needsEngine ? await yamlWorkflow(parts, problems) : undefined;
  const files = [{ uri: contentUri(record.bmadRelativePath), text: main }, ...(workflow?.files ?? [])];
  const used = files.map(({ text }) => text).join('\n');
  return {
    notes: (say) => [
      ...customized.notes,
      ...pathNotes(record, parts.project, say),
      ...(workflow?.notes ?? []),
    ],
    values: [
      ...usedValues(
        { ...parts, values: { ...parts.values, bmad_folder: basename(record.origin.root) } },
        (key) => used.includes(`{${key}}`) || used.includes(`:${key}"`),
      ),
      ...(workflow?.values ?? []),
    ],
    context: customized.extra,
    files,
    further: [...(workflow?.further ?? []), ...furtherFiles(parts, files)],
    problems,
  };
}

function pathNotes(record: BmadRecord, project: string | undefined, say: SayStep): string[] {
  const root = basename(record.origin.root);
  const starting = (kind: string): string =>
    say({ operation: 'execute', args: { name: '<name>', kind, project } });
  const reading = (target: string): string =>
    say({ operation: 'read', args: { target, kind: 'resource', project } });
  const start = `To start a workflow or task the text names: ${starting('workflow')}; an agent: ${starting('agent')}.`;
  if (behaviourOf(record).pathsByFolder) {
    const { bmadRelativePath, moduleRelativePath } = record;
    const folder = bmadRelativePath.startsWith('.') ? bmadRelativePath.split('/', 1)[0] : root;
    // `.bmad-core/`, or nothing when the root itself is the folder.
    const above = bmadRelativePath.slice(0, bmadRelativePath.length - moduleRelativePath.length);
    return [
      `A dependency \`{type}/{name}\` of the file, and \`${folder ?? root}/{type}/{name}\`: ${reading(`bmad://${above}{type}/{name}`)}.`,
      start,
    ];
  }
  return [`Files the text names as \`{project-root}/${root}/x\`: ${reading('bmad://x')}.`, start];
}

/** The parts of a `workflow.yaml`: its instructions come along, the rest is named by link. */
async function yamlWorkflow(
  parts: InstallParts,
  problems: Problem[],
): Promise<Pick<Material, 'files' | 'values' | 'further'> & { notes: string[] }> {
  const { record, main } = parts;
  const table = attempt(
    () => tableOf(parseYaml(record.bmadRelativePath, main)),
    noted(problems, record.bmadRelativePath, {}),
  );
  const folder = dirname(record.bmadRelativePath);
  const files: Material['files'] = [];
  const further: string[] = [];
  for (const key of ['instructions', 'template', 'validation', 'checklist']) {
    const path = supportingPath(textField(table, key), record, folder);
    if (path === undefined) continue;
    const text = await parts.read(path);
    if (text === undefined)
      problems.push({
        file: record.bmadRelativePath,
        message: `"${key}" names ${path}, which does not exist`,
      });
    else if (key === 'instructions') files.push({ uri: contentUri(path), text });
    else further.push(contentUri(path));
  }
  const engine = 'core/tasks/workflow.xml';
  const known = (await parts.read(engine)) !== undefined;
  return {
    files,
    further,
    notes: known
      ? [
          `Workflows of this kind are run by the engine ${contentUri(engine)}: read it once per session, then use it to follow the instructions.`,
        ]
      : [],
    values: [
      ['installed_path', contentUri(folder)],
      ['config_source', contentUri(`${record.moduleName}/config.yaml`)],
    ],
  };
}

/** The content path behind `{installed_path}/instructions.md`; nothing for `false`, prose, or what leads outside. */
function supportingPath(value: string | undefined, record: BmadRecord, folder: string): string | undefined {
  if (value === undefined || !/\.\w{2,4}$/.test(value)) return undefined;
  const root = basename(record.origin.root);
  const path = value
    .replace('{installed_path}', folder)
    .replace(
      new RegExp(`^\\{project-root\\}/(?:${['_bmad', '.bmad', 'bmad', root].map(escaped).join('|')})/`),
      '',
    );
  return attempt(() => contentPath(path.includes('/') ? path : `${folder}/${path}`), orElse(undefined));
}

function escaped(text: string): string {
  return text.replace(/[^\w]/g, '\\$&');
}

function furtherFiles({ record, files }: InstallParts, delivered: Material['files']): string[] {
  if (record.kind === 'agent' || behaviourOf(record).isDeliveredAlone) return [];
  return files.map(contentUri).filter((uri) => !delivered.some((file) => file.uri === uri));
}
