import { contentUri } from '../../base/files/paths.ts';
import { present } from '../../base/present.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { qualifiedName, type BmadRecord } from '../../model/record.ts';
import type { Table } from '../../base/parse/parse.ts';
import { skillFolder } from './skill-folder.ts';

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
