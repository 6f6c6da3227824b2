import { t } from '../../base/text/message.ts';
import * as z from 'zod';
import { BmadError } from '../../base/errors.ts';
import type { Call, GitSources } from '../context.ts';
import { defineOperation } from '../operation.ts';
import { gitOptions } from './sources-view.ts';

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
    source: z.string().min(1).max(2_000).describe('git+https://…, git+ssh://… or git+file:///…, with #ref'),
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
