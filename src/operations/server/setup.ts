import * as z from 'zod';
import { BmadError, ours } from '../../base/errors.ts';
import type { Step } from '../../base/step.ts';
import { plural, say, t } from '../../base/text/message.ts';
import { present, those } from '../../base/values.ts';
import { stepsField, textUpTo } from '../fields.ts';
import { lines } from '../answer-text.ts';
import type { Call, Context, HostScope, HostSetup, HostState } from '../context.ts';
import { defineOperation } from '../operation.ts';
import { hostLines, hostsSchema, isWell } from './doctor-text.ts';
import { isListed, shortName } from '../../model/record.ts';
import {
  askedFor,
  type Asking,
  byFile,
  FIRST_WISH,
  firstWords,
  isConnected,
  plainResult,
  type Result,
  resultLines,
  resultSchema,
  restLines,
  resultsOf,
} from './setup-text.ts';

const hostsField = z
  .array(textUpTo(40))
  .max(40)
  .optional()
  .describe('Hosts, such as claude-code, cursor or codex');
const scopeField = z
  .enum(['user', 'project'])
  .optional()
  .describe('For all your projects (user), or for this one (project)');
const forceField = z.boolean().optional().describe('Replace an entry of the same name that is not ours');
const yesField = z.boolean().optional().describe('Ask nothing');
const dryRunField = z.boolean().optional().describe('Only show what would change');

const handshakeSchema = z.object({
  hosts: z.array(z.string()),
  ok: z.boolean(),
  tools: z.int(),
  trouble: z.string().optional(),
});

export const setup = defineOperation({
  name: 'setup',
  title: 'Connect hosts',
  description:
    'Connect this server to the MCP hosts on this machine: put an entry into their configuration, change nothing else there, and check that it starts.',
  effect: 'write',
  writes: ({ dry_run: dry, print }) => dry !== true && print !== true,
  command: 'setup',
  positional: ['hosts'],
  examples: ['setup', 'setup claude-code cursor --dry-run', 'setup codex --print'],
  input: z.strictObject({
    hosts: hostsField,
    scope: scopeField,
    yes: yesField,
    dry_run: dryRunField,
    print: z.boolean().optional().describe('Print the text to paste, and write nothing'),
    force: forceField.describe(
      'Replace an entry of the same name that is not ours, or keep what a project has added to ours',
    ),
  }),
  output: z.object({
    dry_run: z.boolean(),
    results: z.array(resultSchema),
    handshakes: z.array(handshakeSchema),
    /** Other things that were written, in words. */
    notes: z.array(z.string()),
  }),
  async run(
    { hosts: names, scope = 'user', yes = false, dry_run: dry = false, print = false, force = false },
    context,
    call,
  ) {
    const found = await context.hostSetup();
    const { hosts } = found;
    refuseWithoutProject(scope, hosts.root);
    const known = names === undefined ? hosts.all : hosts.named(names);
    const states = await hosts.states(known, scope);
    if (names !== undefined) refuseWithoutScope(known, states, scope);
    const notes: string[] = [];
    const chosen =
      names !== undefined
        ? states
        : await chosenOf(states, yes || dry || print, { context, found, notes }, call);
    if (print)
      return { dry_run: dry, results: chosen.map((state) => printed(state, found)), handshakes: [], notes };
    const results: Result[] = [];
    for (const targets of byFile(chosen))
      results.push(...(await resultsOf(targets, dry, () => hosts.connect(targets, { force, dry }))));
    for (const state of chosen) {
      const result = results.find(({ host }) => host === state.host.id);
      if (result !== undefined && isConnected(result))
        await completed(result, state, found, { context, dry });
    }
    const handshakes = dry ? [] : await shaken(chosen, results, found, call);
    return { dry_run: dry, results, handshakes, notes };
  },
  failed: ({ results, handshakes }) =>
    results.some(({ problem }) => problem !== undefined) || handshakes.some(({ ok }) => !ok),
  render({ dry_run: dry, results, handshakes, notes }) {
    const connected = results.filter(isConnected);
    const rest = restLines(connected).map((text) => `- ${text}`);
    const scope = connected.some((each) => each.scope === 'project') ? { scope: 'project' } : {};
    const refused = results.filter(({ outcome }) => outcome === 'refused').map(({ host }) => host);
    const isDone = !dry && connected.length > 0;
    const steps = those<Step>(
      refused.length > 0 && {
        operation: 'setup',
        args: { hosts: refused, print: true },
        why: t`Print the text to paste by hand`,
      },
      handshakes.some(({ ok }) => !ok) && {
        operation: 'doctor',
        args: { hosts: true },
        why: t`See what is wrong with the hosts`,
      },
      isDone && {
        operation: 'remove',
        args: { hosts: connected.map(({ host }) => host), ...scope },
        why: t`Undo it`,
      },
    );
    return {
      body: lines(
        resultLines(results, dry),
        handshakes.map(({ hosts, ok, tools, trouble }) =>
          ok
            ? t`Handshake passed, ${plural(tools, 'tool')}: ${hosts.join(', ')}`
            : t`Handshake FAILED for ${hosts.join(', ')}: ${trouble ?? ''}`,
        ),
        notes,
        !dry && rest.length > 0 && [t`Still to do:`, ...rest],
        isDone && [firstWords(connected), `> ${say(FIRST_WISH)}`],
      ),
      steps,
    };
  },
});

