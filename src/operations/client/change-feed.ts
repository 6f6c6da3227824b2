import { sha256 } from '../../base/values.ts';
import { forAll } from '../../base/text/message.ts';
import { MEMORY_TYPES } from '../../model/memory.ts';
import { qualifiedName } from '../../model/record.ts';
import { type Context, inProject } from '../context.ts';

/** What two looks at the same have in common; what cannot be read is the same as long as it cannot be. */
export const markOf = (data: unknown): string => (data === undefined ? '' : sha256(JSON.stringify(data)));

/**
 * When to look again at what someone follows, for clients of MCP and for the page alike: when the project that the server
 * runs for has been read again, and when something has moved in it. One look at a time; whatever comes while one waits is
 * part of it, whatever language a listener reads. `compare` answers whether someone was told of something.
 */
export function changeFeed(context: Context, compare: (event: object) => Promise<boolean>) {
  let leave: (() => void)[] = [];
  let last: Promise<unknown> = Promise.resolve();
  let next: { event: object; over: Promise<void> } | undefined;
  let told = 0;

  function soon(event: object): Promise<void> {
    if (next !== undefined) {
      next.event = event;
      return next.over;
    }
    const turn = { event, over: Promise.resolve() };
    const before = last;
    turn.over = (async () => {
      await before;
      next = undefined;
      try {
        if (await forAll(() => compare(turn.event))) told += 1;
      } catch (error) {
        context.log.info('changes', { error: String(error) });
      }
    })();
    next = turn;
    last = turn.over;
    return turn.over;
  }

  return {
    soon,
    /** Listens as long as there is something to tell of. */
    listen(isWanted: boolean): void {
      if (!isWanted) {
        for (const each of leave.splice(0)) each();
        return;
      }
      if (leave.length > 0) return;
      let counted = told;
      leave = [
        context.onChange((changes) => {
          // What has no project in its name is about the project the server runs for.
          if (changes.current) void soon(changes);
        }),
        context.onMoved(async (event) => {
          await soon(event);
          const mattered = told > counted;
          counted = told;
          return mattered;
        }),
      ];
    },
  };
}

/** What can change in a project, in the order in which it is told. */
export const TOPICS = [
  'content',
  'memory',
  'runs',
  'tasks',
  'receipts',
  'sources',
  'progress',
  'handover',
  'failures',
  'programs',
  'state',
] as const;
export type Topic = (typeof TOPICS)[number];

const DIGITS = 8;
/** For a memory with more entries stand the newest of them, the numbers of all and when one was last changed. */
const MOST_MEMORIES = 5_000;
const NEWEST_MEMORIES = 200;

/**
 * What stands for each part of a project: made of what it says and of nothing else, so that two processes that look at the
 * same have the same marks. It keeps no note of having looked.
 */
export async function projectMarks(
  everywhere: Context,
  named: string | undefined,
): Promise<{ project: string; marks: readonly (readonly [Topic, string])[] }> {
  const context = inProject(everywhere, named);
  const { root } = await context.state();
  const marks = await Promise.all(
    TOPICS.map(async (topic) => [topic, await forAll(() => topicMark(topic, context))] as const),
  );
  return { project: root, marks };
}

/** What cannot be read is the same as long as it cannot be. */
async function topicMark(topic: Topic, context: Context): Promise<string> {
  const seen = await LOOKS[topic](context).catch(() => undefined);
  return markOf(seen).slice(0, DIGITS).padEnd(DIGITS, '0');
}

type Look = (context: Context) => Promise<unknown>;

const LOOKS: Readonly<Record<Topic, Look>> = {
  async content(context) {
    const { catalogue, warnings } = await context.workspace();
    const { winners, overrides } = catalogue;
    return [
      winners.map((record) => [
        record.kind,
        qualifiedName(record),
        record.digest,
        record.title,
        record.description,
        record.origin.root,
      ]),
      [...overrides.entries()],
      warnings,
    ];
  },
  async memory(context) {
    const memory = await context.memory(false);
    if (await memory.isEmpty()) return [];
    const { total, live, superseded, forgotten, newest } = await memory.stats({ stored: true });
    const numbers = [total, live, superseded, forgotten, await memory.fileProblems()];
    if (total > MOST_MEMORIES)
      return [
        numbers,
        newest,
        (await memory.list({ all: true, stored: true }, { limit: NEWEST_MEMORIES })).entries,
      ];
    // With those that are only in files of the project. What has no date there gets one when it is read.
    const known = await Promise.all(MEMORY_TYPES.map(async (type) => (await memory.browse(type)).entries));
    return [
      numbers,
      known
        .flat()
        .map(({ entry: { id, text, tags, agent, revision }, sources }) => [
          id,
          text,
          tags,
          agent,
          revision,
          sources,
        ]),
    ];
  },
  async runs(context) {
    const { branches, current, problems } = await (await (await context.state()).runs()).lately();
    return [branches, current, problems];
  },
  async tasks(context) {
    return (await (await context.state()).tasks()).queue.all();
  },
  async receipts(context) {
    const completion = await (await context.state()).completion();
    const { count, intact, problems } = await completion.receipts(1);
    return [count, intact.map(({ id, hash }) => [id, hash]), problems];
  },
  async sources(context) {
    const team = await context.gitSources();
    const views = await team.views(await team.all());
    return views.map(({ address, pin, served, pending, trouble }) => [
      address.source,
      pin,
      served?.commit,
      pending?.commit,
      trouble,
    ]);
  },
  async progress(context) {
    const { ledgers, report } = await (await (await context.state()).progress()).reconcile({ apply: false });
    return [ledgers, report.phases, report.items, report.drift, report.troubles, report.broken];
  },
  async handover(context) {
    const { contracts, problems } = await (await (await context.state()).handovers()).contracts.all();
    return [contracts, problems];
  },
  async failures(context) {
    const { failures, problems } = await (await (await context.state()).facts()).museum();
    return [failures, problems];
  },
  /** What a person would be asked to allow, and whether somebody has. */
  async programs(context) {
    const completion = await (await context.state()).completion();
    const { digest, commit, allowed } = await completion.consent();
    return [digest, commit, allowed];
  },
  /** Whether the database of the team can be used, where there is one. */
  state: (context) => Promise.resolve(context.stateTrouble() !== undefined),
};
