import * as z from 'zod';
import { contentUri } from '../../base/files/paths.ts';
import { oneLine } from '../../base/text/text.ts';
import { qualifiedName } from '../../model/record.ts';
import { CATEGORIES, categoryOf } from './categories.ts';
import { asData, moduleField, projectField } from '../fields.ts';
import { defineOperation } from '../operation.ts';
import { namedRecord } from './recommend.ts';

const FILES_NAMED = 60;
const DESCRIPTION_LENGTH = 1_500;

export const getWorkflowDetails = defineOperation({
  name: 'get_workflow_details',
  title: 'Details of a workflow',
  description: 'What a BMAD workflow or task is: description, author, phase, inputs, outputs and files.',
  effect: 'read',
  toolset: 'workflows',
  answersData: true,
  input: z.strictObject({
    workflow_name: z.string().min(1).max(5_000).describe('e.g. prd, bmm/prd'),
    module: moduleField,
    project: projectField,
  }),
  output: z.object({
    name: z.string(),
    title: z.string().optional(),
    description: z.string(),
    author: z.string().optional(),
    module: z.string(),
    kind: z.string(),
    path: z.string(),
    phase: z.string().optional(),
    category: z.enum(CATEGORIES),
    inputs: z.array(z.string()),
    outputs: z.array(z.string()),
    /** URIs; each can be read. */
    files: z.array(z.string()),
    filesLeftOut: z.int().optional(),
    origin: z.string(),
    replacedBy: z.string().optional(),
  }),
  async run({ workflow_name: name, module, project }, context) {
    const workspace = await context.workspace(project);
    const record = await namedRecord({ name, kind: 'workflow', module, fuzzy: true }, workspace, context, {
      operation: 'read',
      project,
    });
    const { author, inputs, outputs, files } = await workspace.delivery.details(record);
    const { displayName, phase, deprecated } = record;
    const left = files.length - FILES_NAMED;
    return {
      name: qualifiedName(record),
      ...(displayName === undefined ? {} : { title: oneLine(displayName, 120) }),
      description: oneLine(record.description, DESCRIPTION_LENGTH),
      ...(author === undefined ? {} : { author }),
      module: record.moduleName,
      kind: record.kind,
      path: record.bmadRelativePath,
      ...(phase === undefined ? {} : { phase }),
      category: categoryOf(record, workspace),
      inputs,
      outputs,
      files: files.slice(0, FILES_NAMED).map(contentUri),
      ...(left > 0 ? { filesLeftOut: left } : {}),
      origin: record.origin.displayName,
      ...(deprecated?.successor === undefined ? {} : { replacedBy: deprecated.successor }),
    };
  },
  render: asData,
});
