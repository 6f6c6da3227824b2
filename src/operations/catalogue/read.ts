import { t } from '../../base/text/message.ts';
import * as z from 'zod';
import { once } from '../../base/async.ts';
import { BmadError, quoted } from '../../base/errors.ts';
import { contentUri } from '../../base/files/paths.ts';
import { present } from '../../base/present.ts';
import {
  cursorField,
  detailField,
  moduleField,
  originField,
  projectField,
  sectionField,
  stepsField,
} from '../fields.ts';
import { saying } from '../../base/step.ts';
import type { BmadRecord } from '../../model/record.ts';
import type { ServedFile, Workspace } from '../context.ts';
import { namedForm } from '../unified/forms.ts';
import { defineOperation } from '../operation.ts';
import { outlineOnly, restOf, shownNote, shownTextSchema, showText, type ShownText } from './shown-text.ts';
import { namedOrigins, workspaceFrom } from './origins.ts';
import { namedRecord } from './recommend.ts';
import { stateText } from '../client/state-resources.ts';
import { allFiles, fileLines, workflowFiles } from './workflow-files.ts';
import { findFile, findRecord, isFile, mainFile, NAMED_KINDS, startOf } from './targets.ts';
import { textLimits } from '../host-limits.ts';

const spokenPaths = once(() => import('./spoken-paths.ts'));

/** A rendered skill's own file is a few lines long. */
const LAUNCHER_LENGTH = 2_000;

