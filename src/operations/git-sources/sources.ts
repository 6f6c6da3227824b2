import * as z from 'zod';
import { BmadError } from '../../base/errors.ts';
import { plural, t } from '../../base/text/message.ts';
import { kilobytes } from '../../base/text/text.ts';
import { isListed, type RecordKind } from '../../model/record.ts';
import { lines } from '../answer-text.ts';
import type { Call, GitSources } from '../context.ts';
import { textUpTo } from '../fields.ts';
import { defineOperation } from '../operation.ts';
import {
  ADD,
  chosenViews,
  DIFF,
  gitOptions,
  relationWords,
  short,
  sourceData,
  sourceField,
  sourceLines,
  sourceSchema,
  UPDATE,
} from './sources-view.ts';
import { present } from '../../base/values.ts';

export const sourcesList = defineOperation({
  name: 'sources_list',
  title: 'List the git sources',
  description:
    'Show every git source: the commit served, its age, what is waiting for approval, what went wrong. Does not contact remotes.',
  effect: 'read',
  command: 'sources list',
  forPeople: true,
  examples: ['sources list', 'sources list --copies'],
  input: z.strictObject({
    copies: z.boolean().default(false).describe('Show the whole cache, including copies for other projects'),
  }),
  output: z.object({
    sources: z.array(sourceSchema),
    copies: z
      .array(
        z.object({
          source: z.string(),
          commit: z.string(),
          digest: z.string(),
          files: z.int(),
          bytes: z.int(),
          folder: z.string(),
          fetchedAt: z.string(),
        }),
      )
      .optional(),
    /** Sources that could not be understood. */
    warnings: z.array(z.string()),
  }),

  async run({ copies: wanted }, context) {
    const team = await context.gitSources();
    const copies = wanted ? await team.cache.list() : undefined;
    return {
      sources: (await team.views(await team.all())).map((view) => sourceData(view, team)),
      copies: copies?.map(({ checkedAt: _checkedAt, fetchedAt, ...copy }) => ({
        ...copy,
        fetchedAt: new Date(fetchedAt).toISOString(),
      })),
      warnings: [...team.warnings],
    };
  },

  render({ sources, copies: kept, warnings }) {
    const copies = kept?.map(
      ({ source, commit, files, bytes, folder }) =>
        `- ${source} ${commit.slice(0, 12)}, ${plural(files, 'file')}, ${kilobytes(bytes)}\n  ${folder}`,
    );
    const body = [
      ...sources.map((source) => sourceLines(source)),
      ...(copies === undefined ? [] : ['', t`In the cache (${copies.length}):`, ...copies]),
      ...warnings.map((warning) => t`Warning: ${warning}`),
    ].join('\n');
    return {
      body: body === '' ? t`No git sources are configured.` : body,
      ...(sources.length === 0 ? {} : { note: `${plural(sources.length, 'source')}.` }),
      steps: [
        ...(sources.some(({ pending }) => pending !== undefined) ? [DIFF] : []),
        sources.length === 0 ? ADD : UPDATE,
      ],
    };
  },
});

const COUNTED = ['agent', 'workflow', 'task', 'skill', 'knowledge'] as const satisfies readonly RecordKind[];

