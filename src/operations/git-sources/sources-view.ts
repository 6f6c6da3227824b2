import { plural, say, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { BmadError } from '../../base/errors.ts';
import type { Step } from '../../base/step.ts';
import { ago } from '../../base/text/text.ts';
import { present, those } from '../../base/values.ts';
import { lines } from '../answer-text.ts';
import { textUpTo } from '../fields.ts';
import type { Call, SourceView, GitSources } from '../context.ts';

/** The name of a source in a command; without it, all of them. */
export const sourceField = textUpTo(2_000)
  .optional()
  .describe('Source as it was given, or the name of its repository; default: all');

export const sourceSchema = z.object({
  source: z.string(),
  state: z
    .enum(['served', 'update waits', 'not fetched', 'not served', 'not configured here'])
    .describe('Whether its content is served, and whether newer content is waiting for approval'),
  /** Who names it: the flag, the variable, the file. */
  from: z.string(),
  lockFile: z.string(),
  commit: z.string().optional().describe('The approved commit'),
  digest: z.string().optional(),
  files: z.int().optional(),
  bytes: z.int().optional(),
  fetchedAt: z.string().optional(),
  checkedAt: z.string().optional().describe('When its remote last answered'),
  pending: z.object({ commit: z.string(), relation: z.string().optional() }).optional(),
  /** What of the repository is not taken: submodules, links that lead out, names that cannot be served. */
  skipped: z.array(z.string()),
  trouble: z.string().optional(),
});
export type SourceData = z.output<typeof sourceSchema>;

const iso = (time: number): string => new Date(time).toISOString();

export function sourceData(view: SourceView, team: GitSources): SourceData {
  const { address, layer, from, pin, served, pending, relation, sighting, trouble } = view;
  return {
    source: address.source,
    state: view.elsewhere
      ? 'not configured here'
      : served === undefined
        ? trouble === undefined
          ? 'not fetched'
          : 'not served'
        : pending === undefined
          ? 'served'
          : 'update waits',
    from: String(from),
    lockFile: team.lockFile(layer),
    ...present({
      commit: pin?.commit,
      digest: pin?.digest,
      files: served?.files,
      bytes: served?.bytes,
      fetchedAt: served && iso(served.fetchedAt),
      checkedAt: sighting?.checkedAt === undefined ? undefined : iso(sighting.checkedAt),
      trouble,
    }),
    pending: pending && { commit: pending.commit, relation },
    skipped: served?.skipped ?? [],
  };
}

/** What a person can do about git sources. */
export const ADD: Step = {
  operation: 'sources_add',
  args: { source: 'git+https://host/org/repo.git#ref' },
  why: 'Add one',
};
export const UPDATE: Step = { operation: 'sources_update', why: 'Ask the remotes' };
export const DIFF: Step = { operation: 'sources_diff', why: 'See what changes' };

/** Exactly the commit that was shown. */
export const approvingCommit = (source: string, commit: string): Step => ({
  operation: 'sources_approve',
  args: { source, commit: short(commit) },
  why: t`Approve exactly this commit`,
});

/** The sources that are meant: the named one, or all; an error when there is none at all. */
export async function chosenViews(team: GitSources, name: string | undefined): Promise<SourceView[]> {
  const sources = await team.all();
  if (sources.length === 0)
    throw new BmadError('not_found', t`No git sources are configured.`, {
      steps: [ADD],
    });
  return team.views(name === undefined ? sources : [team.named(name, sources)]);
}

/** Whether something waits cannot be told of a source that is not served because something is wrong with it. */
export function checkKnown(views: readonly SourceView[]): void {
  const unknown = views.find(({ served, trouble }) => served === undefined && trouble !== undefined);
  if (unknown !== undefined)
    throw new BmadError('unavailable', t`${unknown.address.source}: ${unknown.trouble ?? ''}`, {
      subject: unknown.address.source,
      steps: [UPDATE],
    });
}

/** What git needs to know of a call: when to stop, and whom to tell how far it is. */
export function gitOptions(call: Call): { signal: AbortSignal; progress: (message: string) => void } {
  return { signal: call.signal, progress: (message) => call.progress(message) };
}

export const short = (commit: string): string => commit.slice(0, 12);

const RELATIONS: Record<string, string> = {
  continued: 'new commits',
  rewritten: 'HISTORY REWRITTEN since the approved commit',
  'moved tag': 'TAG MOVED since it was approved',
  'approved elsewhere': "approved elsewhere: the project's lock file names it",
  unknown: 'changed',
};

export function relationWords(relation: string | undefined): string {
  return say(RELATIONS[relation ?? 'unknown'] ?? 'changed');
}

/** A source as people read it. */
export function sourceLines(data: SourceData): string {
  const since = (text: string): string => ago(Date.parse(text), Date.now());
  return lines(
    `- ${data.source}`,
    data.commit === undefined
      ? `  ${say(data.state)}`
      : `  ${those(
          t`${say(data.state === 'update waits' ? 'served' : data.state)}: commit ${short(data.commit)}`,
          data.files !== undefined && plural(data.files, 'file'),
          data.fetchedAt !== undefined && t`fetched ${since(data.fetchedAt)}`,
          data.checkedAt !== undefined && t`remote asked ${since(data.checkedAt)}`,
        ).join(', ')}`,
    data.pending !== undefined &&
      t`  WAITS FOR APPROVAL: ${short(data.pending.commit)} (${relationWords(data.pending.relation)})`,
    t`  from ${data.from}, pinned in ${data.lockFile}`,
    data.trouble !== undefined && t`  trouble: ${data.trouble}`,
    data.skipped.length > 0 &&
      t`  left out: ${data.skipped.slice(0, 5).join('; ')}${data.skipped.length > 5 ? t`; and ${data.skipped.length - 5} more` : ''}`,
  );
}
