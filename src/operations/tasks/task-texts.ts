import { plural, say, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { shortDigest } from '../../base/sha256.ts';
import { hiddenIn } from '../../base/text/hidden.ts';
import { byteLength, fenced } from '../../base/text/text.ts';
import type { Task } from '../../model/task.ts';
import { taskLine, type TaskView } from './task-view.ts';

const textSchema = z.object({
  name: z.enum(['task', 'brief', 'result']),
  text: z.string(),
  characters: z.int(),
  bytes: z.int(),
  sha256: z.string().describe('The first 16 digits'),
  hidden: z.int().describe('How many characters of it are invisible or steer a terminal'),
});

/** What a person decides on, as it is stored. */
export const decidedSchema = z.object({
  digest: z.string().describe('Stands for all of it; approving takes it'),
  texts: z.array(textSchema),
});
export type Decided = z.output<typeof decidedSchema>;

export function textsOf(
  task: Task,
  { brief, result, digest }: { brief: string; result?: string; digest: string },
): Decided {
  const texts = [
    ['task', task.task],
    ['brief', brief],
    ['result', result],
  ] as const;
  return {
    digest,
    texts: texts.flatMap(([name, text]) =>
      text === undefined
        ? []
        : [
            {
              name,
              text,
              characters: Array.from(text).length,
              bytes: byteLength(text),
              sha256: shortDigest(text),
              hidden: hiddenIn(text).length,
            },
          ],
    ),
  };
}

const TITLES = { task: 'Task', brief: 'Brief for the worker', result: 'Result' } as const;

/** All of it, whole, with what tells one text from another that looks the same. */
export function decidedText(task: TaskView, { texts, digest }: Decided): string {
  return [
    taskLine(task),
    ...texts.map(
      (one) =>
        `## ${say(TITLES[one.name])}\n\n${measure(one)}\n\n${fenced(one.text, one.name === 'brief' ? 'markdown' : '')}`,
    ),
    t`Digest of all of this: ${digest}`,
  ].join('\n\n');
}

function measure({ characters, bytes, sha256: digest, hidden }: Decided['texts'][number]): string {
  const seen = hidden === 0 ? t`nothing hidden` : plural(hidden, 'HIDDEN CHARACTER', 'HIDDEN CHARACTERS');
  return `${plural(characters, 'character')}, ${plural(bytes, 'byte')}, ${seen}, sha256 ${digest}`;
}
