import { spokenLanguage, t } from '../../base/text/message.ts';
import { BmadError, ours } from '../../base/errors.ts';
import { shortDigest } from '../../base/values.ts';
import { shownText } from '../../base/secrets/scanner.ts';
import type { Task } from '../../model/task.ts';
import type { Call, Context } from '../context.ts';
import { type ContextFile, contextFiles, type Shown } from '../delegation/context-files.ts';
import { knownAbout } from '../memory/known-about.ts';
import { askedAgent, languageOf } from '../catalogue/agent-names.ts';

const BRIEF_BYTES = 60_000;

interface ToBrief {
  agent: string;
  /** As it may be shown. */
  task: string;
  outputKey: string;
  files: readonly ContextFile[];
  dependsOn: readonly string[];
  /** What a worker has to know about where it comes from. */
  origin?: string | undefined;
}

/** All that a worker needs to know, with the project's language and its decisions as they are now. */
export async function briefFor(order: ToBrief, context: Context, call: Pick<Call, 'signal'>) {
  const { agent, task, ...rest } = order;
  const workspace = await context.workspace();
  const person = await askedAgent(agent, workspace, context);
  const [tasks, known] = await Promise.all([
    (await context.state()).tasks(),
    knownAbout(task, context, call.signal),
  ]);
  const safe = (text: string | undefined): string | undefined =>
    text === undefined ? undefined : shownText(text, (secret) => context.secrets.hide(secret));
  const said = (title: string): string | undefined => person.parts.find((part) => part.title === title)?.text;
  const profile =
    person.record === undefined
      ? { role: said('Role'), identity: said('In this project') }
      : await (person.place ?? workspace).delivery.profile(person.record);
  const brief = tasks.composeBrief({
    agent: {
      name: person.name,
      title: person.title,
      role: safe(profile.role),
      identity: safe(profile.identity),
    },
    task,
    ...rest,
    ...known,
    language: await languageOf(context),
    maxBytes: BRIEF_BYTES,
  });
  return { person, brief };
}

export function digestsOf(files: readonly ContextFile[]): Record<string, string> {
  return Object.fromEntries(files.map(({ path, text }) => [path, shortDigest(text)]));
}

interface FreshBrief {
  brief: string;
  /** What is no longer as it was when the task was queued, in a sentence. */
  since?: string;
}

/**
 * The brief with its files and the project's decisions as they are now, and what has changed since the task was queued. What
 * a person has agreed to, or somebody outside has asked for, stays as it was written; there only the sentence is new.
 */
export async function freshBrief(
  task: Task,
  stored: string,
  context: Context,
  call: Pick<Call, 'signal'>,
): Promise<FreshBrief> {
  if (task.context_files.length === 0 && task.approval !== undefined) return { brief: stored };
  const { files, gone } = await filesNow(await context.state(), task, context, call.signal);
  const now = digestsOf(files);
  const before = task.context_digests ?? {};
  const changed = files.filter(({ path }) => path in before && before[path] !== now[path]);
  const told = [
    ...changed.map(({ path }) => t`${path} has changed`),
    ...gone.map((path) => t`${path} can no longer be read`),
  ].join('; ');
  const since = (how: string): { since?: string } =>
    told === '' ? {} : { since: t`Since it was queued: ${told}. ${how}` };
  if (task.approval !== undefined || task.outside !== undefined)
    return {
      brief: stored,
      ...since(t`The brief quotes it as it was when approved; read the file before you rely on it.`),
    };
  try {
    const { brief } = await briefFor(
      {
        agent: task.agent,
        task: task.task,
        outputKey: task.output_key,
        files,
        dependsOn: task.depends_on,
      },
      context,
      call,
    );
    return { brief: brief.text, ...since(t`The brief quotes the current files.`) };
  } catch (error) {
    // The agent may be gone; the brief still says what it was to do.
    if (!(error instanceof BmadError) || error.code === 'cancelled') throw error;
    return {
      brief: stored,
      ...since(t`The brief quotes it as it was then; read the file before you rely on it.`),
    };
  }
}

async function filesNow(
  project: Shown,
  task: Task,
  { secrets }: Context,
  signal: AbortSignal,
): Promise<{ files: ContextFile[]; gone: string[] }> {
  const read = (paths: readonly string[]): Promise<ContextFile[] | undefined> =>
    contextFiles(project, paths, { hide: (text) => secrets.hide(text), signal }).catch(ours(() => undefined));
  // Most of the time all can be read, and git is asked once.
  const all = await read(task.context_files);
  if (all !== undefined) return { files: all, gone: [] };
  const files: ContextFile[] = [];
  const gone: string[] = [];
  for (const path of task.context_files) {
    const found = await read([path]);
    if (found === undefined) gone.push(path);
    else files.push(...found);
  }
  return { files, gone };
}

/** A result is read by people of the project. One in another language is handed in again while the claim still holds. */
export async function checkLanguage(
  { claim, result }: { claim: string; result: string },
  task: Task,
  context: Context,
): Promise<void> {
  if (task.status !== 'running' || task.lease?.claim !== claim || task.outside !== undefined) return;
  const spoken = spokenLanguage(result);
  if (spoken === undefined) return;
  const wanted = await languageOf(context);
  const other = { French: /^(?:en(?:$|[^\p{L}]|gl)|anglais)/iu, English: /^fr(?:$|[^\p{L}]|an[cç])/iu }[
    spoken
  ];
  if (wanted === undefined || !other.test(wanted)) return;
  const { task_id } = task;
  throw new BmadError('conflict', t`The result is in ${spoken}; the language of this project is ${wanted}.`, {
    subject: 'result',
    hint: t`Nothing was handed in, and the task is still yours. If it has to be in that language, pass any_language.`,
    steps: [
      {
        operation: 'task_complete',
        args: { task_id, claim },
        open: ['result'],
        why: t`Hand it in again, in ${wanted}`,
      },
    ],
  });
}