const EXAMPLE_HOST = 'claude-code';

/** All that are installed, or those of them that the person picks. */
async function chosenOf(
  states: HostState[],
  quiet: boolean,
  asking: Pick<Asking, 'context' | 'found' | 'notes'>,
  { ask, choose }: Call,
): Promise<HostState[]> {
  const { hosts } = asking.found;
  const installed = states.filter((state) => state.installed);
  if (!quiet && ask !== undefined && choose !== undefined)
    return askedFor(states, { ...asking, ask, choose });
  if (installed.length === 0)
    throw new BmadError('not_found', t`No host was found on this machine.`, {
      hint: t`Name the ones to set up anyway: ${hosts.all.map(({ id }) => id).join(', ')}.`,
      steps: [
        { operation: 'setup', args: { hosts: [EXAMPLE_HOST] }, why: t`For example` },
        {
          operation: 'setup',
          args: { hosts: [EXAMPLE_HOST], print: true },
          why: t`Only print the text to paste`,
        },
      ],
    });
  if (quiet) return installed;
  throw new BmadError('invalid_input', t`This session cannot ask which hosts to connect.`, {
    hint: t`Name them, or connect all that were found with --yes: ${installed.map(({ host }) => host.id).join(', ')}.`,
    steps: [{ operation: 'setup', args: { dry_run: true }, why: t`See what would change` }],
  });
}

function refuseWithoutProject(scope: 'user' | 'project', root: string | undefined): void {
  if (scope === 'user' || root !== undefined) return;
  throw new BmadError('invalid_input', t`There is no project here to connect hosts for.`, {
    hint: t`Run it in the folder of a project, or name the folder with --project.`,
  });
}

function refuseWithoutScope(
  known: readonly { id: string; name: string }[],
  states: readonly HostState[],
  scope: 'user' | 'project',
): void {
  const without = known.filter(({ id }) => !states.some(({ host }) => host.id === id));
  if (without.length === 0) return;
  const other = scope === 'user' ? 'project' : 'user';
  throw new BmadError(
    'invalid_input',
    t`${without.map(({ name }) => name).join(', ')}: there is no configuration with the scope ${scope}.`,
    { hint: t`Use --scope ${other}.` },
  );
}

function printed(state: HostState, { hosts }: HostSetup): Result {
  const { own } = state.host;
  const { command, args } = hosts.start;
  return {
    ...plainResult(state),
    outcome: 'printed',
    text: hosts.printed(state),
    ...(own === undefined || !own.endsWith('--') ? {} : { own: [own, command, ...args].join(' ') }),
  };
}

