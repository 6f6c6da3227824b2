import { t } from '../../base/text/message.ts';
import { BmadError, quoted } from '../../base/errors.ts';
import { nearest } from '../../base/text/suggest.ts';
import { contextSections, requestsIn, type AgentRequest } from '../../kit/session/context-sections.ts';
import type { LinedHandoff } from '../../kit/session/handoff-lines.ts';
import { DECISIONS_FILE, decisionsIn } from '../../kit/memories/decisions.ts';
import { textToRead } from '../../kit/kit-text.ts';
import type { Kit } from '../../kit/kit.ts';
import { ENGLISH, languageOf } from '../../kit/language.ts';
import { projectWording } from '../../kit/project-language.ts';
import { readRuns } from '../../kit/runs/scan.ts';
import { SHARED_CONTEXT_FILE } from '../../kit/memories/shared-context.ts';
import type { Run, RunsReading } from '../../model/run.ts';

interface KnownDecision {
  decision: string;
  agent: string;
  /** The day; empty when nobody wrote it down. */
  date: string;
}

interface HandoverMaterial {
  run: Run | undefined;
  artefacts: { name: string; path: string }[];
  decisions: KnownDecision[];
  /** What agents have asked of each other and nobody has done. */
  requests: { question: string; critical: boolean; owner: string }[];
  /** The language of the project's own files. */
  language: 'fr' | 'en';
}

export interface Choice {
  runId: string | undefined;
  branch: string | undefined;
  /** Whether, without a run, the latest finished one of the branch is meant. */
  takesLatest: boolean;
  /** What the memory knows was decided, newest first, the log of the project included; without it, the log alone. */
  known?: readonly KnownDecision[] | undefined;
}

const DECISIONS = 12;

/** What a run has produced and what the project has decided: the body of a contract. */
export async function gather(
  kit: Kit,
  { runId, branch, known, takesLatest }: Choice,
  handedOver: readonly LinedHandoff[],
): Promise<HandoverMaterial> {
  const run = await runOf(kit, { runId, branch, takesLatest });
  const shared = await textToRead(kit, SHARED_CONTEXT_FILE, []);
  return {
    run,
    artefacts: (run?.state?.artefacts ?? []).map(({ name, path, file }) => ({ name, path: file ?? path })),
    decisions: mostTelling(known ?? (await loggedDecisions(kit))),
    requests: openRequests([
      ...requestsIn(contextSections(shared ?? ''), (text) => text),
      ...handedOver.filter(({ inbox }) => inbox),
    ]),
    language: languageOf(shared, await projectWording(kit)) === ENGLISH ? 'en' : 'fr',
  };
}

function openRequests(requests: readonly AgentRequest[]): HandoverMaterial['requests'] {
  return requests
    .filter(({ done }) => !done)
    .map(({ from, to, text }) => ({
      question: `[${from} → ${to ?? '?'}] ${text}`,
      critical: false,
      owner: to ?? '?',
    }));
}

/** The run that came to its end last, in a branch that is not put away. */
function latestFinished({ branches }: RunsReading, branch: string): Run | undefined {
  return branches
    .filter(({ name, archive }) => name === branch && archive === undefined)
    .flatMap(({ runs }) => runs)
    .filter(({ status }) => status === 'completed')
    .sort((a, b) => b.latest - a.latest)[0];
}

async function runOf(
  kit: Kit,
  { runId, branch, takesLatest }: Pick<Choice, 'runId' | 'branch' | 'takesLatest'>,
): Promise<Run | undefined> {
  if (runId !== undefined) {
    const near = await readRuns(kit, { id: runId });
    // Others are read only to say what there is instead.
    const isThere = near.branches.some(({ runs }) => runs.length > 0);
    return runNamed(isThere ? near : await readRuns(kit), runId, branch);
  }
  if (!takesLatest) return undefined;
  const reading = await readRuns(kit);
  return latestFinished(reading, branch ?? reading.current);
}

function runNamed({ branches }: RunsReading, id: string, branch: string | undefined): Run {
  const runs = branches
    .flatMap((each) => each.runs)
    .filter((run) => branch === undefined || run.branch === branch);
  const found = runs.find((run) => run.id === id);
  if (found !== undefined) return found;
  const ids = runs.map((run) => run.id);
  throw new BmadError(
    'not_found',
    t`There is no run ${quoted(id)}${branch === undefined ? '' : t` in ${quoted(branch)}`}.`,
    {
      subject: id.slice(0, 200),
      suggestions: nearest(id, ids),
      hint:
        ids.length === 0
          ? t`There are no runs yet; name the artefacts yourself.`
          : t`Runs: ${ids.slice(-10).join(', ')}.`,
    },
  );
}

/** The latest decisions, those about the architecture first. */
function mostTelling(decisions: readonly KnownDecision[]): KnownDecision[] {
  const weight = ({ decision }: KnownDecision): number => (decision.includes('[ARCH]') ? 1 : 0);
  return decisions
    .map((each, index) => ({ each, index }))
    .sort(
      (a, b) =>
        weight(b.each) - weight(a.each) || b.each.date.localeCompare(a.each.date) || a.index - b.index,
    )
    .slice(0, DECISIONS)
    .map(({ each }) => each);
}

/** Those of the log, the last one first. */
async function loggedDecisions(kit: Kit): Promise<KnownDecision[]> {
  const entries = decisionsIn((await textToRead(kit, DECISIONS_FILE, [])) ?? '', DECISIONS_FILE);
  return entries
    .map((entry) => ({ decision: entry.text, agent: entry.agent, date: entry.date ?? '' }))
    .toReversed();
}
