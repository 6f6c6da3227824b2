/** What an agent asks of another in its answer. */
export interface FurtherTask {
  agent: string;
  task: string;
}

/** More than this in one answer is no division of work any more. */
export const FURTHER_TASKS = 3;

export const FURTHER_FORM = 'DELEGATE <agent>: <task in one line>';

const LINE = /^DELEGATE[ \t]+([^\s:][^:]{0,100}?)[ \t]*:[ \t]*(\S.{0,4000})$/;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;

/** The lines of an answer that ask for another agent. What stands in a code fence is an example. */
export function furtherTasks(answer: string): FurtherTask[] {
  const found: FurtherTask[] = [];
  let fence: string | undefined;
  for (const line of answer.split(/\r?\n/)) {
    const mark = FENCE.exec(line)?.[1];
    if (mark !== undefined) {
      if (fence === undefined) fence = mark;
      else if (mark.startsWith(fence)) fence = undefined;
      continue;
    }
    const [, agent, task] = fence === undefined ? (LINE.exec(line) ?? []) : [];
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
