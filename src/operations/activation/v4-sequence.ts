import { basename } from 'node:path/posix';
import { present } from '../../base/present.ts';
import type { SayStep } from '../../base/step.ts';
import { shortName, type BmadRecord } from '../../model/record.ts';
import type { ProjectState, Workspace } from '../context.ts';
import { actionData } from '../project/next-actions.ts';
import { plannedDocuments } from '../project/discovery.ts';

interface Where {
  state: ProjectState;
  workspace: Workspace;
  project: string | undefined;
}

/** Whether it is a sequence of what all agents do, as version 4 has them in YAML. */
export function isSequence({ generation, kind, bmadRelativePath }: BmadRecord): boolean {
  return generation === 'v4' && kind === 'workflow' && /\.ya?ml$/.test(bmadRelativePath);
}

/**
 * How far a project is on a sequence that begins with its brief, and what the sequence calls otherwise than the install
 * does. A project without documents is at its beginning, as the text has it.
 */
export async function sequenceRemark(
  record: BmadRecord,
  where: Where,
  say: SayStep,
): Promise<string | undefined> {
  const text = (await where.workspace.delivery.file(record.bmadRelativePath, record.origin)).text ?? '';
  const documents = await plannedDocuments(where.state);
  const names = await otherNames(text, record, documents, where.workspace);
  const called = names.length === 0 ? [] : [`Called otherwise here: ${names.join('; ')}.`];
  const reached = documents.length === 0 ? [] : [await reachedStep(record, where, say)];
  const said = [...reached, ...called];
  return said.length === 0 ? undefined : `> ${said.join(' ')}`;
}

async function reachedStep(
  { name }: BmadRecord,
  { state, workspace, project }: Where,
  say: SayStep,
): Promise<string> {
  const { actions } = await (await state.progress()).next(workspace.catalogue);
  const action = actions.find(({ optional }) => optional !== true);
  // Of a project that is done, some begin with what is to be added.
  if (action === undefined && shortName(name).startsWith('brownfield'))
    return 'Everything that was planned before is done: this sequence begins with what is new.';
  if (action === undefined)
    return 'Everything that is planned is done: no step of this sequence is left. New scope goes into the PRD first.';
  const { what, why, call } = actionData(action);
  const { operation: _operation, message, ...named } = call ?? {};
  const [[kind, worker] = []] = Object.entries(named);
  const args = present({ name: worker, kind, message, project });
  const start = worker === undefined ? '' : ` Continue there: ${say({ operation: 'execute', args })}.`;
  return `By the project's files, this sequence has come to: ${what} (${why}).${start}`;
}

/** Commands, files and tasks that it names and that have another name here. */
async function otherNames(
  text: string,
  { origin }: BmadRecord,
  documents: Awaited<ReturnType<typeof plannedDocuments>>,
  { catalogue, delivery }: Workspace,
): Promise<string[]> {
  const agentOf = (name: string): BmadRecord | undefined =>
    catalogue.winners.find((each) => each.kind === 'agent' && each.name === name && each.origin === origin);
  const found = new Map<string, string>();
  for (const [, name = '', command = ''] of text.matchAll(/@([\w-]+) → (\*[\w-]+)/g)) {
    const agent = agentOf(name);
    const entry = agent && (await delivery.fitting(agent, command));
    if (entry !== undefined && entry.isNamed !== true)
      found.set(`${name} ${command}`, `\`${command}\` of ${name} is \`${entry.said}\``);
  }
  const brief = documents.find(({ kind }) => kind === 'brief')?.path;
  if (brief !== undefined && text.includes('project-brief.md') && basename(brief) !== 'project-brief.md')
    found.set('brief', `\`project-brief.md\` is ${brief}`);
  const owner = agentOf('po');
  const validation = owner && (await delivery.fitting(owner, '*validate-story-draft'));
  if (validation?.isNamed === true && text.includes('story-review task coming soon'))
    found.set('story-review', `the story-review task is \`${validation.said}\` of po`);
  return [...found.values()];
}
