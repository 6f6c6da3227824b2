import { plural, t } from '../../base/text/message.ts';
import type { Workspace, Call, Context, Ranking } from '../context.ts';
import type { ModuleInfo } from '../../model/module.ts';
import {
  type BmadRecord,
  qualifiedName,
  type RecordKind,
  shortName,
  STARTABLE,
  type Origin,
} from '../../model/record.ts';
import { basename } from 'node:path';
import { attempt, BmadError, orElse, quoted } from '../../base/errors.ts';
import { contentPath } from '../../base/files/paths.ts';
import type { Step } from '../../base/step.ts';
import { present } from '../../base/values.ts';
import { fold } from '../../base/text/suggest.ts';
import { ago, oneLine } from '../../base/text/text.ts';

/** What a caller may ask for by name. Plain skills and tasks are started like workflows. */
export const NAMED_KINDS = ['agent', 'workflow', 'task'] as const;
type NamedKind = (typeof NAMED_KINDS)[number];

/** The kinds that are meant when a caller says `agent`, `workflow` or `task`, the likeliest first. */
export const KINDS_OF: Record<NamedKind, readonly RecordKind[]> = {
  agent: ['agent'],
  workflow: ['workflow', 'task', 'tool', 'skill'],
  task: ['task', 'tool', 'skill', 'workflow'],
};

/** Anything with a name can be read; only some of it can be started. */
export const READABLE: readonly RecordKind[] = [...STARTABLE, 'knowledge', 'template', 'checklist', 'team'];

export interface NamedTarget {
  name: string;
  kind?: NamedKind | undefined;
  module?: string | undefined;
  fuzzy: boolean;
}

/** Finds the record a name stands for and writes to the log how it was chosen. */
export function findRecord(
  { name, kind, module, fuzzy }: NamedTarget,
  workspace: Workspace,
  context: Context,
): BmadRecord {
  const kinds = kindsOf({ name, kind, fuzzy });
  return resolved({ name, kinds, module, fuzzy }, workspace, context);
}

/** The kinds that a caller means. */
export function kindsOf({ name, kind, fuzzy }: NamedTarget): readonly RecordKind[] {
  const starred = name.trim().startsWith('*');
  const wanted = kind ?? (starred ? 'workflow' : undefined);
  return wanted !== undefined ? KINDS_OF[wanted] : fuzzy ? READABLE : STARTABLE;
}

function resolved(
  query: Omit<NamedTarget, 'kind'> & { kinds: readonly RecordKind[] },
  workspace: Workspace,
  { log }: Context,
): BmadRecord {
  const choice = workspace.catalogue.names.resolve(query);
  log.debug(() => workspace.catalogue.traceOf(choice));
  const record = launched(choice.record, workspace);
  log.debug(`reading file ${record.absolutePath} from ${record.origin.displayName}`);
  return record;
}

/** What else has the name that was asked for, where the method's was meant: one line, each with the call that means it. */
export function alsoNamed(
  { name, kind, module, fuzzy }: NamedTarget,
  meant: BmadRecord,
  { catalogue }: Workspace,
  call: (record: BmadRecord) => string,
): string | undefined {
  const query = { name, kinds: kindsOf({ name, kind, fuzzy }), module, fuzzy };
  const choice = attempt(() => catalogue.names.resolve(query), orElse(undefined));
  if (choice?.record !== meant || choice.others.length === 0) return undefined;
  const told = choice.others.map((record) => {
    const known = catalogue.modules.find(({ code }) => code === record.moduleName)?.name;
    const about = known === undefined || known === record.moduleName ? '' : ` (${known})`;
    return `${qualifiedName(record)}${about}: ${call(record)}`;
  });
  return t`Also of that name: ${told.join('; ')}.`;
}

/** What an agent or workflow is started with. */
export function startOf(record: BmadRecord): { name: string; kind: 'agent' | 'workflow' } {
  return { name: qualifiedName(record), kind: record.kind === 'agent' ? 'agent' : 'workflow' };
}

/** A launcher only tells the model to load another file of the same install; what it launches is what is meant. */
function launched(record: BmadRecord, { catalogue }: Workspace): BmadRecord {
  if (record.launches === undefined) return record;
  const target = catalogue.callable.find(
    ({ bmadRelativePath, origin }) => bmadRelativePath === record.launches && origin === record.origin,
  );
  return target ?? record;
}

/**
 * `bmad://agents/architect`, `bmad://workflows/bmm/prd` and `bmad://knowledge/risk-governance` stand for the main file
 * of what has that name. A second part makes it a qualified name, unless it looks like a file.
 */
const NAMED_URI = /^(agents|workflows|knowledge)\/([^/]+(?:\/[^/.]+)?)$/;
const KINDS_IN_URI: Record<string, readonly RecordKind[]> = {
  agents: KINDS_OF.agent,
  workflows: KINDS_OF.workflow,
  knowledge: ['knowledge'],
};

/** A content path, and the origin it is meant from where that is not simply the first that has it. */
interface FilePlace {
  path: string;
  from?: Origin;
}

/** The file a URI or path stands for. */
export async function findFile(uri: string, workspace: Workspace, context: Context): Promise<FilePlace> {
  // A folder may be written with a slash behind it, and is answered as the folder that it is.
  const path = await insideRoot(contentPath(uri.replace(/^(bmad:.*[^/])\/$/i, '$1')), workspace);
  const named = NAMED_URI.exec(path);
  if (named === null || (await workspace.delivery.paths()).has(path)) return { path };
  const [, group = '', name = ''] = named;
  return mainFile(
    resolved({ name, kinds: KINDS_IN_URI[group] ?? READABLE, fuzzy: false }, workspace, context),
  );
}

