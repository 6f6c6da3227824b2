import { t } from '../../base/text/message.ts';
import * as z from 'zod';
import { BmadError } from '../../base/errors.ts';
import { lines } from '../answer-text.ts';
import type { HostScope, HostState } from '../context.ts';
import { defineOperation } from '../operation.ts';
import { dryRunField, forceField, hostsField, refuseWithoutProject, scopeField, yesField } from './setup.ts';
import { byFile, resultLines, resultSchema, resultsOf, type Result } from './setup-view.ts';

export const remove = defineOperation({
  name: 'remove',
  title: 'Disconnect hosts',
  description:
    'Take the entry of this server out of the configuration of hosts. A file that has not changed since is restored to the byte.',
  effect: 'write',
  writes: ({ dry_run: dry }) => dry !== true,
  command: 'remove',
  removes: {
    question: 'Disconnect these hosts?',
    about: 'hosts',
    // Without names, it shows what it has found and asks by itself.
    when: ({ hosts, dry_run: dry }) => hosts !== undefined && dry !== true,
  },
  positional: ['hosts'],
  examples: ['remove cursor', 'remove --dry-run'],
  input: z.strictObject({
    hosts: hostsField,
    scope: scopeField,
    yes: yesField,
    dry_run: dryRunField,
    force: forceField,
  }),
  output: z.object({ dry_run: z.boolean(), results: z.array(resultSchema) }),
  async run({ hosts: names, scope, yes = false, dry_run: dry = false, force = false }, context, call) {
    const { hosts } = await context.hostSetup();
    if (scope !== undefined) refuseWithoutProject(scope, hosts.root);
    const known = names === undefined ? hosts.all : hosts.named(names);
    const scopes: HostScope[] = scope === undefined ? ['user', 'project'] : [scope];
    const all = (await Promise.all(scopes.map((each) => hosts.states(known, each)))).flat();
    const there = all.filter(({ found }) => found === 'ours' || (force && found === 'other'));
    // Whoever names a host learns what is wrong with its file; otherwise only what is ours counts.
    const named = names === undefined ? there : all.filter(({ found }) => found !== 'none');
    const meant = named.length === 0 && names !== undefined ? all.slice(0, known.length) : named;
    if (meant.length === 0)
      throw new BmadError('not_found', t`No host on this machine is connected to this server.`);
    if (names === undefined && !yes && !dry) await confirmed(meant, call.confirm);
    const results: Result[] = [];
    for (const targets of byFile(meant))
      results.push(...(await resultsOf(targets, dry, () => hosts.disconnect(targets, { force, dry }))));
    return { dry_run: dry, results };
  },
  failed: ({ results }) => results.some(({ outcome }) => outcome === 'refused'),
  render: ({ dry_run: dry, results }) => ({
    body: lines(resultLines(results, dry)),
    ...(dry || !results.some(({ outcome }) => outcome === 'removed')
      ? {}
      : { note: t`Restart the hosts that are running.` }),
  }),
});

type Confirm = NonNullable<Parameters<typeof remove.run>[2]['confirm']>;

async function confirmed(meant: readonly HostState[], confirm: Confirm | undefined): Promise<void> {
  const rows = meant.map(({ host, file }) => `- ${host.name}, ${file}`).join('\n');
  if (confirm === undefined)
    throw new BmadError(
      'invalid_input',
      t`This session cannot ask whether all hosts should be disconnected.`,
      {
        hint: t`Name them, or pass --yes: ${[...new Set(meant.map(({ host }) => host.id))].join(', ')}.`,
        steps: [{ operation: 'remove', args: { dry_run: true }, why: t`See what would change` }],
      },
    );
  const answer = await confirm({
    question: t`Disconnect all of them?`,
    details: rows,
    yes: t`Disconnect them`,
  });
  if (!answer.yes) throw new BmadError('cancelled', t`Nothing was changed.`);
}
