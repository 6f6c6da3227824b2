import { plural, t } from '../../base/text/message.ts';
import { dirname } from 'node:path/posix';
import { contentPath, contentUri } from '../../base/files/paths.ts';
import type { Step } from '../../base/step.ts';
import { kilobytes } from '../../base/text/text.ts';
import type { BmadRecord } from '../../model/record.ts';
import type { Workspace } from '../context.ts';

/** What belongs to a workflow beside its main file, as answers have it. */
export interface WorkflowFileList {
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
export function fileLines({ files = [], filesLeftOut = 0, missing = [] }: WorkflowFileList): string[] {
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
export function allFiles(uri: string, { files = [] }: WorkflowFileList): Step[] {
  if (files.length <= NAMED) return [];
  const pattern = `${dirname(contentPath(uri))}/**`;
  return [{ operation: 'list', args: { what: 'resources', pattern }, why: t`List all its files` }];
}
