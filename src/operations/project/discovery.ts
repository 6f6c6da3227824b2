import { once } from '../../base/async.ts';
import { orElse } from '../../base/errors.ts';
import { localDay, utcOf } from '../../base/text/text.ts';
import { plural, t } from '../../base/text/message.ts';
import type { RunsReading } from '../../model/run.ts';
import type { ProjectState } from '../context.ts';

/** What exists in a project. It is found here for all answers, so that no two of them disagree. */

type Progress = Awaited<ReturnType<ProjectState['progress']>>;
type Facts = Awaited<ReturnType<Awaited<ReturnType<ProjectState['facts']>>['context']>>;

/** The documents that BMAD's workflows leave behind, for those who ask with every start of one: nothing is searched further where there is none. */
export async function plannedDocuments(state: ProjectState): ReturnType<Progress['inventory']> {
  return (await state.progress()).planned();
}

/** What BMAD's build workflow and its reviews have put off: how much of it is open, and where. */
export function deferredLines(deferred: { file: string; open: number } | undefined): string[] {
  return deferred === undefined
    ? []
    : [t`Deferred work: ${plural(deferred.open, 'open entry', 'open entries')} in ${deferred.file}`];
}

/** What somebody waits for, and where the last session ended. `old` is the day it is from, where work has long gone on. */
export interface Waiting {
  handoffs: {
    id: string;
    from: string;
    to?: string | undefined;
    text: string;
    /** Of a request nobody knows how old it is. */
    old?: string | undefined;
  }[];
  session?:
    | {
        agent?: string | undefined;
        date?: string | undefined;
        next: string;
        /** The stories that it names. */
        stories: string[];
        old?: string | undefined;
      }
    | undefined;
}

/** `isPassed` says whether something was done well after a moment. A note about stories that are done says nothing more. */
export async function waitingIn(
  state: ProjectState,
  isPassed: (moment: number) => Promise<boolean>,
): Promise<Waiting> {
  const facts = await state.facts();
  const known = await facts.context();
  const { session } = known;
  const said = session?.next?.trim() ?? '';
  const stories = said === '' ? [] : await (await state.progress()).storiesIn(said);
  const next = stories.length > 0 && stories.every(({ done }) => done) ? '' : said;
  const old = async (date: string | undefined): Promise<{ old?: string }> => {
    const moment = momentOf(date);
    return moment !== undefined && isPast(moment) && (await isPassed(moment)) ? { old: dayOf(moment) } : {};
  };
  return {
    handoffs: await Promise.all(
      openRequests(known).map(async ({ id, from, to, text, date }) => ({
        id,
        from,
        to,
        text: facts.shown(text),
        ...(await old(date)),
      })),
    ),
    ...(session === undefined || next === ''
      ? {}
      : {
          session: {
            agent: session.agent,
            date: session.date,
            next: facts.shown(next),
            stories: stories.map(({ id }) => id),
            ...(await old(session.date)),
          },
        }),
  };
}

/** Requests and hand-offs that nobody has ticked off. */
function openRequests({ requests, handoffs }: Pick<Facts, 'requests' | 'handoffs'>) {
  return [...requests.map((each) => ({ ...each, date: undefined })), ...handoffs].filter(({ done }) => !done);
}

/**
 * Whether something was done in a project well after a moment, by what is on record: its runs, its last session and its
 * hand-offs; the last commit is asked for only where these do not say.
 */
export function laterWork(
  state: Pick<ProjectState, 'progress' | 'facts'>,
  { branches }: Pick<RunsReading, 'branches'>,
  signal: AbortSignal,
): (moment: number) => Promise<boolean> {
  const ran = branches.flatMap(({ runs }) => runs.map(({ latest }) => latest));
  const noted = once(async () => {
    const { session, handoffs } = await (await state.facts()).context();
    return [session?.date, ...handoffs.map(({ date }) => date)].flatMap((date) => momentOf(date) ?? []);
  });
  const committed = once(async () => (await state.progress()).lastCommit(signal).catch(orElse(undefined)));
  return async (moment) => {
    const isLater = (other: number): boolean => isWellAfter(other, moment);
    if (ran.some(isLater) || (await noted()).some(isLater)) return true;
    const commit = await committed();
    return commit !== undefined && isLater(commit);
  };
}

/** Work that nobody has touched for so long is no longer "the next step" where other work came after it. */
const LONG_DAYS = 30;
const DAY = 86_400_000;

export function isPast(moment: number): boolean {
  return Date.now() - moment > LONG_DAYS * DAY;
}

/** One day, because finished work is committed or logged shortly afterwards. */
function isWellAfter(later: number, moment: number): boolean {
  return later - moment > DAY;
}

/** `2026-02-27`, `2026-02-27 10:00` and the like, where the user is; nothing where it is no date. */
export function momentOf(date: string | undefined): number | undefined {
  const utc = utcOf(date);
  return utc === undefined ? undefined : Date.parse(utc);
}

export function dayOf(moment: number): string {
  return localDay(new Date(moment));
}
