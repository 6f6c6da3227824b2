import { orElse } from '../../base/expected.ts';
import type { SayStep } from '../../base/step.ts';
import { shortName } from '../../model/record.ts';
import type { Activation, StatePort, Workspace } from '../context.ts';
import { UNPROVEN } from '../completion/done-rule.ts';
import { actionData } from '../project/next-actions.ts';
import { isSequence, sequenceRemark } from './v4-sequence.ts';

interface Where {
  context: StatePort;
  workspace: Workspace;
  project: string | undefined;
}

/** What somebody who starts this has to know first, because another text says it otherwise or at ten times the length. */
export async function startRemark(
  { record, material }: Activation,
  message: string | undefined,
  where: Where,
  say: SayStep,
): Promise<string | undefined> {
  const name = shortName(record.name);
  if (name === 'review') return lensRemark(material.further, message, where).catch(orElse(undefined));
  if (/^(?:help|workflow-status)$/.test(name)) return nextRemark(where, say).catch(orElse(undefined));
  if (name === 'code-review') return reviewRemark(where, say).catch(orElse(undefined));
  if (isSequence(record)) {
    const { context, workspace, project } = where;
    return context
      .state(project)
      .then((state) => sequenceRemark(record, { state, workspace, project }, say))
      .catch(orElse(undefined));
  }
  return undefined;
}

/** Its text names one lens; the files of those that are asked for would have to be found, and what each loads first. */
async function lensRemark(
  files: readonly string[],
  message: string | undefined,
  { workspace }: Where,
): Promise<string | undefined> {
  const [, codes = ''] =
    /\blens(?:es)?\s{0,3}[=:]\s{0,3}([\w-]{1,60}(?:\s{0,3},\s{0,3}[\w-]{1,60}){0,20})/i.exec(message ?? '') ??
    [];
  const ordered = new Set<string>();
  for (const code of codes.split(',')) {
    const uri = files.find((file) => file.endsWith(`/lens-${code.trim()}.md`));
    if (uri === undefined) continue;
    const { text = '' } = await workspace.delivery.file(uri.slice('bmad://'.length));
    for (const [path] of text.matchAll(/\breferences\/[\w-]{1,60}\.md/g))
      if (files.some((file) => file.endsWith(`/${path}`))) ordered.add(path);
    ordered.add(`references/lens-${code.trim()}.md`);
  }
  if (ordered.size === 0) return undefined;
  const names = [...ordered].map((path) => `\`${path}\``).join(', ');
  return `> Its files for these lenses, in order: ${names}.`;
}

/** Its text goes through a catalogue to find what `next` knows by the project's files. */
async function nextRemark({ context, workspace, project }: Where, say: SayStep): Promise<string | undefined> {
  const progress = await (await context.state(project)).progress();
  const { actions } = await progress.next(workspace.catalogue);
  const action = actions.find(({ optional }) => optional !== true) ?? actions[0];
  if (action === undefined) return undefined;
  const { what, why, call } = actionData(action);
  const { operation: _operation, message, ...named } = call ?? {};
  const [[kind, worker] = []] = Object.entries(named);
  const start =
    worker === undefined
      ? ''
      : ` Start it: ${say({ operation: 'execute', args: { name: worker, kind, ...(message === undefined ? {} : { message }) } })}.`;
  return `> What comes next, by the project's files: ${what} (${why}).${start} More of it: ${say({ operation: 'next' })}. The catalogue below is only needed for other questions.`;
}

/** One rule for "done", which the text and `next` both keep to; and what a build has reviewed already. */
async function reviewRemark({ context, project }: Where, say: SayStep): Promise<string> {
  const state = await context.state(project);
  const { way } = await (await state.completion()).standing();
  const call =
    way.may === 'run'
      ? ` Then run the contract: ${say({ operation: 'run_completion_contract' })}.`
      : way.may === 'ask'
        ? ' The contract waits for the user; done does not.'
        : '';
  const built = await (await state.progress()).isBuiltWithSpec();
  const before = built
    ? ' The build has reviewed its own change ("Review Triage Log" in the spec). This review adds a fresh look at all of it, the acceptance criteria, and `done` in the ledger, which the build leaves at `review`.'
    : '';
  return `> One rule for done: if this review passes, write done; ${UNPROVEN}.${call}${before}`;
}
