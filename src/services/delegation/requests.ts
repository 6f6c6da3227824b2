import { fenceFollower } from '../../base/text/markdown.ts';

/** What an agent asks of another in its answer. */
export interface FurtherTask {
  agent: string;
  task: string;
}

/** More than this in one answer is no division of work any more. */
export const FURTHER_TASKS = 3;

export const FURTHER_FORM = 'DELEGATE <agent>: <task in one line>';

const LINE = /^DELEGATE[ \t]+([^\s:][^:]{0,100}?)[ \t]*:[ \t]*(\S.{0,4000})$/;

/** The lines of an answer that ask for another agent. What stands in a code fence is an example. */
export function furtherTasks(answer: string): FurtherTask[] {
  const found: FurtherTask[] = [];
  const isFenced = fenceFollower();
  for (const line of answer.split(/\r?\n/)) {
    const [, agent, task] = isFenced(line) ? [] : (LINE.exec(line) ?? []);
    if (agent !== undefined && task !== undefined) found.push({ agent, task: task.trim() });
  }
  return found;
}

/** The same work in other letters, spaces or signs is the same work. */
export function workKey(agent: string, task: string): string {
  return `${agent}\n${task
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()}`;
}
