import { t } from '../base/text/message.ts';
import { resolve } from 'node:path';
import { BmadError } from '../base/errors.ts';
import { writeAtomic, writeNew } from '../base/files/file-state.ts';
import { byteLength, kilobytes } from '../base/text/text.ts';
import type { Context } from '../operations/context.ts';
import { execute } from '../operations/execute.ts';
import { inbox } from '../operations/inbox/inbox.ts';
import type { AnyOperation } from '../operations/operation.ts';
import { next } from '../operations/project/next.ts';
import { pageAsFile, type InboxData, type NextData } from '../surfaces/http/page/as-file.ts';

/** Writes what people without access are to see; answers with what to tell the person who asked for it. */
export async function exportPage(
  context: Context,
  { file, cwd, force }: { file: string; cwd: string; force: boolean },
): Promise<string> {
  try {
    const [progress, waiting] = await Promise.all([
      dataOf(next, { detail: 'full' }, context),
      dataOf(inbox, {}, context),
    ]);
    const html = pageAsFile(progress as NextData, waiting as InboxData, new Date());
    const place = resolve(cwd, file);
    if (force) await writeAtomic(place, html);
    else if (!(await writeNew(place, Buffer.from(html))))
      throw new BmadError('conflict', t`${place} exists already.`, { hint: t`Replace it with --force.` });
    return t`${place}, ${kilobytes(byteLength(html))}. It has the exact texts of all items: share it with care.\n`;
  } finally {
    context.close();
  }
}

async function dataOf(
  operation: AnyOperation,
  args: Record<string, unknown>,
  context: Context,
): Promise<unknown> {
  const call = { signal: new AbortController().signal, progress: () => undefined };
  const outcome = await execute(operation, args, context, call);
  if (!outcome.ok) throw outcome.error;
  return outcome.data;
}
