import * as z from 'zod';
import { BmadError } from '../base/errors.ts';
import { contentUri } from '../base/paths.ts';
import { cursorField, detailField, moduleField, projectField, sectionField } from './fields.ts';
import { defineOperation } from './operation.ts';
import { outlineOf, shownNote, shownTextSchema, showText } from './shown-text.ts';
import { findPath, findRecord, isFile, NAMED_KINDS } from './targets.ts';

export const read = defineOperation({
  name: 'read',
  title: 'Read a file',
  description: 'Read an agent, a workflow, or any file by bmad:// URI or path, byte for byte.',
  effect: 'read',
  command: 'read',
  positional: ['target'],
  examples: ['read architect', 'read bmad://bmm/config.yaml', 'read prd --section Finalize'],
  input: z.strictObject({
    target: z.string().min(1).max(5_000).describe('Name, bmad:// URI or path'),
    kind: z
      .enum([...NAMED_KINDS, 'resource'])
      .optional()
      .describe('What the target is, where its form leaves it open'),
    module: moduleField,
    section: sectionField,
    cursor: cursorField,
    detail: detailField,
    project: projectField,
  }),
  output: z.object({
    uri: z.string(),
    mimeType: z.string(),
    origin: z.string(),
    outline: z.array(z.string()).optional(),
    ...shownTextSchema.shape,
  }),

  async run({ target, kind, module, section, cursor, detail, project }, context) {
    const workspace = await context.workspace(project);
    const asFile = kind === undefined && module === undefined && (await isFile(target, workspace));
    const path =
      kind === 'resource' || asFile
        ? await findPath(target, workspace, context)
        : findRecord({ name: target, kind, module, fuzzy: true }, workspace, context).bmadRelativePath;
    const file = await workspace.delivery.file(path);
    if (file.text === undefined) {
      throw new BmadError(
        'invalid_input',
        `${contentUri(path)} is not text (${file.bytes?.length ?? 0} bytes).`,
        {
          subject: contentUri(path),
          hint: 'Read it as an MCP resource: resources/read hands out the bytes.',
        },
      );
    }
    const shown = showText(file.text, { section, cursor, detail, maxBytes: context.config.answerBytes });
    return {
      uri: contentUri(path),
      mimeType: file.mimeType,
      origin: file.origin?.displayName ?? 'generated',
      ...shown,
      ...(detail === 'concise' ? { text: '', outline: outlineOf(file.text) } : {}),
    };
  },

  render({ outline: titles, ...data }) {
    const where = `${data.uri} (${data.origin}).`;
    if (titles !== undefined)
      return {
        body: titles.join('\n') || 'No headings.',
        note: `${where} Outline only; whole size ${data.bytes} bytes.`,
      };
    return { exact: true, body: data.text, note: `${where} ${shownNote(data)}` };
  },
});
