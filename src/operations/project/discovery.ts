import { plural, t } from '../../base/text/message.ts';
import * as z from 'zod';
import type { ProjectState } from '../context.ts';
import { dayOf, isPast, momentOf } from './age.ts';

/** What exists in a project. It is found here for all answers, so that no two of them disagree. */

type Progress = Awaited<ReturnType<ProjectState['progress']>>;
type Facts = Awaited<ReturnType<Awaited<ReturnType<ProjectState['facts']>>['context']>>;

/** The documents that BMAD's workflows leave behind, with how far each is. */
export async function documentsOf(state: ProjectState): ReturnType<Progress['inventory']> {
  return (await state.progress()).inventory();
}

/** The same for those who ask with every start of a workflow: nothing is searched further where there is no document. */
export async function plannedDocuments(state: ProjectState): ReturnType<Progress['inventory']> {
  return (await state.progress()).planned();
}

export const deferredSchema = z.object({ file: z.string(), open: z.int() });

/** What BMAD's build workflow and its reviews have put off: how much of it is open, and where. */
export function deferredLines(deferred: z.output<typeof deferredSchema> | undefined): string[] {
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
