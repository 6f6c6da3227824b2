import { t } from '../../base/text/message.ts';
import * as z from 'zod';
import { BmadError } from '../../base/errors.ts';
import { contentUri } from '../../base/files/paths.ts';
import { moduleField } from '../fields.ts';
import { defineOperation } from '../operation.ts';
import { findRecord, mainFile, NAMED_KINDS } from './targets.ts';
import { workflowFiles } from './workflow-files.ts';

/** For programs: the main file of an agent or workflow, whole, with where it lies. Models have `read` and `execute`. */
export const load = defineOperation({
  name: 'load',
  title: 'Load an agent or a workflow',
  description: 'The main file of an agent or workflow, unchanged, and where it comes from.',
  effect: 'read',
  input: z.strictObject({
    name: z.string().min(1).max(5_000).describe('Name, e.g. "architect" or "bmm/prd"'),
    kind: z.enum(NAMED_KINDS).describe('Agent or workflow'),
    module: moduleField,
  }),
  output: z.object({
    name: z.string(),
    kind: z.string(),
    module: z.string(),
    uri: z.string(),
    path: z.string(),
    content: z.string(),
    source: z.string(),
    origin: z.string(),
    commit: z.string().optional(),
    insteadOf: z.string().optional(),
    files: z.array(z.object({ uri: z.string(), bytes: z.int() })).optional(),
    filesLeftOut: z.int().optional(),
    missing: z.array(z.string()).optional(),
  }),

  async run({ name, kind, module }, context) {
    const workspace = await context.workspace();
    const record = findRecord({ name, kind, module, fuzzy: false }, workspace, context);
    const { path, from } = mainFile(record);
    const { text } = await workspace.delivery.file(path, from);
    if (text === undefined)
      throw new BmadError('invalid_input', t`${contentUri(path)} is not text.`, { subject: name });
    const { origin } = record;
    const displaced = workspace.catalogue.displacedBy(record);
    return {
      name: workspace.catalogue.names.handleOf(record),
      kind: record.kind,
      module: record.moduleName,
      uri: contentUri(path),
      path: record.absolutePath,
      content: text,
      source: origin.kind,
      origin: origin.displayName,
      ...(origin.git === undefined ? {} : { commit: origin.git.commit }),
      ...(displaced === undefined ? {} : { insteadOf: displaced.origin.displayName }),
      ...(record.kind === 'agent' ? {} : await workflowFiles(record, workspace)),
    };
  },

  render: ({ content }) => ({ body: content, exact: true }),
});
