import { t } from '../../base/text/message.ts';
import { plural } from '../../base/text/message.ts';
import { BmadError } from '../../base/errors.ts';
import { present } from '../../base/present.ts';
import { receiptData, receiptText } from '../completion/receipt-view.ts';
import type { Call, Context, ProjectState } from '../context.ts';
import { waitingIn } from '../project/discovery.ts';
import { laterWork } from '../project/later-work.ts';
import { relationWords, short, sourceData, sourceLines } from '../git-sources/sources-view.ts';
import { openRuns, workflowOf } from '../runs/open-runs.ts';
import { asideText, closing } from '../runs/run-aside.ts';
import { runText } from '../runs/run-text.ts';
import { type RunData } from '../runs/run-view.ts';
import { contractsOf, tasksOf } from './decided-by-people.ts';
import { action, problemsOf, type InboxItem, type WaitingThere } from './inbox-item.ts';
import { ledgersBehind } from './ledgers-behind.ts';

const nothing = (): WaitingThere => ({ items: [], unread: [] });

/** Each part is read for itself: one that cannot be is listed, and hides no other. */
export async function waitingThere(state: ProjectState, context: Context, call: Call): Promise<WaitingThere> {
  const parts: readonly (readonly [what: string, read: () => Promise<WaitingThere>])[] = [
    ['tasks', () => tasksOf(state)],
    [t`delivery contracts`, () => contractsOf(state)],
    ['git sources', () => sourcesOf(context)],
    ['ledgers', () => ledgersBehind(state)],
    ['receipts', () => verdictsOf(state)],
    ['programs', () => programsOf(state)],
    ['runs', () => runsOf(state, context, call)],
    ['hand-offs', () => handoffsOf(state, call)],
  ];
  const all = await Promise.all(
    parts.map(([what, read]) => read().catch((error) => unreadable(what, error, context))),
  );
  return { items: all.flatMap(({ items }) => items), unread: all.flatMap(({ unread }) => unread) };
}

function unreadable(what: string, thrown: unknown, { log }: Context): WaitingThere {
  const { message } = BmadError.from(thrown, (id, original) =>
    log.error('incident', { id, name: 'inbox', error: String(original) }),
  );
  return { items: [], unread: [{ what, why: message }] };
}

async function sourcesOf(context: Context): Promise<WaitingThere> {
  const team = await context.gitSources();
  const views = await team.views(await team.all());
  const found = nothing();
  for (const view of views) {
    const { address, pin, pending, relation, sighting, trouble } = view;
    const { source } = address;
    const data = sourceData(view, team);
    if (pending === undefined && trouble === undefined) continue;
    found.items.push(
      present<InboxItem>({
        id: `source ${source}`,
        kind: 'source',
        role: 'maintainer',
        since: sighting?.checkedAt === undefined ? undefined : new Date(sighting.checkedAt).toISOString(),
        title: pending === undefined ? t`${source} has a problem` : t`${source} has changed`,
        evidence: [
          pending === undefined
            ? { file: data.lockFile, says: trouble ?? '' }
            : {
                file: data.lockFile,
                says: t`${short(pin?.commit ?? '')} is served, ${short(pending.commit)} waits: ${relationWords(relation)}`,
              },
        ],
        text: sourceLines(data),
        actions:
          pending === undefined
            ? [action(t`Ask the remote again`, 'sources_update', { source })]
            : [
                action(t`Show what changes`, 'sources_diff', { source }),
                action(t`Approve this commit`, 'sources_approve', { source, commit: pending.commit }),
              ],
      }),
    );
  }
  return found;
}

/** So many receipts are looked at here; `verify_receipts` checks them all. */
const LATEST = 100;

/** The last verdict that was given, if it is no PASS; and receipts that are not as they were written. */
async function verdictsOf(state: ProjectState): Promise<WaitingThere> {
  const { intact, problems, place, fromHere } = await (await state.completion()).receipts(LATEST);
  const found = nothing();
  const verify = action(
    t`Run the completion contract again`,
    'run_completion_contract',
    {},
    { danger: true },
  );
  const last = intact.at(-1);
  if (last !== undefined && last.status !== 'PASS')
    found.items.push({
      id: `verdict ${last.id}`,
      kind: 'verdict',
      role: 'developer',
      since: last.started,
      title:
        last.status === 'FAIL'
          ? t`The completion contract failed`
          : t`The completion contract verified nothing`,
      evidence: [{ file: place.folder, says: last.reason }],
      text: `${receiptText(receiptData(last, fromHere(last)))}\n${last.reason}`,
      actions: [verify],
    });
  if (problems.length > 0)
    found.items.push({
      id: t`verdict chain`,
      kind: 'verdict',
      role: 'developer',
      title: t`${plural(problems.length, 'receipt')} not as written`,
      evidence: problems.map(({ message }) => ({ file: place.folder, says: message })),
      text: problems.map(({ message }) => message).join('\n'),
      actions: [verify],
    });
  return found;
}