/** Manifests write the folder of BMAD in front of a path: `_bmad/bmm/config.yaml` is `bmm/config.yaml`. */
async function insideRoot(path: string, { catalogue, delivery }: Workspace): Promise<string> {
  const slash = path.indexOf('/');
  const [first, rest] = [path.slice(0, slash), path.slice(slash + 1)];
  const isRoot =
    slash > 0 &&
    (/^[_.]?bmad$/.test(first) || catalogue.sources.some(({ origin }) => basename(origin.root) === first));
  if (!isRoot) return path;
  const known = await delivery.paths();
  // Also for a file that is not there: what there is beside it can be named then.
  return [...known.keys()].some((each) => each.startsWith(`${first}/`)) ? path : rest;
}

/** The main file of a record, as the record's own origin has it. */
export function mainFile({ bmadRelativePath, origin }: BmadRecord): FilePlace {
  return { path: bmadRelativePath, from: origin };
}

/**
 * Whether a target without a kind is a file: it has a scheme, or it is a path that exists. Anything else is taken for
 * a name, because `bmm/architect` looks like a path too.
 */
export async function isFile(target: string, workspace: Workspace): Promise<boolean> {
  if (/^[a-z][a-z0-9+.-]*:/i.test(target)) return true;
  try {
    const path = contentPath(target);
    return (
      path.startsWith('rendered/') ||
      (await workspace.delivery.paths()).has(path) ||
      /\.[a-z0-9]{1,5}$/i.test(path)
    );
  } catch (error) {
    // No name looks like a path that leads somewhere else, so it is refused as the path it is.
    if (error instanceof BmadError) return LEADS_AWAY.test(target);
    throw error;
  }
}

const LEADS_AWAY = /^\/|\\|%|(?:^|\/)\.{1,2}(?:\/|$)/;

export interface NameRequest {
  /** The operation that asks, for the next call. */
  operation: 'execute' | 'read' | 'explain' | 'compile_context';
  /** The call, where the model of its client may be asked. */
  call?: Call;
  /** What the caller said beside the name. */
  words?: string | undefined;
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
  const { winners, modules } = workspace.catalogue;
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
    ...present({ subject: error.subject }),
    suggestions: records.map(qualifiedName),
    differences: differencesOf(records, modules),
    hint:
      reason === undefined
        ? t`Nothing tells which one is meant: choose by what they are for, or ask the user.`
        : t`Most likely ${qualifiedName(best)}: ${reason}.`,
    steps: [choiceOf(reason === undefined ? undefined : best, records, asked.operation)],
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

/** The call that says which one is meant; where nothing speaks for one, the names are listed above it. */
function choiceOf(
  best: BmadRecord | undefined,
  records: readonly BmadRecord[],
  operation: NameRequest['operation'],
): Step {
  const argument = operation === 'execute' || operation === 'compile_context' ? 'name' : 'target';
  if (best !== undefined) {
    const { name, kind } = startOf(best);
    return { operation, args: { [argument]: name, kind }, why: t`Choose it` };
  }
  const kinds = new Set(records.map((record) => startOf(record).kind));
  const [kind] = kinds.size === 1 ? kinds : [];
  return { operation, args: present({ kind }), open: [argument], why: t`Choose one` };
}

interface Scored {
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

const DESCRIPTION_LENGTH = 90;
/** So many words that all share are worth leaving out. */
const SHARED_WORDS = 2;

/**
 * What tells records of one name apart, one text for each, as short as it can be: only what is not the same for all, and
 * the description only where neither their titles nor the names of their modules tell what each is for.
 */
export function differencesOf(
  records: readonly BmadRecord[],
  modules: readonly Pick<ModuleInfo, 'code' | 'name'>[] = [],
): string[] {
  const titles = records.map(({ title, displayName, name }) => title ?? displayName ?? name);
  const named = records.map(
    ({ moduleName }) => modules.find(({ code, name }) => code === moduleName && name !== code)?.name ?? '',
  );
  const fields = [
    titles,
    named,
    records.map(({ kind }) => kind),
    records.map(({ phase }) => phase ?? ''),
    records.map(({ origin }) => origin.displayName),
  ].filter(isTelling);
  // A phase or an origin is no description of what something is for.
  const isDescribed = fields.some((values) => tellsAll(values) && (values === titles || values === named));
  const texts = isDescribed ? fields : [...fields, descriptions(records)].filter(isTelling);
  return records.map((_, index) =>
    texts
      .map((values) => values[index] ?? '')
      .filter(Boolean)
      .join(', '),
  );
}

function isTelling(values: readonly string[]): boolean {
  return new Set(values).size > 1;
}

function tellsAll(values: readonly string[]): boolean {
  return new Set(values).size === values.length;
}

/** The descriptions without the words that all of them begin or end with. */
function descriptions(records: readonly BmadRecord[]): string[] {
  const texts = records.map(({ description }) => description.trim().split(/\s+/));
  const from = sharedWords(texts);
  const rests = texts.map((words) => words.slice(from));
  const to = sharedWords(rests.map((words) => words.toReversed()));
  return rests.map((words) => {
    const own = words.slice(0, words.length - to).join(' ');
    if (own === '') return '';
    return oneLine(`${from === 0 ? '' : '…'}${own}${to === 0 ? '' : '…'}`, DESCRIPTION_LENGTH);
  });
}

/** How many words all texts begin with; none where leaving them out is hardly worth a mark. */
function sharedWords([first = [], ...others]: readonly (readonly string[])[]): number {
  const differs = first.findIndex((word, at) => others.some((words) => words[at] !== word));
  const shared = differs < 0 ? first.length : differs;
  return shared < SHARED_WORDS ? 0 : shared;
}
