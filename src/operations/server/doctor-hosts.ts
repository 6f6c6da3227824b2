import { plural, t } from '../../base/text/message.ts';
import { ours } from '../../base/errors.ts';
import { present, those } from '../../base/values.ts';
import type { Step } from '../../base/step.ts';
import { commandLine } from '../offers.ts';
import { OWN_ENTRIES, promptsFor, type PromptItem } from '../client/prompts.ts';
import type { Call, Context, HostCheck, HostSetup, HostState } from '../context.ts';
import type { CheckedHost } from './doctor-text.ts';

type Written = NonNullable<Awaited<ReturnType<HostSetup['hosts']['written']>>>;
type Start = Written['start'];
type Shaken = NonNullable<CheckedHost['handshake']>;

/** What each host on this machine has configured, whether it starts and answers, and what stands in the way. */
export async function checkedHosts(
  context: Context,
  call: Call,
  /** Whether what they start is started, and asked for its tools. */
  starts = true,
): Promise<{ hosts: CheckedHost[]; steps: Step[] }> {
  const found = await context.hostSetup();
  const { hosts } = found;
  const all = await Promise.all(
    (['user', 'project'] as const).map((scope) => hosts.states(hosts.all, scope)),
  );
  const states = all.flat();
  const connected = new Set(states.filter((state) => state.found === 'ours').map(({ host }) => host.id));
  // A host that is connected in one scope is not missing in the other.
  const told = states.filter(
    ({ host, scope, installed, found: what }) =>
      what !== 'none' || (scope === 'user' && installed && !connected.has(host.id)),
  );
  const shake = handshakes(found, call);
  const checked: CheckedHost[] = [];
  const steps: Step[] = [];
  for (const state of told) {
    const { host, scope, file, installed } = state;
    const checks: HostCheck[] = await hosts.inspect(state);
    const written =
      state.found === 'ours' ? await hosts.written(state).catch(ours(() => undefined)) : undefined;
    const { start } = written ?? {};
    const handshake =
      written === undefined || !starts ? undefined : await startedOnce(written, checks, shake);
    if (start !== undefined) checks.push(...(await limitsOf(state, start, handshake, found)));
    if (state.found === 'ours') checks.push(...(await twinsOf(host.id, start, found, context)));
    if (state.found === 'none')
      steps.push({ operation: 'setup', args: { hosts: [host.id] }, why: t`Connect ${host.name}` });
    const [repair] = repairs(state, checks);
    if (repair !== undefined) steps.push(repair);
    checked.push({
      host: host.id,
      name: host.name,
      scope,
      file,
      installed,
      found: state.found,
      checks: checks.map(({ repair: _repair, ...check }) => check),
      ...present({
        starts: start && [start.command, ...start.args].join(' '),
        handshake,
        repair: repair && commandLine(repair),
      }),
    });
  }
  return { hosts: checked, steps };
}

function repairs({ host, scope }: HostState, checks: readonly HostCheck[]): Step[] {
  const [wanted] = checks.flatMap(({ repair }) => repair ?? []);
  if (wanted === undefined) return [];
  const args = { hosts: [host.id], ...(scope === 'project' ? { scope } : {}) };
  return wanted === 'force'
    ? [{ operation: 'setup', args: { ...args, force: true }, why: t`Replace the entry in ${host.name}` }]
    : [{ operation: 'setup', args, why: t`Write the entry in ${host.name} again` }];
}

/** The same command line is started once, however many hosts have it. */
function handshakes({ hosts, handshake, home }: HostSetup, call: Call): (start: Start) => Promise<Shaken> {
  const known = new Map<string, Promise<Shaken>>();
  return (start) => {
    const key = JSON.stringify(start);
    const asked = known.get(key) ?? shaken(start);
    known.set(key, asked);
    return asked;
  };

  async function shaken(start: Start): Promise<Shaken> {
    call.progress(t`starting ${[start.command, ...start.args].join(' ')}`);
    const began = performance.now();
    const { ok, tools, trouble } = await handshake(start, hosts.root ?? home, call.signal).catch(
      ours(({ message }) => ({ ok: false, tools: [], trouble: message })),
    );
    const ms = Math.round(performance.now() - began);
    return { ok, tools: tools.length, ms, ...present({ trouble }) };
  }
}

