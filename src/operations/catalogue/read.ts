import { dirname } from 'node:path/posix';
import * as z from 'zod';
import { BmadError, quoted } from '../../base/errors.ts';
import { contentPath, contentUri } from '../../base/files/paths.ts';
import { present, those } from '../../base/values.ts';
import { saying, type Step } from '../../base/step.ts';
import { plural, t } from '../../base/text/message.ts';
import { nearest } from '../../base/text/suggest.ts';
import { kilobytes } from '../../base/text/text.ts';
import { type Origin, originList, originsCalled, originWords, type BmadRecord } from '../../model/record.ts';
import { lines } from '../answer-text.ts';
import { stateText } from '../client/state-resources.ts';
import type { ServedFile, Workspace } from '../context.ts';
import {
  cursorField,
  detailField,
  moduleField,
  originField,
  projectField,
  sectionField,
  stepsField,
  textUpTo,
} from '../fields.ts';
import { textLimits } from '../host-limits.ts';
import { defineOperation } from '../operation.ts';
import { namedForm } from '../unified/forms.ts';
import {
  alsoNamed,
  findFile,
  findRecord,
  isFile,
  mainFile,
  NAMED_KINDS,
  namedRecord,
  startOf,
} from './names.ts';
import { outlineOnly, restOf, shownNote, type ShownText, shownTextSchema, showText } from './shown-text.ts';

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
    target: textUpTo(5_000).describe('Name, bmad:// URI or path'),
    kind: z
      .enum([...NAMED_KINDS, 'resource'])
      .optional()
      .describe('What the target is, if that is not clear from its form'),
    of: textUpTo(5_000)
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
    along: z.string().optional().describe('The instructions of the workflow, which follow its main file'),
    alsoNamed: z.string().optional().describe('What else has this name, and how to read it'),
    insteadOf: z.string().optional().describe('The name that was asked for, which has another ending'),
    instead: z.array(z.string()).optional().describe('What does the work of programs that it names'),
    missing: z.array(z.string()).optional().describe('Files that the workflow names and that do not exist'),
    steps: stepsField,
    ...shownTextSchema.shape,
  }),

  async run(input, context, call) {
    const { target: asked, kind, of, module, origin, section, cursor, detail } = input;
    const shown = (text: string): ShownText =>
      detail === 'brief'
        ? outlineOnly(text)
        : showText(text, { section, cursor, detail, ...textLimits(context, call) });
    const remembered = origin === undefined ? await stateText(asked, context, call) : undefined;
    if (remembered !== undefined) {
      const { text, origin: place } = remembered;
      return { uri: asked, mimeType: 'text/markdown', origin: place, ...shown(text) };
    }
    const whole = await context.workspace();
    const workspace = workspaceFrom(whole, origin);
    const beside = of === undefined ? undefined : findRecord({ name: of, fuzzy: false }, workspace, context);
    const isPath = kind === undefined || kind === 'resource';
    const target = isPath ? await (await import('./paths.ts')).resolvePath(asked, beside, workspace) : asked;
    const asFile = kind === undefined && module === undefined && (await isFile(target, workspace));
    const named = kind === 'resource' || asFile ? undefined : { name: target, kind, module, fuzzy: true };
    const record =
      named === undefined
        ? undefined
        : await namedRecord(named, workspace, context, { operation: 'read', call });
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
      ...present({
        insteadOf: isPath ? (await import('./paths.ts')).insteadOf(asked, path) : undefined,
        alsoNamed:
          named === undefined || record === undefined
            ? undefined
            : alsoNamed(named, record, workspace, (other) => {
                const { name, kind: what } = startOf(other);
                return saying(call.say)({ operation: 'read', args: { target: name, kind: what } });
              }),
      }),
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
    const along = record === undefined ? undefined : await workspace.delivery.instructions(record);
    const both =
      along === undefined
        ? file.text
        : [file.text, `----- ${contentUri(along.path)} -----`, along.text].join('\n\n');
    const text =
      rows === undefined
        ? shown(both)
        : showText(rows, { cursor, detail, maxBytes: context.config.answerBytes });
    const instead = detail === 'brief' ? [] : workspace.delivery.instead(text.text, saying(call.say));
    return {
      ...about,
      ...text,
      ...present({ along: along && contentUri(along.path), launches: launched && startOf(launched) }),
      ...(instead.length === 0 ? {} : { instead }),
      ...(record === undefined || record.kind === 'agent' || (cursor ?? section) !== undefined
        ? {}
        : await workflowFiles(record, workspace)),
    };
  },

  render({ launches, ...data }) {
    const said = {
      note: lines(
        data.insteadOf !== undefined &&
          t`There is no ${quoted(data.insteadOf)}; this is the file that is meant.`,
        [
          data.along === undefined
            ? `${data.uri} (${data.origin}).`
            : t`${data.uri} and ${data.along} (${data.origin}).`,
          shownNote(data),
        ]
          .filter(Boolean)
          .join(' '),
        data.alsoNamed,
        fileLines(data),
        data.instead,
      ),
      again: restOf(data),
      steps: those<Step>(
        launches !== undefined && {
          operation: 'execute',
          args: launches,
          why: t`This file only launches the workflow: start it`,
        },
        allFiles(data.uri, data),
        // Its text goes through a catalogue to find what is known here.
        /\/(?:bmad-)?help(?:\/SKILL)?\.md$/.test(data.uri) && {
          operation: 'next',
          why: t`What comes next, by the files of the project`,
        },
      ),
    };
    return data.outlineOnly === true
      ? { body: data.text || t`No headings.`, ...said }
      : { exact: true, body: data.text, ...said };
  },
});

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