/** A project whose contract, or whose own checks, may not run yet or not any more: what `doctor` says of it, too. */
async function programsOf(state: ProjectState): Promise<WaitingThere> {
  const { root, lines, summary, digest, commit, scripted, empty, allowed } = await (
    await state.completion()
  ).consent();
  if (empty || allowed) return nothing();
  const shown = present({ folder: root, yes: true, digest, commit });
  const item: InboxItem = {
    id: 'trust',
    kind: 'trust',
    role: 'owner',
    title: scripted
      ? t`The completion contract may not run on this machine yet`
      : t`The checks of this project may not run on this machine yet`,
    evidence: summary.map((says) => ({ file: '.', says })),
    text: lines.join('\n'),
    actions: [action(t`Allow it on this machine`, 'trust', shown, { danger: true })],
  };
  return { items: [item], unread: [] };
}

/** Runs that nobody goes on with by themselves: they were paused, or have failed. */
async function runsOf(state: ProjectState, context: Context, { signal }: Call): Promise<WaitingThere> {
  const reading = await (await state.runs()).lately();
  const stopped = openRuns(reading).filter(({ status }) => status === 'paused' || status === 'failed');
  const { createJudge } = await import('../runs/run-standing.ts');
  const judge = await createJudge(state, reading, { context, project: state.root, signal });
  const items: InboxItem[] = [];
  for (const run of stopped) {
    const data = await judge.served(run);
    const { aside } = data;
    const { operation, args = {}, why } = closing(data);
    items.push(
      present<InboxItem>({
        id: t`run ${run.branch}/${run.id}`,
        kind: 'run',
        role: data.agent ?? workflowOf(run),
        since: new Date(run.latest).toISOString(),
        title: stoppedTitle(data),
        evidence: [
          {
            file: data.folder,
            says: asideText(data) ?? data.agent_notes ?? t`step ${data.resume_step ?? 1} is next`,
          },
        ],
        text: runText(data),
        actions: [
          ...(aside?.kind === 'dead'
            ? []
            : [
                action(t`Show how to continue`, 'run_resume', {
                  run_id: run.id,
                  ...(run.branch === 'main' ? {} : { branch: run.branch }),
                }),
              ]),
          ...(aside === undefined ? [] : [action(why, operation, args)]),
        ],
      }),
    );
  }
  const problems = reading.branches.flatMap(({ problems: own, runs }) => [
    ...own,
    // What does not fit together in one that can be read is told with it.
    ...runs.flatMap((run) => (run.state === undefined ? run.problems : [])),
  ]);
  return { items, unread: problemsOf('runs', [...reading.problems, ...problems]) };
}

function stoppedTitle({ run_id: id, status, aside }: RunData): string {
  if (aside?.kind === 'dead') return t`${id} is still open and cannot be resumed`;
  if (aside !== undefined) return t`${id} was paused on ${aside.since}, and the work continued`;
  return `${id} ${status === 'paused' ? t`was paused` : t`has failed`}`;
}

async function handoffsOf(state: ProjectState, { signal }: Call): Promise<WaitingThere> {
  const reading = await (await state.runs()).lately();
  const { handoffs } = await waitingIn(state, laterWork(state, reading, signal));
  return {
    items: handoffs.map(({ id, from, to, text, old }) =>
      present<InboxItem>({
        id: t`handoff ${id}`,
        kind: 'handoff',
        role: to,
        since: old,
        title:
          old === undefined
            ? t`${from} waits for an answer`
            : t`${from} has waited for an answer since ${old}`,
        evidence: [{ file: id, says: text }],
        text,
        actions: [action(t`Mark as done`, 'complete_handoff', { id })],
      }),
    ),
    unread: [],
  };
}