/** A command that cannot be read or written is told of; the entry is in its file all the same. */
async function setCommands(result: Result, work: () => Promise<string[]>): Promise<void> {
  const commands = await work().catch(
    ours(({ message, hint }) => {
      result.problem = [message, hint].filter(Boolean).join(' ');
      return [];
    }),
  );
  if (commands.length > 0) result.commands = commands;
}

/** The commands that a host has beside the entry, and what is left to do there, by what its own settings say. */
async function completed(
  result: Result,
  state: HostState,
  { hosts }: HostSetup,
  { context, dry }: { context: Context; dry: boolean },
): Promise<void> {
  if (state.host.commands !== undefined) {
    const { records } = (await context.workspace()).catalogue;
    // Those of BMAD itself: a command is there in all projects, and modules and projects differ.
    const agents = records
      .filter(
        ({ kind, origin, ...record }) =>
          kind === 'agent' &&
          origin.kind === 'package' &&
          origin.repository === undefined &&
          isListed(record),
      )
      .map(({ name, displayName, title }) => ({
        name: shortName(name),
        who: [displayName, title].filter(Boolean).join(', '),
      }));
    await setCommands(result, () => hosts.commands(state, agents, dry));
  }
  if (dry) return;
  const checks = (await hosts.inspect(state)).filter(({ level, fix }) => level !== 'ok' && fix !== undefined);
  const after = those(
    state.host.after !== undefined && say(state.host.after),
    checks.map(({ text, fix = '' }) => `${text} ${fix}`),
  );
  if (after.length > 0) result.after = after;
}

/** Each entry is read again and started exactly as it is written; what is the same in several files, once. */
async function shaken(
  states: readonly HostState[],
  results: readonly Result[],
  { hosts, handshake, home }: HostSetup,
  call: Call,
) {
  const groups = new Map<
    string,
    { start: NonNullable<Awaited<ReturnType<typeof hosts.written>>>['start']; names: string[] }
  >();
  for (const state of states) {
    const result = results.find(({ host }) => host === state.host.id);
    if (result === undefined || result.outcome === 'refused') continue;
    const written = await hosts.written(state);
    if (written?.mayStart !== true) continue;
    const { start } = written;
    const key = JSON.stringify(start);
    const group = groups.get(key) ?? { start, names: [] };
    group.names.push(state.host.name);
    groups.set(key, group);
  }
  const all = [];
  for (const { start, names } of groups.values()) {
    call.progress(t`starting the server as ${names.join(', ')} will`);
    const told = await handshake(start, hosts.root ?? home, call.signal).catch(
      ours(({ message }) => ({ ok: false, tools: [], trouble: message })),
    );
    const { ok, tools, trouble } = told;
    all.push({ hosts: names, ok, tools: tools.length, ...present({ trouble }) });
  }
  return all;
}

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
    for (const state of meant) {
      const result = results.find(({ host, scope: own }) => host === state.host.id && own === state.scope);
      if (result === undefined || result.outcome === 'refused') continue;
      await setCommands(result, () => hosts.commands(state, 'none', dry));
    }
    return { dry_run: dry, results };
  },
  failed: ({ results }) => results.some(({ problem }) => problem !== undefined),
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

export const hostsShow = defineOperation({
  name: 'hosts_show',
  title: 'Show the hosts',
  description:
    'Which MCP hosts of this machine have an entry for this server, and whether it is in order. Nothing is started for it.',
  effect: 'read',
  command: 'hosts',
  forPeople: true,
  examples: ['hosts'],
  input: z.strictObject({}),
  output: z.object({ hosts: hostsSchema, steps: stepsField }),
  async run(_input, context, call) {
    const { checkedHosts } = await import('./doctor-hosts.ts');
    return checkedHosts(context, call, false);
  },
  failed: ({ hosts }) => !isWell(hosts),
  render: ({ hosts, steps }) => ({
    body: hostLines(hosts).join('\n'),
    note: t`${plural(hosts.filter(({ found }) => found === 'ours').length, 'host connected', 'hosts connected')}; nothing was started.`,
    steps: steps ?? [],
  }),
});
