import { BmadError, quoted, ours } from '../../base/errors.ts';
import { isFileInside } from '../../base/files/files.ts';
import { shownText } from '../../base/secrets/scanner.ts';
import { sha256, present, those } from '../../base/values.ts';
import { t } from '../../base/text/message.ts';
import { oneLine } from '../../base/text/text.ts';
import type { ContextPart, ProjectState } from '../context.ts';
import { openRun } from '../runs/run-view.ts';
import { contextFiles, type ContextRules, type Mention, namedIn, type Shown } from './context-files.ts';

const BARE = /^[^\s:@]+$/;
const PATH_SHAPE = /[/\\]|\.\w{1,8}$/;
/** So many words with @ are looked for in the project; a text with more is no list of files. */
const LOOKED_FOR = 200;
/** A file is cut here before anything else is done with it: far more than a question has room for. */
const FILE_LENGTH = 150_000;

/**
 * What goes with a task, and the files that the task itself names in its sentences. A line of `@docs/prd.md` names files of the project, which are put in; a file that is named so
 * inside a sentence is put in too, and so is every path of a context that is made of paths only. Everything else is text.
 * Files are read through the jail of the project, and one that is named and cannot be read stops the call.
 */
export async function delegationContext(
  context: string,
  task: string,
  project: () => Promise<Shown>,
  { hide, signal }: Pick<ContextRules, 'hide' | 'signal'>,
): Promise<ContextPart[]> {
  const root = async (): Promise<string> => (await project()).root;
  const lines = context.split(/\r?\n/).map((line) => ({ line, ...namedIn(line) }));
  const certain = new Set(
    lines.flatMap(({ isOnlyNames, mentions }) => (isOnlyNames ? mentions.filter(isPath) : [])),
  );
  const isNaming = ({ isOnlyNames, mentions }: (typeof lines)[number]): boolean =>
    isOnlyNames && mentions.every((mention) => certain.has(mention));
  const rest = lines
    .filter((line) => !isNaming(line))
    .map(({ line }) => line)
    .join('\n');
  const bare = certain.size === 0 ? await onlyPaths(rest, root) : [];
  const told = lines.flatMap(({ mentions }) => mentions).filter((mention) => !certain.has(mention));
  const asked = task.split(/\r?\n/).flatMap((line) => namedIn(line).mentions);
  const named = [
    ...[...certain].map(({ path }) => path),
    ...bare,
    ...(await existing(bare.length > 0 ? [] : told.map(({ path }) => path), root)),
    ...(await existing(
      asked.map(({ path }) => path),
      root,
    )),
  ];
  const rules = { hide, signal, field: 'context', most: FILE_LENGTH };
  const files = named.length === 0 ? [] : await contextFiles(await project(), [...new Set(named)], rules);
  const text = bare.length > 0 ? '' : rest.trim();
  return those<ContextPart>(
    text !== '' && { title: t`Context from the requester`, text: shownText(text, hide), isFile: false },
    files.map(({ path, ...file }) => ({ title: path, ...file, isFile: true })),
  );
}

/** A name alone in a line, `@ada`, is somebody unless there is such a file; with a folder or an ending it is a path. */
function isPath({ path, isQuoted }: Mention): boolean {
  return isQuoted || PATH_SHAPE.test(path);
}

/** In a sentence, `@ada` is somebody and `@types/node` a package, unless there is such a file. */
async function existing(paths: readonly string[], root: () => Promise<string>): Promise<string[]> {
  if (paths.length === 0) return [];
  // Without a project there are no files, and a text is a text.
  const folder = await root().catch(ours(() => undefined));
  if (folder === undefined) return [];
  const found: string[] = [];
  for (const path of [...new Set(paths)].slice(0, LOOKED_FOR))
    if (await isFileInside(folder, path)) found.push(path);
  return found;
}

/** The paths of a text that is made of paths only; a word such as "Node.js" is one only where there is such a file. */
async function onlyPaths(context: string, root: () => Promise<string>): Promise<string[]> {
  const words = context
    .split(/[\r\n,]+/)
    .map((word) => word.trim())
    .filter((word) => word !== '');
  const isList = words.length > 0 && words.every((word) => BARE.test(word) && PATH_SHAPE.test(word));
  return isList && (await existing(words, root)).length > 0 ? words : [];
}