export const sourcesAdd = defineOperation({
  name: 'sources_add',
  title: 'Add a git source',
  description:
    'Fetch a git repository with BMAD content, pin its commit in the lock file, and name it in the configuration.',
  effect: 'write',
  command: 'sources add',
  positional: ['source'],
  examples: [
    'sources add git+https://github.com/acme/bmad-team.git#v1.2.0',
    'sources add git@github.com:acme/mono.git#main:/packs/bmad --level project',
  ],
  input: z.strictObject({
    source: textUpTo(2_000).describe(
      'git+https://…, git+ssh://…, git@host:org/repo.git or git+file:///…, with #ref or #ref:/subpath',
    ),
    level: z
      .enum(['user', 'project'])
      .default('user')
      .describe(
        'Whose configuration and lock file: "user" (yours, for all projects) or "project" (for the team)',
      ),
  }),
  output: z.object({
    source: sourceSchema,
    config: z.string(),
    already: z.boolean().describe('Whether this level already had it'),
    contents: z.array(z.object({ kind: z.string(), count: z.int() })),
    names: z.array(z.string()),
  }),

  async run({ source, level }, context, call) {
    const team = await context.gitSources();
    const address = team.parsed(source);
    if (address.credentials !== undefined)
      throw new BmadError('invalid_input', t`Credentials are not written into a configuration file.`, {
        hint: t`Give the address without them and let git supply them, from a credential helper or an ssh key. For a single run, BMAD_GIT may contain them.`,
      });
    const found = await team.fetched(address, gitOptions(call));
    const { catalogue } = await context.readFolder(found.folder);
    const listed = catalogue.winners.filter(isListed);
    if (listed.length === 0)
      throw new BmadError('not_found', t`${address.source}: it has no BMAD content, so it was not added.`, {
        subject: address.source,
        hint: t`If the content is in a subfolder of the repository, name it: #ref:/subpath.`,
      });
    const already = team.sources.some(
      ({ address: known, layer }) => known.source === address.source && layer === level,
    );
    const view = await team.add(address, level, found);
    return {
      source: sourceData(view, team),
      config: String(view.from),
      already,
      contents: COUNTED.map((kind) => ({ kind, count: catalogue.count(kind) })).filter(
        ({ count }) => count > 0,
      ),
      names: listed
        .filter(({ kind }) => kind === 'agent' || kind === 'workflow')
        .map((record) => catalogue.names.handleOf(record)),
    };
  },

  render: ({ source, config, already, contents, names }) => ({
    body: lines(
      already
        ? t`Already there: ${source.source}, pinned to ${short(source.commit ?? '')} in ${source.lockFile}`
        : t`Added: ${source.source}, pinned to ${short(source.commit ?? '')} in ${source.lockFile}`,
      source.pending !== undefined && t`${short(source.pending.commit)} is waiting for approval.`,
      t`Named in ${config}`,
      t`It has ${contents.map(({ kind, count }) => plural(count, kind, kind === 'knowledge' ? kind : undefined)).join(', ')}.`,
      names.length > 0 && t`For example: ${names.slice(0, 10).join(', ')}${names.length > 10 ? ', …' : ''}`,
    ),
    note: t`Running servers serve it from the next call.`,
    steps: [
      ...(source.pending === undefined ? [] : [DIFF]),
      { operation: 'list', args: { what: 'agents' }, why: t`See the new names` },
    ],
  }),
});

export const sourcesRemove = defineOperation({
  name: 'sources_remove',
  title: 'Remove a git source',
  description:
    'Remove a git source from the configuration and the lock file that name it. The cache keeps its copy.',
  effect: 'write',
  command: 'sources remove',
  picks: { source: 'source' },
  removes: { question: 'Remove this source?', about: 'source' },
  positional: ['source'],
  examples: ['sources remove bmad-team'],
  input: z.strictObject({
    source: textUpTo(2_000).describe('Source as it was given, or the name of its repository'),
  }),
  output: z.object({ source: z.string(), config: z.string().optional(), lockFile: z.string() }),

  async run({ source }, context) {
    const team = await context.gitSources();
    const chosen = team.named(source, await team.all());
    const config = await team.remove(chosen);
    return {
      source: chosen.address.source,
      ...present({ config }),
      lockFile: team.lockFile(chosen.layer),
    };
  },

  render: ({ source, config, lockFile }) => ({
    body:
      config === undefined
        ? t`Removed ${source} from ${lockFile}`
        : t`Removed ${source} from ${config} and ${lockFile}`,
    note: t`Running servers leave it out from the next call.`,
    steps: [{ operation: 'sources_clear', why: t`Remove copies that nothing uses` }],
  }),
});

const resultSchema = z.object({
  outcome: z.enum(['pinned', 'unchanged', 'pending', 'approved', 'failed']),
  /** The commit that was approved before. */
  before: z.string().optional(),
  hint: z.string().optional(),
  source: sourceSchema,
});
type Result = z.output<typeof resultSchema>;

export const sourcesUpdate = defineOperation({
  name: 'sources_update',
  title: 'Check git sources for changes',
  description:
    'Contact the remotes and fetch what is new. A new source is pinned; changes to a pinned one wait for approval.',
  effect: 'write',
  command: 'sources update',
  forPeople: true,
  positional: ['source'],
  examples: ['sources update', 'sources update team'],
  input: z.strictObject({ source: sourceField }),
  output: z.object({ results: z.array(resultSchema), ok: z.boolean() }),

  async run({ source }, context, call) {
    const team = await context.gitSources();
    const views = await chosenViews(team, source);
    const results = await team.update(views, {}, gitOptions(call));
    return {
      results: results.map(({ view, outcome, before, error }) => ({
        outcome,
        ...present({ before, hint: error?.hint }),
        source: sourceData(view, team),
      })),
      ok: results.every(({ outcome }) => outcome !== 'failed'),
    };
  },

  failed: ({ ok }) => !ok,

  render({ results }) {
    const waiting = results.filter(({ outcome }) => outcome === 'pending').length;
    return {
      body: results.map(resultLine).join('\n'),
      note:
        waiting > 0
          ? t`The approved version is still served.`
          : results.some(({ outcome }) => outcome === 'approved' || outcome === 'pinned')
            ? t`Running servers serve it from the next call.`
            : t`The earlier content is still served.`,
      steps: waiting > 0 ? [DIFF] : [],
    };
  },
});

