import { type AgentRequest, contextSections, requestsIn } from '../../kit/session/context-sections.ts';
import type { LinedHandoff } from '../../kit/session/handoffs.ts';
import { decisionsIn } from '../../kit/memories/decisions.ts';
import { DECISIONS_FILE, SHARED_CONTEXT_FILE } from '../../kit/memories/entries.ts';
import { textToRead } from '../../kit/text.ts';
import type { Kit } from '../../kit/kit.ts';
import { ENGLISH, languageOf, projectWording } from '../../kit/language.ts';
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

/** The runs of the project as everybody sees them. */
export interface KnownRuns {
  one(id: string, branch?: string): Promise<Run>;
  read(): Promise<RunsReading>;
}

const DECISIONS = 12;

/** What a run has produced and what the project has decided: the body of a contract. */
export async function gather(
  kit: Kit,
  { known, ...choice }: Choice,
  handedOver: readonly LinedHandoff[],
  runs: KnownRuns,
): Promise<HandoverMaterial> {
  const run = await runOf(runs, choice);
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
  runs: KnownRuns,
  { runId, branch, takesLatest }: Pick<Choice, 'runId' | 'branch' | 'takesLatest'>,
): Promise<Run | undefined> {
  if (runId !== undefined) return runs.one(runId, branch);
  if (!takesLatest) return undefined;
  const reading = await runs.read();
  return latestFinished(reading, branch ?? reading.current);
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