/** Files of a project come from its author: what they start is not started for being looked at, unless it is our entry. */
async function startedOnce(
  { start, mayStart }: Written,
  checks: HostCheck[],
  shake: (start: Start) => Promise<Shaken>,
): Promise<Shaken | undefined> {
  // What is gone cannot be started.
  if (checks.some(({ about, level }) => about === 'start' && level === 'broken')) return undefined;
  if (!mayStart) {
    const text = t`It was not started, because the file of the project has a different entry from the one that setup writes.`;
    checks.push({ level: 'notice', about: 'start', text });
    return undefined;
  }
  const handshake = await shake(start);
  if (!handshake.ok)
    checks.push({
      level: 'broken',
      about: 'start',
      text: t`The server that it starts does not answer.`,
      repair: 'setup',
    });
  return handshake;
}

async function limitsOf(
  { host }: HostState,
  start: Start,
  handshake: Shaken | undefined,
  { settingsOf }: HostSetup,
): Promise<HostCheck[]> {
  // Other servers need room too.
  const { tools, startMs, answerBytes, dataAlone } = host.limits ?? {};
  const settings = await settingsOf(start);
  const limit = (text: string, fix: string): HostCheck => ({ level: 'notice', about: 'limit', text, fix });
  return those(
    settings === undefined &&
      limit(t`Its flags are not understood.`, t`See the message of the server when it starts.`),
    handshake !== undefined &&
      tools !== undefined &&
      handshake.tools * 2 > tools &&
      limit(
        t`It takes ${handshake.tools} of the ${tools} tools that the host allows for all servers together.`,
        t`If some are missing, choose fewer with the setting toolsets.`,
      ),
    handshake !== undefined &&
      startMs !== undefined &&
      handshake.ms > startMs &&
      limit(t`The start took longer than the ${startMs / 1000} s that the host waits.`, t`Start it again.`),
    settings !== undefined &&
      answerBytes !== undefined &&
      settings.answerBytes > answerBytes &&
      limit(
        t`Answers may be ${settings.answerBytes} bytes long, and the host cuts what is beyond ${answerBytes}.`,
        t`Lower the setting answer_bytes.`,
      ),
    settings?.output === 'structured' &&
      dataAlone === true &&
      limit(
        t`It shows a model only the data of answers.`,
        t`Set output to text, unless a program reads them.`,
      ),
  );
}

const NAMED = 5;

async function twinsOf(
  host: string,
  start: Start | undefined,
  { settingsOf }: HostSetup,
  context: Context,
): Promise<HostCheck[]> {
  const client = OWN_ENTRIES.find((entry) => entry.host === host)?.client;
  if (client === undefined || start === undefined) return [];
  const prompts = (await settingsOf(start))?.prompts ?? 'auto';
  const twins = prompts === 'off' ? [] : await twinsIn(client, context).catch(ours(() => []));
  if (twins.length === 0) return [];
  const names = `${twins.slice(0, NAMED).join(', ')}${twins.length > NAMED ? ', …' : ''}`;
  const both = t`${plural(twins.length, 'prompt')} of this server ${twins.length === 1 ? t`is a skill` : t`are skills`} or commands of the host too (${names})`;
  if (prompts !== 'on') return [{ level: 'ok', about: 'twins', text: t`${both} and are left out.` }];
  const fix = t`Set prompts to auto, which leaves them out.`;
  return [{ level: 'notice', about: 'twins', text: `${both}.`, fix }];
}

/** The prompts of which a host has the twin: a skill or a command that it has found itself. */
async function twinsIn(host: string, context: Context): Promise<string[]> {
  const offered = async (prompts: 'on' | 'auto'): Promise<PromptItem[]> =>
    promptsFor(host, { ...context, config: { ...context.config, prompts } });
  const alone = new Set((await offered('auto')).map(({ name }) => name));
  return (await offered('on')).map(({ name }) => name).filter((name) => !alone.has(name));
}