export interface KeepOrder {
  agent: string;
  task: string;
  contextFiles: readonly string[];
  runId?: string | undefined;
  outputKey?: string | undefined;
}

/** What would stand in the way of keeping the result is told before anybody is asked: answers cost something. */
export async function checkKeeping(order: KeepOrder, state: () => Promise<ProjectState>): Promise<void> {
  const { runId, outputKey } = order;
  if (runId !== undefined) {
    const runs = await (await state()).runs();
    const run = await runs.one(runId);
    if (run.archive !== undefined || run.status === 'completed')
      throw new BmadError('conflict', t`The run ${quoted(runId)} has ended; nothing can be added to it.`, {
        subject: runId,
        hint: t`Omit run_id, or open a new run.`,
        steps: [openRun(run.state?.workflow, t`Open a new run`)],
      });
  }
  if (outputKey !== undefined) {
    const { queue } = await (await state()).tasks();
    await queue.checkFree({ outputKey, runId });
  }
}

/**
 * Keeps an answer as a completed task of the queue, and in the run that it belongs to as a checkpoint with the file of the
 * answer among its artefacts. The same answer once more changes nothing. The answer has been paid for: what goes wrong here
 * is told beside it.
 */
export async function keepResult(
  order: KeepOrder,
  done: { text: string; by: string; brief: string },
  state: ProjectState,
  signal: AbortSignal,
) {
  const notes: string[] = [];
  const attempt = async <T>(what: string, work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof BmadError) || error.code === 'cancelled') throw error;
      notes.push(`${what}: ${error.message}`);
      return undefined;
    }
  };
  const { runId } = order;
  const outputKey = order.outputKey ?? keyFor(order.agent, order.task, done.text);
  const { queue } = await state.tasks();
  const task = await attempt(t`The answer could not be kept`, () =>
    queue.record(
      {
        agent: order.agent,
        task: order.task,
        outputKey,
        contextFiles: order.contextFiles,
        dependsOn: [],
        runId,
        createdBy: 'bmad',
        brief: done.brief,
      },
      { text: done.text, by: done.by },
      signal,
    ),
  );
  if (task === undefined) return { notes };
  const { path: folder, owner } = queue.place;
  const file = `${folder}/${task.result?.file ?? ''}`;
  if (runId !== undefined)
    await attempt(t`The run could not be updated`, async () => {
      const runs = await state.runs();
      const { state: before } = await runs.one(runId);
      const known = before?.variables[outputKey] as { task_id?: unknown } | undefined;
      if (known?.task_id === task.task_id) return;
      await runs.checkpoint(runId, undefined, {
        isNote: true,
        variables: {
          [outputKey]: {
            event: 'handoff',
            agent: order.agent,
            task: oneLine(order.task, 300),
            task_id: task.task_id,
            by: done.by,
          },
        },
        ...(owner === 'project' ? { artefacts: [file] } : {}),
      });
      const facts = await state.facts();
      const traced = await facts.trace(
        'bmad',
        `HANDOFF→${order.agent}`,
        `${oneLine(order.task, 200)} (${task.task_id})`,
      );
      notes.push(...traced.notes);
    });
  return {
    kept: {
      task_id: task.task_id,
      output_key: outputKey,
      ...present({ run_id: runId }),
      file: owner === 'project' ? file : t`the user's state folder (${file})`,
    },
    notes,
  };
}

/** Whoever wanted something kept is to know that it was not. */
export function notKept(runId: string | undefined, outputKey: string | undefined): string[] {
  const places = those(
    runId !== undefined && t`in the run ${quoted(runId)}`,
    outputKey !== undefined && t`under ${quoted(outputKey)}`,
  );
  return places.length === 0 ? [] : [t`Nothing was kept ${places.join(' or ')}.`];
}

/** A key for work that was given none; the same answer to the same task has the same one. */
function keyFor(agent: string, task: string, answer: string): string {
  const name = agent.replaceAll(/\W+/g, '_').slice(0, 40);
  const digest = sha256(`${agent}\n${task}\n${answer}`).slice(0, 8);
  return `from_${name}_${digest}`;
}
