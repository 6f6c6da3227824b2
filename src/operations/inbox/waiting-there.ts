import { BmadError } from '../../base/errors.ts';
import { oneLine, placed } from '../../base/text/text.ts';
import { present } from '../../base/values.ts';
import { plural, say, t } from '../../base/text/message.ts';
import type { Task, TaskState } from '../../model/task.ts';
import { receiptData, receiptText } from '../completion/receipt-view.ts';
import type { Call, Context, ProjectState } from '../context.ts';
import { relationWords, short, sourceData, sourceLines } from '../git-sources/sources-view.ts';
import { laterWork, waitingIn } from '../project/discovery.ts';
import { runText } from '../runs/run-text.ts';
import { asideText, closing, openRuns, type RunData } from '../runs/run-view.ts';
import { decidedText, textsOf, viewOf } from '../tasks/task-view.ts';
import type { InboxAction, InboxItem } from './inbox.ts';
import { FOR_PEOPLE } from '../offers.ts';

type Marks = Pick<InboxAction, 'needs' | 'danger' | 'asks' | 'equal'>;

function action(
  label: string,
  operation: string,
  args: Record<string, unknown>,
  marks: Marks = {},
): InboxAction {
  const person = FOR_PEOPLE.includes(operation) ? { person: true } : {};
  return { label, operation, args, ...marks, ...person };
}

/** What was found, and what could not be read: something may wait there too. */
interface WaitingThere {
  items: InboxItem[];
  unread: { what: string; why: string }[];
}

const problemsOf = (what: string, problems: readonly string[]): WaitingThere['unread'] =>
  problems.map((why) => ({ what, why }));

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
    ['memories', () => pairsOf(context, call)],
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
                action(
                  t`Approve this commit`,
                  'sources_approve',
                  { source, commit: pending.commit },
                  { asks: true },
                ),
              ],
      }),
    );
  }
  return found;
}

/** As much of a failure as is read at once. */
const SHOWN_OUTPUT = 6_000;
/** So many receipts are looked at here; `verify_receipts` checks them all. */
const LATEST = 100;

