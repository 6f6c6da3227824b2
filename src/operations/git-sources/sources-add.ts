import { plural, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { BmadError } from '../../base/errors.ts';
import { isListed, type RecordKind } from '../../model/record.ts';
import { defineOperation } from '../operation.ts';
import { DIFF, gitOptions, short, sourceData, sourceSchema } from './sources-view.ts';

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
    source: z
      .string()
      .min(1)
      .max(2_000)
      .describe(
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
      config: view.from,
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
    body: [
      already
        ? t`Already there: ${source.source}, pinned to ${short(source.commit ?? '')} in ${source.lockFile}`
        : t`Added: ${source.source}, pinned to ${short(source.commit ?? '')} in ${source.lockFile}`,
      ...(source.pending === undefined ? [] : [t`${short(source.pending.commit)} is waiting for approval.`]),
      t`Named in ${config}`,
      t`It has ${contents.map(({ kind, count }) => plural(count, kind, kind === 'knowledge' ? kind : undefined)).join(', ')}.`,
      ...(names.length === 0
        ? []
        : [t`For example: ${names.slice(0, 10).join(', ')}${names.length > 10 ? ', …' : ''}`]),
    ].join('\n'),
    note: t`A running server has already read its configuration: restart it in your host.`,
    steps: [
      ...(source.pending === undefined ? [] : [DIFF]),
      { operation: 'list', args: { what: 'agents' }, why: t`See the new names` },
    ],
  }),
});
