import { BmadError } from '../../base/errors.ts';
import type { Step } from '../../base/step.ts';
import { fold } from '../../base/text/suggest.ts';
import { ago, plural } from '../../base/text/text.ts';
import { qualifiedName, shortName, type BmadRecord } from '../../model/record.ts';
import type { Call, Context, Ranking, Workspace } from '../context.ts';
import { differencesOf } from './differences.ts';
import { findRecord, startOf, type NamedTarget } from './targets.ts';

export interface NameRequest {
  /** The operation that asks, for the next call. */
  operation: 'execute' | 'read' | 'explain' | 'compile_context';
  /** The call, where the model of its client may be asked. */
  call?: Call;
  /** What the caller said beside the name. */
  words?: string | undefined;
  project?: string | undefined;
}

/**
 * The record a name stands for. Where it stands for several, the error says what they differ in, which one is likely and
 * why, and how to go on with it. Nothing is chosen for the caller.
 */
export async function namedRecord(
  target: NamedTarget,
  workspace: Workspace,
  context: Context,
  asked: NameRequest,
): Promise<BmadRecord> {
  try {
    return findRecord(target, workspace, context);
  } catch (error) {
    if (error instanceof BmadError && error.code === 'ambiguous')
      throw await recommending(error, target.name, workspace, context, asked);
    throw error;
  }
}

async function recommending(
  error: BmadError,
  name: string,
  workspace: Workspace,
  context: Context,
  asked: NameRequest,
): Promise<BmadError> {
  const { winners } = workspace.catalogue;
  const found = error.suggestions.map((each) => winners.find((record) => qualifiedName(record) === each));
  const candidates = found.filter((record) => record !== undefined);
  if (candidates.length < 2 || candidates.length !== found.length) return error;
  const ranking = await workspace.ranking();
  const words = [name, asked.words].filter(Boolean).join(': ');
  const { records, chosen } = await reranked(
    words,
    ranking.sorted(candidates).map((record) => ({ record, score: ranking.rank(record) })),
    context,
    asked.call,
  );
  const [best, second] = records;
  if (best === undefined) return error;
  const reason = chosen ? "your client's model chose it" : reasonFor(best, second, ranking);
  return new BmadError('ambiguous', error.message, {
    ...(error.subject === undefined ? {} : { subject: error.subject }),
    suggestions: records.map(qualifiedName),
    differences: differencesOf(records),
    hint: `Most likely ${qualifiedName(best)}: ${reason}.`,
    steps: [choice(best, asked.operation)],
    cause: error,
  });
}

/** Why something is recommended, also when it is only that somebody has to be first. */
function reasonFor(record: BmadRecord, second: BmadRecord | undefined, ranking: Ranking): string {
  const use = ranking.use(record);
  if (use !== undefined)
    return `started here ${plural(use.uses, 'time')}, last ${ago(use.last, ranking.now)}`;
  if (ranking.standsOut(record)) return 'the setting boost names it';
  return second !== undefined && ranking.rank(record) > ranking.rank(second)
    ? 'the manifests put it first'
    : 'first by name; none has been started here yet';
}

/** The call that says which one is meant. */
function choice(record: BmadRecord, operation: NameRequest['operation']): Step {
  const { name, kind } = startOf(record);
  const starts = operation === 'execute' || operation === 'compile_context';
  return { operation, args: { [starts ? 'name' : 'target']: name, kind }, why: 'Choose it' };
}

export interface Scored {
  record: BmadRecord;
  score: number;
}

/**
 * Candidates, the best first, as the model of the client would have them: where the first two are so close that the order
 * says little, it is asked, and what it chooses comes first. Without an answer the order stands.
 */
async function reranked(
  words: string,
  scored: readonly Scored[],
  context: Context,
  call: Call | undefined,
): Promise<{ records: BmadRecord[]; chosen: boolean }> {
  const records = scored.map(({ record }) => record);
  const local = { records, chosen: false };
  if (call?.sample === undefined || records.length < 2) return local;
  const reranker = await context.reranker();
  if (!reranker.isUnsure(scored.map(({ score }) => score))) return local;
  const candidates = records.map((record) => ({
    name: qualifiedName(record),
    about: [record.title ?? record.displayName, record.description].filter(Boolean).join(', '),
  }));
  const { name, why } = await reranker.choose(words, candidates, (question) =>
    call.sample === undefined ? Promise.resolve({ why: 'not offered' }) : call.sample(question),
  );
  context.log.debug(`re-rank: ${name ?? 'the local order is kept'} (${why})`);
  const first = records.find((record) => qualifiedName(record) === name);
  if (first === undefined) return local;
  return { records: [first, ...records.filter((record) => record !== first)], chosen: true };
}

/** A hit with less than this share of the best score is not what was meant, whatever a model says. */
const NEAR = 0.7;

/**
 * The hits of a search as they should be shown: neighbours of equal score in the order of the ranking, and where the first
 * two are close, first the one that the model of the client takes for the right one. Otherwise they stay in the order they
 * are in. The model changes the first page only, and nothing when a caller goes on with a list: pages fit together.
 */
export async function settled<T extends Scored>(
  words: string,
  hits: readonly T[],
  page: { size: number; isFirst: boolean },
  workspace: Workspace,
  context: Context,
  call: Call,
): Promise<T[]> {
  if (hits.length < 2) return [...hits];
  const ranking = await workspace.ranking();
  const named = hits.slice(0, isNameOf(words, hits[0]?.record) ? 1 : 0);
  const ordered = [...named, ...tiesByRank(hits.slice(named.length), ranking)];
  const best = ordered[0]?.score ?? 0;
  const near = ordered
    .slice(0, page.isFirst && !isNameOf(words, ordered[0]?.record) ? page.size : 0)
    .filter(({ score }) => score >= best * NEAR);
  const { records, chosen } = await reranked(words, near, context, call);
  const first = chosen ? near.find(({ record }) => record === records[0]) : undefined;
  return first === undefined ? ordered : [first, ...ordered.filter((hit) => hit !== first)];
}

function tiesByRank<T extends Scored>(hits: readonly T[], ranking: Ranking): T[] {
  const runs: T[][] = [];
  for (const hit of hits) {
    const run = runs.at(-1);
    if (run?.[0]?.score === hit.score) run.push(hit);
    else runs.push([hit]);
  }
  return runs.flatMap((run) => run.sort((a, b) => ranking.rank(b.record) - ranking.rank(a.record)));
}

/** Whoever types a name means what has it. */
function isNameOf(words: string, record: BmadRecord | undefined): boolean {
  if (record === undefined) return false;
  const names = [record.name, shortName(record.name), qualifiedName(record)];
  return names.some((name) => fold(name) === fold(words.trim()));
}
