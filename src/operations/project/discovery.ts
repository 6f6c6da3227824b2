import type { ProjectState } from '../context.ts';

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

/** What somebody waits for, and where the last session ended. */
export interface Waiting {
  handoffs: { id: string; from: string; to?: string | undefined; text: string }[];
  session?: { agent?: string | undefined; date?: string | undefined; next: string } | undefined;
}

export async function waitingIn(state: ProjectState): Promise<Waiting> {
  const facts = await state.facts();
  const known = await facts.context();
  const { session } = known;
  const next = session?.next?.trim() ?? '';
  return {
    handoffs: openRequests(known).map(({ id, from, to, text }) => ({
      id,
      from,
      to,
      text: facts.shown(text),
    })),
    ...(session === undefined || next === ''
      ? {}
      : { session: { agent: session.agent, date: session.date, next: facts.shown(next) } }),
  };
}

/** Requests and hand-offs that nobody has ticked off. */
function openRequests({ requests, handoffs }: Pick<Facts, 'requests' | 'handoffs'>): Facts['requests'] {
  return [...requests, ...handoffs].filter(({ done }) => !done);
}