/** The last verdict that was given, if it is no PASS; and receipts that are not as they were written. */
async function verdictsOf(state: ProjectState): Promise<WaitingThere> {
  const { intact, problems, place: kept, fromHere } = await (await state.completion()).receipts(LATEST);
  const found = nothing();
  // It decides nothing: what failed stays here until it passes.
  const verify = action(t`Run again`, 'run_completion_contract', {});
  // What may not run here is not offered; that it may not is an entry of its own.
  const { allowed } = await (await state.completion()).consent();
  const last = intact.at(-1);
  const failed = last?.steps.filter(({ ok }) => ok === false).map(({ command }) => oneLine(command, TITLE));
  const output =
    last === undefined || last.status === 'PASS'
      ? undefined
      : await (await state.completion()).output(last.id, SHOWN_OUTPUT);
  const printed = output === undefined || output.failures === '' ? output?.end : output.failures;
  if (last !== undefined && last.status !== 'PASS')
    found.items.push({
      // The same after it was run again: who reads it goes on reading it.
      id: 'verdict',
      kind: 'verdict',
      role: 'developer',
      since: last.started,
      title:
        last.status === 'FAIL'
          ? failed?.[0] === undefined
            ? t`The completion contract failed`
            : t`The completion contract failed at ${failed[0]}`
          : t`The completion contract verified nothing`,
      evidence: [{ file: kept.folder, says: say(last.reason) }],
      ...(printed === undefined || printed === '' ? {} : { exact: [{ name: 'failures', text: printed }] }),
      text: `${receiptText(receiptData(last, fromHere(last)))}\n${say(last.reason)}`,
      actions: allowed ? [verify] : [],
    });
  if (problems.length > 0)
    found.items.push({
      id: 'verdict chain',
      kind: 'verdict',
      role: 'developer',
      title: t`${plural(problems.length, 'receipt')} not as written`,
      evidence: problems.map(({ message }) => ({ file: kept.folder, says: message })),
      text: problems.map(({ message }) => message).join('\n'),
      actions: allowed ? [verify] : [],
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
  const judge = await createJudge(state, reading, { context, signal });
  const items: InboxItem[] = [];
  for (const run of stopped) {
    const data = await judge.served(run);
    const { aside } = data;
    const { operation, args = {}, why } = closing(data);
    items.push(
      present<InboxItem>({
        id: `run ${run.branch}/${run.id}`,
        kind: 'run',
        role: data.agent,
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
          ...(aside === undefined ? [] : [action(why, operation, args, { asks: true })]),
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
  // A hand-off that was also put into an inbox has two ids; it is done with either.
  const once = new Map(handoffs.map((each) => [[each.from, each.to, each.text].join('\n'), each]));
  return {
    items: [...once.values()].map(({ id, from, to, text, old }) =>
      present<InboxItem>({
        id: `handoff ${id}`,
        kind: 'handoff',
        role: to,
        since: old,
        title: t`Answer: ${oneLine(text, TITLE)}`,
        evidence: [{ file: id, says: t`${from} waits for an answer` }],
        text,
        actions: [action(t`Mark as done`, 'complete_handoff', { id }, { asks: true, equal: true })],
      }),
    ),
    unread: [],
  };
}

/** Two decisions about the same, which nobody has settled: a person says which one holds. */
async function pairsOf(context: Context, { signal }: Call): Promise<WaitingThere> {
  const memory = await context.memory(false);
  if (await memory.isEmpty()) return nothing();
  const { pairsIn } = await import('../memory/memory-upkeep.ts');
  const { pairs } = await pairsIn(memory, ['decisions'], signal);
  return {
    items: pairs
      .filter(({ stored }) => stored)
      .map(({ memory: newer, other: older }) => ({
        id: `memory ${newer.id} ${older.id}`,
        kind: 'memory',
        role: newer.agent,
        since: newer.updatedAt,
        title: t`Which one holds: ${oneLine(newer.text, TITLE)}`,
        evidence: [],
        text: `${newer.text}\n\n${older.text}`,
        exact: [
          { name: 'newer', text: newer.text },
          { name: 'older', text: older.text },
        ],
        actions: [
          action(
            t`The newer one holds`,
            'memory_supersede',
            { id: older.id, type: older.type, by: newer.id },
            { equal: true },
          ),
          action(
            t`The older one holds`,
            'memory_supersede',
            { id: newer.id, type: newer.type, by: older.id },
            { equal: true },
          ),
          action(
            t`Both hold`,
            'memory_keep_both',
            { id: newer.id, type: newer.type, other: older.id },
            { equal: true },
          ),
        ],
      })),
    unread: [],
  };
}

/** What only a person decides in the project itself: tasks, their results, and deliveries. */

/** Of a task as much as a line takes. */
const TITLE = 120;

const WAITING = new Set<TaskState>(['needs_approval', 'needs_verification']);

async function tasksOf(state: ProjectState): Promise<WaitingThere> {
  const { queue } = await state.tasks();
  const { tasks, problems } = await queue.all();
  const found: WaitingThere = { items: [], unread: problemsOf(t`tasks`, problems) };
  const { waiting, digest } = await queue.elsewhere();
  // One answer will do for what an earlier version has queued.
  const together = new Set(waiting.length > 1 ? waiting.map(({ task }) => task.task_id) : []);
  if (together.size > 0)
    found.items.push(
      present<InboxItem>({
        id: 'tasks from elsewhere',
        kind: 'task',
        since: waiting[0]?.task.created_at,
        title: t`${together.size} tasks were queued elsewhere, or by an earlier version`,
        evidence: waiting.map(({ task }) => ({
          file: queue.fileOf(task),
          says: reasonOf(task),
        })),
        text: waiting
          .map(({ task, ...decided }) => decidedText(viewOf(task), textsOf(task, decided)))
          .join('\n\n'),
        actions: [action(t`Approve exactly these`, 'task_approve_all', { digest }, { asks: true })],
      }),
    );
  for (const task of tasks.filter(({ status, task_id }) => WAITING.has(status) && !together.has(task_id))) {
    try {
      const shown = textsOf(task, await queue.decided(task));
      const { task_id } = task;
      const isResult = task.status === 'needs_verification';
      found.items.push(
        present<InboxItem>({
          id: `task ${task_id}`,
          kind: isResult ? 'result' : 'task',
          role: task.agent,
          since: isResult ? task.updated_at : task.created_at,
          title: isResult ? t`Check: ${oneLine(task.task, TITLE)}` : t`Approve: ${oneLine(task.task, TITLE)}`,
          evidence: [{ file: queue.fileOf(task), says: reasonOf(task) }],
          text: decidedText(viewOf(task), shown),
          exact: shown.texts.map(({ name, text }) => ({ name, text })),
          actions: [
            action(
              t`Approve exactly this`,
              'task_approve',
              { task_id, digest: shown.digest },
              // A task is only queued by it, and can be taken back; a result is taken for good.
              isResult ? { asks: true } : {},
            ),
            action(t`Refuse`, 'task_refuse', { task_id }, { needs: ['reason'], danger: true }),
          ],
        }),
      );
    } catch (error) {
      found.unread.push({
        what: t`task ${task.task_id}`,
        why: BmadError.from(error, () => undefined).message,
      });
    }
  }
  return found;
}

function reasonOf({ status, approval, outside, result }: Task): string {
  if (status === 'needs_verification' && result !== undefined)
    return result.over_http === true ? t`handed in by ${result.by}, over HTTP` : t`handed in by ${result.by}`;
  return `${approval?.reason ?? t`no reason given`}${outside === undefined ? '' : t` (from outside, by ${outside.protocol})`}`;
}

/** What ends the matter; all else waits for somebody here. */
const ANSWERED = new Set(['accepted', 'rejected', undefined]);

async function contractsOf(state: ProjectState): Promise<WaitingThere> {
  const { contracts } = await state.handovers();
  const { contracts: kept, problems } = await contracts.all();
  const found: WaitingThere = { items: [], unread: problemsOf(t`delivery contracts`, problems) };
  for (const one of kept.filter(({ status }) => !ANSWERED.has(status))) {
    const { valid, findings } = await contracts.validate(one);
    const { id: contract_id, text, digest } = one;
    found.items.push(
      present<InboxItem>({
        id: `contract ${contract_id}`,
        kind: 'contract',
        role: one.contract.to,
        since: one.contract.date,
        title: valid ? waitingWords(one) : t`${waitingWords(one)}, and is not complete`,
        evidence: findings.map(({ message, line }) => present({ file: one.file, line, says: message })),
        text,
        actions: [
          ...(valid || one.contract.status === 'accepted'
            ? [action(t`Accept`, 'delivery_accept', { contract_id, digest }, { asks: true })]
            : []),
          action(
            t`Ask for a new version`,
            'delivery_reject',
            { contract_id, renegotiate: true },
            { needs: ['reason'] },
          ),
          action(t`Reject`, 'delivery_reject', { contract_id }, { needs: ['reason'], danger: true }),
        ],
      }),
    );
  }
  return found;
}

function waitingWords({
  id,
  contract: { from, to },
  status,
}: {
  id: string;
  contract: { from?: string | undefined; to?: string | undefined };
  status?: string | undefined;
}): string {
  const whose = from === undefined || to === undefined ? id : `${from} → ${to}`;
  if (status === 'accepted elsewhere') return t`${whose} was accepted elsewhere, not on this machine`;
  if (status === 'changed since it was accepted') return t`${whose} has changed since it was accepted here`;
  return t`${whose} waits for an answer`;
}

/** What the project disagrees with itself about can be hundreds of places; the first say enough. */
const MOST_DRIFT = 50;

/** Ledgers that say less than the files prove, that cannot be read, or that only a person can put right. */
async function ledgersBehind(state: ProjectState): Promise<WaitingThere> {
  const { proposal, ledgers, report } = await (await state.progress()).reconcile({ apply: false });
  const changes = ledgers.flatMap((ledger) =>
    ledger.changes.map((change) => ({ ...change, file: ledger.file })),
  );
  const proposed = new Set(changes.map(({ key }) => key));
  const items: InboxItem[] = [];
  if (changes.length > 0)
    items.push({
      id: `ledgers ${proposal}`,
      kind: 'ledger',
      role: 'scrum master',
      title: t`The ledgers lack ${plural(changes.length, 'change')} that the files prove`,
      evidence: changes.map(({ file, line, key, from, to, why }) => ({
        file,
        line,
        says: t`${key}: ${from ?? t`no row`} → ${to} (${why})`,
      })),
      text: ledgers.map(({ diff }) => diff).join('\n'),
      actions: [
        action(t`Make these changes`, 'reconcile_ledgers', { apply: true, proposal }, { asks: true }),
      ],
    });
  const left = report.drift.filter(({ kind, about }) => kind !== 'broken ledger' && !proposed.has(about));
  for (const { kind, about, says, evidence } of left.slice(0, MOST_DRIFT))
    items.push({
      id: `drift ${kind} ${about}`,
      kind: 'ledger',
      role: 'scrum master',
      title: says,
      evidence,
      text: says,
      actions: [],
    });
  const hidden = left.length - MOST_DRIFT;
  return {
    items,
    unread: [
      ...report.broken.map((bad) => ({ what: placed(bad), why: bad.says })),
      ...report.troubles.map((bad) => ({ what: placed(bad), why: bad.message })),
      ...(hidden > 0 ? [{ what: t`ledgers`, why: t`${hidden} more places disagree` }] : []),
    ],
  };
}
