import { plural, t } from '../../base/text/message.ts';
import { BmadError, quoted } from '../../base/errors.ts';
import type { Step } from '../../base/step.ts';
import { fold } from '../../base/text/suggest.ts';
import { ago } from '../../base/text/text.ts';
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
  const said = wordFor(candidates, asked.words ?? '');
  const sorted = ranking.sorted(candidates);
  const { records, chosen } = await reranked(
    words,
    said === undefined ? sorted : [said.record, ...sorted.filter((record) => record !== said.record)],
    context,
    asked.call,
  );
  const [best, second] = records;
  if (best === undefined) return error;
  const reason = chosen
    ? t`your client's model chose it`
    : said === undefined
      ? reasonFor(best, second, ranking)
      : t`the message says ${quoted(said.word)}`;
  return new BmadError('ambiguous', error.message, {
    ...(error.subject === undefined ? {} : { subject: error.subject }),
    suggestions: records.map(qualifiedName),
    differences: differencesOf(records),
    hint:
      reason === undefined
        ? t`Nothing tells which one is meant: choose by what they are for, or ask the user.`
        : t`Most likely ${qualifiedName(best)}: ${reason}.`,
    steps: [reason === undefined ? anyChoice(records, asked.operation) : choice(best, asked.operation)],
    cause: error,
  });
}

/** Shorter words tell nothing apart. */
const WORD = /[\p{L}\p{N}]{3,}/gu;

/** What a message speaks for: the one candidate of whose own words it has more than of any other's. */
function wordFor(
  candidates: readonly BmadRecord[],
  message: string,
): { record: BmadRecord; word: string } | undefined {
  const said = new Set(fold(message).match(WORD));
  if (said.size === 0) return undefined;
  const texts = candidates.map(
    ({ moduleName, title = '', displayName = '', phase = '', description }) =>
      new Set(fold([moduleName, title, displayName, phase, description].join(' ')).match(WORD)),
  );
  const own = candidates.map((record, index) => ({
    record,
    words: [...said].filter(
      (word) => texts[index]?.has(word) === true && texts.filter((text) => text.has(word)).length === 1,
    ),
  }));
  const [best, second] = own.sort((a, b) => b.words.length - a.words.length);
  const [word] = best?.words ?? [];
  return best === undefined || word === undefined || best.words.length === second?.words.length
    ? undefined
    : { record: best.record, word };
}

/** Why something is recommended; nothing where it would only be that somebody has to be first. */
function reasonFor(record: BmadRecord, second: BmadRecord | undefined, ranking: Ranking): string | undefined {
  const use = ranking.use(record);
  if (use !== undefined)
    return t`started here ${plural(use.uses, 'time')}, last ${ago(use.last, ranking.now)}`;
  if (ranking.standsOut(record)) return t`the setting boost names it`;
  return second !== undefined && ranking.rank(record) > ranking.rank(second)
    ? t`the manifests put it first`
    : undefined;
}

/** The call that says which one is meant. */
function choice(record: BmadRecord, operation: NameRequest['operation']): Step {
  const { name, kind } = startOf(record);
  const starts = operation === 'execute' || operation === 'compile_context';
  return { operation, args: { [starts ? 'name' : 'target']: name, kind }, why: t`Choose it` };
}

/** The same where nothing speaks for one: the names are listed above it. */
function anyChoice(records: readonly BmadRecord[], operation: NameRequest['operation']): Step {
  const kinds = new Set(records.map((record) => startOf(record).kind));
  const [kind] = kinds.size === 1 ? kinds : [];
  const starts = operation === 'execute' || operation === 'compile_context';
  return {
    operation,
    args: kind === undefined ? {} : { kind },
    open: [starts ? 'name' : 'target'],
    why: t`Choose one`,
  };
}

export interface Scored {
  record: BmadRecord;
  score: number;
}

/**
 * Candidates, the best first, as the model of the client would have them: where there are several and it can be asked, it
 * is, and what it chooses comes first. Without an answer the order stands.
 */
async function reranked(
  words: string,
  given: readonly BmadRecord[],
  context: Context,
  call: Call | undefined,
): Promise<{ records: BmadRecord[]; chosen: boolean }> {
  const records = [...given];
  const local = { records, chosen: false };
  if (call?.sample === undefined || records.length < 2) return local;
  const reranker = await context.reranker();
  const candidates = records.map((record) => ({
    name: qualifiedName(record),
    about: [record.title ?? record.displayName, record.description].filter(Boolean).join(', '),
  }));
  const { name, why } = await reranker.choose(words, candidates, (question) =>
    call.sample === undefined ? Promise.resolve({ why: t`not offered` }) : call.sample(question),
  );
  context.log.debug(`re-rank: ${name ?? t`the local order is kept`} (${why})`);
  const first = records.find((record) => qualifiedName(record) === name);
  if (first === undefined) return local;
  return { records: [first, ...records.filter((record) => record !== first)], chosen: true };
}

/** A hit with less than this share of the best score is not what was meant, whatever a model says. */
const NEAR = 0.7;

/**
 * The hits of a search as they should be shown: neighbours of equal score in the order of the ranking, and where several
 * are near, first the one that the model of the client takes for the right one. Otherwise they stay in the order they
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
  // What is of another version than the project stays behind what is its own.
  const { aside, beside } = workspace.catalogue;
  const isOwn = (record: BmadRecord | undefined): boolean => record?.origin !== aside;
  const isFirst = (record: BmadRecord): boolean => isOwn(record) && !beside.has(record.origin);
  const named = hits.slice(0, isNameOf(words, hits[0]?.record) ? 1 : 0);
  const ordered = [...named, ...tiesByRank(hits.slice(named.length), ranking, isFirst)];
  const best = ordered[0]?.score ?? 0;
  const near = ordered
    .slice(0, page.isFirst && !isNameOf(words, ordered[0]?.record) ? page.size : 0)
    .filter(({ score, record }) => score >= best * NEAR && isOwn(record) === isOwn(ordered[0]?.record));
  const { records, chosen } = await reranked(
    words,
    near.map(({ record }) => record),
    context,
    call,
  );
  const first = chosen ? near.find(({ record }) => record === records[0]) : undefined;
  return first === undefined ? ordered : [first, ...ordered.filter((hit) => hit !== first)];
}

function tiesByRank<T extends Scored>(
  hits: readonly T[],
  ranking: Ranking,
  isOwn: (record: BmadRecord) => boolean,
): T[] {
  const runs: T[][] = [];
  for (const hit of hits) {
    const run = runs.at(-1);
    const [first] = run ?? [];
    if (first?.score === hit.score && isOwn(first.record) === isOwn(hit.record)) run?.push(hit);
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
