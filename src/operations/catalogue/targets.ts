import { t } from '../../base/text/message.ts';
import { basename } from 'node:path';
import { BmadError } from '../../base/errors.ts';
import { contentPath } from '../../base/files/paths.ts';
import type { Step } from '../../base/step.ts';
import type { Origin } from '../../model/origin.ts';
import { qualifiedName, STARTABLE, type BmadRecord, type RecordKind } from '../../model/record.ts';
import type { Context, ServerPort, Workspace } from '../context.ts';

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
  { log }: ServerPort,
): BmadRecord {
  try {
    const choice = workspace.catalogue.names.resolve(query);
    log.debug(workspace.catalogue.traceOf(choice));
    return launched(choice.record, workspace);
  } catch (error) {
    throw withAbsent(error, workspace);
  }
}

/** What cannot be found may be in a git source that is not here yet. */
function withAbsent(error: unknown, { absent }: Workspace): unknown {
  if (!(error instanceof BmadError) || error.code !== 'not_found' || absent.length === 0) return error;
  const { note, steps } = absentWords(absent);
  return error.with({
    hint: [error.hint, note].filter(Boolean).join(' '),
    steps: [...error.steps, ...steps],
    cause: error,
  });
}

/** What to say of git sources that have not been fetched, and how to learn why. */
export function absentWords(absent: readonly string[] = []): { note?: string; steps: Step[] } {
  if (absent.length === 0) return { steps: [] };
  const [only] = absent;
  return {
    note:
      absent.length === 1
        ? t`Not included: ${only}, which has not been fetched yet.`
        : t`Not included: ${absent.join(', ')}, which have not been fetched yet.`,
    steps: [{ operation: 'doctor', why: t`See why` }],
  };
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
export interface FilePlace {
  path: string;
  from?: Origin;
}

/** The file a URI or path stands for. */
export async function findFile(uri: string, workspace: Workspace, context: Context): Promise<FilePlace> {
  const path = await insideRoot(contentPath(uri), workspace);
  const named = NAMED_URI.exec(path);
  if (named === null || (await workspace.delivery.paths()).some((known) => known.path === path))
    return { path };
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
  const known = (await delivery.paths()).map((each) => each.path);
  // Also for a file that is not there: what there is beside it can be named then.
  return known.some((each) => each.startsWith(`${first}/`)) ? path : rest;
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
      (await workspace.delivery.paths()).some((known) => known.path === path) ||
      /\.[a-z0-9]{1,5}$/i.test(path)
    );
  } catch (error) {
    // No name looks like a path that leads somewhere else, so it is refused as the path it is.
    if (error instanceof BmadError) return LEADS_AWAY.test(target);
    throw error;
  }
}

const LEADS_AWAY = /^\/|\\|%|(?:^|\/)\.{1,2}(?:\/|$)/;