export const read = defineOperation({
  name: 'read',
  title: 'Read a file',
  description: 'Read an agent, a workflow, or any file by bmad:// URI or path, byte for byte.',
  effect: 'read',
  behind: { bmad: 'read' },
  fromForm: namedForm('read', 'target'),
  command: 'read',
  picks: { target: 'work' },
  printsFile: true,
  positional: ['target'],
  examples: ['read architect', 'read bmad://bmm/config.yaml', 'read prd --section Finalize'],
  input: z.strictObject({
    target: z.string().min(1).max(5_000).describe('Name, bmad:// URI or path'),
    kind: z
      .enum([...NAMED_KINDS, 'resource'])
      .optional()
      .describe('What the target is, if that is not clear from its form'),
    of: z
      .string()
      .min(1)
      .max(5_000)
      .optional()
      .describe('Agent or workflow whose text names the path, if that is relative'),
    module: moduleField,
    origin: originField,
    section: sectionField,
    cursor: cursorField,
    detail: detailField,
    project: projectField,
  }),
  output: z.object({
    uri: z.string(),
    mimeType: z.string(),
    origin: z.string(),
    launches: z
      .object({ name: z.string(), kind: z.enum(['agent', 'workflow']) })
      .optional()
      .describe('The workflow this file only launches; execute delivers it rendered'),
    files: z
      .array(z.object({ uri: z.string(), bytes: z.int() }))
      .optional()
      .describe('The other files of a workflow'),
    filesLeftOut: z.int().optional(),
    insteadOf: z.string().optional().describe('The name that was asked for, which has another ending'),
    instead: z.array(z.string()).optional().describe('What does the work of programs that it names'),
    missing: z.array(z.string()).optional().describe('Files that the workflow names and that do not exist'),
    steps: stepsField,
    ...shownTextSchema.shape,
  }),

  async run(input, context, call) {
    const { target: asked, kind, of, module, origin, section, cursor, detail, project } = input;
    const shown = (text: string): ShownText =>
      detail === 'brief'
        ? outlineOnly(text)
        : showText(text, { section, cursor, detail, ...textLimits(context, call) });
    const remembered = origin === undefined ? await stateText(asked, context, call, project) : undefined;
    if (remembered !== undefined) {
      const { text, origin: place } = remembered;
      return { uri: asked, mimeType: 'text/markdown', origin: place, ...shown(text) };
    }
    const whole = await context.workspace(project);
    const workspace = workspaceFrom(whole, origin);
    const beside = of === undefined ? undefined : findRecord({ name: of, fuzzy: false }, workspace, context);
    const isPath = kind === undefined || kind === 'resource';
    const target = isPath ? await asWritten(asked, beside, workspace) : asked;
    const asFile = kind === undefined && module === undefined && (await isFile(target, workspace));
    const record =
      kind === 'resource' || asFile
        ? undefined
        : await namedRecord({ name: target, kind, module, fuzzy: true }, workspace, context, {
            operation: 'read',
            call,
            project,
          });
    const { path, from } =
      record === undefined ? await findFile(target, workspace, context) : mainFile(record);
    const file =
      origin === undefined || from !== undefined
        ? await workspace.delivery.file(path, from)
        : await fileOf(path, origin, whole);
    if (file.text === undefined) {
      throw new BmadError(
        'invalid_input',
        t`${contentUri(path)} is not text (${file.bytes?.length ?? 0} bytes).`,
        {
          subject: contentUri(path),
          hint: t`Read it as an MCP resource: resources/read returns the bytes.`,
        },
      );
    }
    const about = {
      uri: contentUri(path),
      mimeType: file.mimeType,
      origin: file.origin?.displayName ?? 'generated',
      ...present({ insteadOf: isPath ? (await spokenPaths()).insteadOf(asked, path) : undefined }),
    };
    const isLauncher = file.text.length < LAUNCHER_LENGTH && file.text.includes('render_skill.py');
    const launched =
      isLauncher && detail !== 'brief'
        ? workspace.catalogue.callable.find(({ bmadRelativePath }) => bmadRelativePath === path)
        : undefined;
    const rows =
      section === undefined || file.mimeType !== 'text/csv'
        ? undefined
        : (await import('../../base/parse/csv-section.ts')).csvSection(file.text, section);
    const text =
      rows === undefined
        ? shown(file.text)
        : showText(rows, { cursor, detail, maxBytes: context.config.answerBytes });
    const instead = detail === 'brief' ? [] : workspace.delivery.instead(text.text, saying(call.say));
    return {
      ...about,
      ...text,
      ...(instead.length === 0 ? {} : { instead }),
      ...(launched === undefined ? {} : { launches: startOf(launched) }),
      ...(record === undefined || record.kind === 'agent' || (cursor ?? section) !== undefined
        ? {}
        : await workflowFiles(record, workspace)),
    };
  },

  render({ launches, ...data }) {
    const said = {
      note: [
        ...(data.insteadOf === undefined
          ? []
          : [t`There is no ${quoted(data.insteadOf)}; this is the file that is meant.`]),
        [`${data.uri} (${data.origin}).`, shownNote(data)].filter(Boolean).join(' '),
        ...fileLines(data),
        ...(data.instead ?? []),
      ].join('\n'),
      again: restOf(data),
      steps: [
        ...(launches === undefined
          ? []
          : [
              {
                operation: 'execute',
                args: launches,
                why: t`This file only launches the workflow: start it`,
              },
            ]),
        ...allFiles(data.uri, data),
        // Its text goes through a catalogue to find what is known here.
        ...(/\/(?:bmad-)?help(?:\/SKILL)?\.md$/.test(data.uri)
          ? [{ operation: 'next', why: t`What comes next, by the files of the project` }]
          : []),
      ],
    };
    return data.outlineOnly === true
      ? { body: data.text || t`No headings.`, ...said }
      : { exact: true, body: data.text, ...said };
  },
});

/** An address stays as it is; any other path may be written as the texts of BMAD write paths. */
async function asWritten(
  target: string,
  beside: BmadRecord | undefined,
  workspace: Workspace,
): Promise<string> {
  const { spokenPath, stepsResolved, withEnding } = await spokenPaths();
  const isAddress = /^[a-z]+:\/\/(?!\{|%7B)/i.test(target);
  if (isAddress) return withEnding(await stepsResolved(target, workspace), workspace);
  if (!/[/.{]/.test(target)) return target;
  return withEnding(await spokenPath(target, beside, workspace), workspace);
}

/** A file as one origin has it; that another has it does not help. */
async function fileOf(path: string, origin: string, workspace: Workspace): Promise<ServedFile> {
  for (const from of namedOrigins(origin, workspace)) {
    const file = await workspace.delivery.file(path, from);
    if (file.origin === from) return file;
  }
  const uri = contentUri(path);
  throw new BmadError('not_found', t`The origin ${quoted(origin)} has no file ${quoted(uri)}.`, {
    subject: uri,
    steps: [
      { operation: 'explain', args: { target: uri, kind: 'resource' }, why: t`See where it comes from` },
    ],
  });
}