function resultLine({ outcome, before, hint, source }: Result): string {
  const commit = source.commit === undefined ? '' : short(source.commit);
  const pending = source.pending === undefined ? '' : short(source.pending.commit);
  const words: Record<Result['outcome'], string> = {
    pinned: t`pinned to ${commit}, ${plural(source.files ?? 0, 'file')}`,
    unchanged:
      before === undefined || before === source.commit
        ? t`unchanged at ${commit}`
        : t`now at ${commit}, with the same content as ${short(before)}`,
    pending: t`${pending} WAITS FOR APPROVAL (${relationWords(source.pending?.relation)}); ${commit} is served`,
    approved: t`now served: ${commit} instead of ${short(before ?? '')}`,
    failed: t`FAILED: ${source.trouble ?? ''}${source.commit !== undefined && source.files !== undefined ? t` The copy of ${commit} is still served.` : ''}${hint === undefined ? '' : ` ${hint}`}`,
  };
  return t`- ${source.source}: ${words[outcome]}`;
}

export const sourcesClear = defineOperation({
  name: 'sources_clear',
  title: 'Clear the git source cache',
  description:
    'Remove copies of git sources that nothing here uses, or all copies, which are then fetched again when needed. Lock files stay.',
  effect: 'destroy',
  command: 'sources clear',
  removes: { question: 'Remove these copies from the cache?' },
  examples: ['sources clear'],
  input: z.strictObject({
    all: z
      .boolean()
      .default(false)
      .describe('Also remove the copies in use; they need the network to be fetched again'),
  }),
  output: z.object({ copies: z.int(), bytes: z.int(), configured: z.int() }),

  async run({ all }, context) {
    const team = await context.gitSources();
    const cleared = await team.cache.clear(all ? [] : await team.kept());
    return { ...cleared, configured: (await team.views()).length };
  },

  render: ({ copies, bytes, configured }) => ({
    body: t`Removed ${plural(copies, 'copy', 'copies')}, ${kilobytes(bytes)}.`,
    steps: configured === 0 ? [] : [{ ...UPDATE, why: t`Fetch what is configured` }],
  }),
});

/**
 * For programs: the folder with the content of a git source. A source that is configured here gives what is approved,
 * as it is served; any other what its remote has now, and the last copy when the remote does not answer.
 */
export const sourcesResolve = defineOperation({
  name: 'sources_resolve',
  title: 'Find the folder of a git source',
  description: 'The local folder with the content of a git source, fetched if necessary.',
  effect: 'write',
  input: z.strictObject({
    source: textUpTo(2_000).describe('git+https://…, git+ssh://… or git+file:///…, with #ref'),
  }),
  output: z.object({ source: z.string(), folder: z.string(), commit: z.string() }),

  async run({ source }, context, call) {
    const team = await context.gitSources();
    const address = team.parsed(source);
    const { username, password } = address.credentials ?? { username: '', password: '' };
    // A name alone is a token; with a password, it is only a name.
    context.secrets.add(password === '' ? username : password);
    const { folder, commit } =
      (await served(address.source, team, call)) ?? (await latest(address, team, call));
    return { source: address.source, folder, commit };
  },

  render: ({ folder }) => ({ body: folder }),
});

type Address = ReturnType<GitSources['parsed']>;
type Copy = Awaited<ReturnType<GitSources['fetched']>>;

/** The approved content of a configured source; nothing when it is not configured. */
async function served(source: string, team: GitSources, call: Call): Promise<Copy | undefined> {
  const configured = team.sources.find(({ address }) => address.source === source);
  if (configured === undefined) return undefined;
  const [view] = await team.views([configured]);
  if (view?.served !== undefined) return view.served;
  const [result] = await team.update([configured], {}, gitOptions(call));
  if (result?.view.served !== undefined) return result.view.served;
  throw (
    result?.error ??
    new BmadError('unavailable', result?.view.trouble ?? t`${source} is not served.`, {
      subject: source,
      steps: [{ operation: 'sources_list', why: t`List the git sources` }],
    })
  );
}

async function latest(address: Address, team: GitSources, call: Call): Promise<Copy> {
  try {
    return await team.fetched(address, gitOptions(call));
  } catch (error) {
    if (!(error instanceof BmadError) || error.code !== 'unavailable' || call.signal.aborted) throw error;
    const { cache } = team;
    const seen = (await cache.sighting(address))?.commit;
    const kept = seen === undefined ? undefined : await cache.snapshot(address, seen);
    if (kept === undefined) throw error;
    return kept;
  }
}