/** What belongs to a workflow beside its main file, as answers have it. */
interface WorkflowFileList {
  files?: { uri: string; bytes: number }[] | undefined;
  filesLeftOut?: number | undefined;
  missing?: string[] | undefined;
}

/** The other files of a workflow with their sizes; those that it names and that do not exist are told. */
export async function workflowFiles(record: BmadRecord, { delivery }: Workspace): Promise<WorkflowFileList> {
  const { files, more, missing } = await delivery.parts(record);
  return {
    ...(files.length === 0
      ? {}
      : { files: files.map(({ path, bytes }) => ({ uri: contentUri(path), bytes })) }),
    ...(more === 0 ? {} : { filesLeftOut: more }),
    ...(missing.length === 0
      ? {}
      : { missing: missing.map(({ key, path }) => t`${key}: ${contentUri(path)} does not exist`) }),
  };
}

/** So many are named under a text; the data has more of them. */
const NAMED = 10;

/** The same as lines under a text. */
function fileLines({ files = [], filesLeftOut = 0, missing = [] }: WorkflowFileList): string[] {
  const size = (bytes: number): string => (bytes < 1_000 ? plural(bytes, 'byte') : kilobytes(bytes));
  const listed = files.slice(0, NAMED).map(({ uri, bytes }) => `${uri} (${size(bytes)})`);
  const left = files.length - listed.length + filesLeftOut;
  const rest = left === 0 ? [] : [t`and ${left} more`];
  return [
    ...missing.map((each) => t`Missing: ${each}.`),
    ...(listed.length === 0 ? [] : [t`Its other files: ${[...listed, ...rest].join(', ')}.`]),
  ];
}

/** The call that lists all of them, where not all are named. */
function allFiles(uri: string, { files = [] }: WorkflowFileList): Step[] {
  if (files.length <= NAMED) return [];
  const pattern = `${dirname(contentPath(uri))}/**`;
  return [{ operation: 'list', args: { what: 'resources', pattern }, why: t`List all its files` }];
}

/** The workspace as one origin alone would give it, where one is asked for by its kind or its name. */
export function workspaceFrom(workspace: Workspace, origin: string | undefined): Workspace {
  return origin === undefined ? workspace : workspace.from(new Set(namedOrigins(origin, workspace)));
}

/** The origins that are meant, the first in rank first; an unknown word throws an error that names those there are. */
function namedOrigins(word: string, { catalogue }: Workspace): Origin[] {
  const all = catalogue.sources.map(({ origin }) => origin);
  const meant = originsCalled(word, all);
  if (meant.length > 0) return meant;
  throw new BmadError('not_found', t`There is no origin ${quoted(word)} here.`, {
    subject: word,
    suggestions: nearest(word, originWords(all)),
    hint: t`Known origins: ${originList(all) || t`none`}.`,
  });
}
