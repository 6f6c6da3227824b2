import { cp } from 'node:fs/promises';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/app.ts';
import { installOf } from '../support/installs.ts';
import { REAL_HOSTS, type HostPlace, type RealHost } from '../support/real-hosts.ts';
import { scriptedModel, type ScriptedCall, type ScriptedModel } from '../support/scripted-model.ts';

// Real hosts, asked by nobody and driven by a scripted model, so that one can read what a model is really shown.

const project = await temporaryFolder(afterAll);
await cp(await installOf('6.12.0'), project, { recursive: true });

/** Runs a host with a model that makes these calls. */
async function story(
  host: RealHost,
  message: string,
  script: readonly ScriptedCall[],
  about: Pick<HostPlace, 'modelName' | 'isImpatient'> = {},
): Promise<{ model: ScriptedModel; shown: string; printed: string }> {
  const model = await scriptedModel(script);
  onTestFinished(() => model.close());
  const place: HostPlace = {
    home: await temporaryFolder(onTestFinished),
    project,
    model: model.origin,
    ...about,
  };
  await host.prepare(place);
  const { stdout, stderr } = await host.ask(message, place);
  // Every request holds the conversation so far.
  const shown = JSON.stringify(model.requests.at(-1) ?? {});
  return { model, shown, printed: `${stdout.toString('utf8')}\n${stderr}` };
}

/** Strings in strings are escaped again and again. */
const plain = (text: string): string =>
  text.replaceAll(/\\+(["n])/g, (_, sign: string) => (sign === 'n' ? '\n' : sign));

const STORY: readonly ScriptedCall[] = [
  { tool: 'bmad', input: { operation: 'list', query: 'agents' } },
  { tool: 'bmad', input: { operation: 'search', query: 'brainstorm ideas' } },
  { tool: 'bmad', input: { operation: 'execute', agent: 'architect', message: 'Review our caching plan' } },
  { tool: 'bmad', input: { operation: 'list', query: 'workflows', limit: 5 } },
  {
    tool: 'bmad',
    input: (shown) => ({
      operation: 'list',
      query: 'workflows',
      limit: 5,
      cursor: /cursor: ?"([^"]+)"/.exec(plain(shown))?.[1] ?? 'none was shown',
    }),
  },
  { tool: 'delegate_to_agent', input: { agent_id: 'dev', task: 'Which queue fits a small shop?' } },
  { tool: 'run_completion_contract', input: {} },
  { tool: 'bmad', input: { operation: 'execute', agent: 'nobody-at-all' } },
];

/** What a model has to have been shown by then. */
const SHOWN: readonly string[] = [
  'Winston',
  'brainstorming',
  'Review our caching plan',
  'Amelia, Senior Software Engineer',
  'There is no agent "nobody-at-all"',
];

/** The list goes on where its first page has ended. */
const SECOND_PAGE = /workflows 6 to 10 of \d+/;

/** Each host keeps one fact, and is asked for that of the one before. */
const FACTS: Readonly<Record<string, string>> = {
  'Claude Code': 'Sessions are kept in Redis',
  Codex: 'Invoices are numbered by the year',
  'Gemini CLI': 'Pictures of products are stored in a bucket at Scaleway',
  opencode: 'The search box asks Meilisearch',
};
const factOf = (host: RealHost | undefined): string => FACTS[host?.name ?? ''] ?? '';

describe.each(REAL_HOSTS)('a story in $name', (host) => {
  it('shows the model everything, and what another host has kept', async () => {
    const before = REAL_HOSTS[REAL_HOSTS.indexOf(host) - 1];
    const { model, shown, printed } = await story(host, 'Plan my shop', [
      { tool: 'remember_structured', input: { type: 'decisions', agent: 'architect', text: factOf(host) } },
      ...(before === undefined ? [] : [{ tool: 'recall_structured', input: { query: factOf(before) } }]),
      ...STORY,
    ]);
    expect(model.impossible, printed.slice(-2_000)).toEqual([]);
    const text = plain(shown);
    const wanted = [...SHOWN, ...(before === undefined ? [] : [factOf(before)])];
    expect(wanted.filter((sign) => !text.includes(sign))).toEqual([]);
    // Codex asks for a person's consent before it runs programs, and nobody is there.
    expect(/CC NOT_VERIFIED|requires approval/.test(text)).toBe(true);
    expect(text.includes('none was shown')).toBe(false);
    expect(SECOND_PAGE.test(text)).toBe(true);
  });

  it.runIf(host.slash !== undefined)(
    'H-01: passes the whole message of a slash prompt to the model',
    async () => {
      const { shown, printed } = await story(host, host.slash?.('Review our caching plan') ?? '', []);
      const text = plain(shown);
      expect(text.includes('Winston'), printed.slice(-2_000)).toBe(true);
      expect(text.includes('Review our caching plan')).toBe(true);
    },
  );
});

/** Half of them the first in a folder, the others in one that is known. */
const SESSIONS = 20;
const LATE: readonly string[] = ['Claude Code', 'Gemini CLI'];

it.each(LATE)(
  'H-06, N-03, N-04: %s, which waits for no server, has its commands in each of 20 sessions',
  async (name) => {
    const host = REAL_HOSTS.find((each) => each.name === name);
    if (host?.slash === undefined) throw new Error(`There is no ${name}.`);
    const home = await temporaryFolder(onTestFinished);
    const known = await temporaryFolder(onTestFinished);
    const lost: string[] = [];
    for (let session = 1; session <= SESSIONS; session += 1) {
      const model = await scriptedModel([]);
      const folder = session % 2 === 0 ? known : await temporaryFolder(onTestFinished);
      const place: HostPlace = { home, project: folder, model: model.origin, isImpatient: true };
      if (session === 1) await host.prepare(place);
      const { stdout } = await host.ask(host.slash('Review our caching plan'), place);
      const shown = plain(JSON.stringify(model.requests.at(-1) ?? {}));
      if (!shown.includes('Winston')) lost.push(`session ${session}: ${stdout.toString('utf8').slice(-500)}`);
      await model.close();
    }
    expect(lost).toEqual([]);
  },
);

it('H-03: Codex finds the tool by the words of people, where it shows a model none at first', async () => {
  const codex = REAL_HOSTS.find(({ name }) => name === 'Codex');
  if (codex === undefined) throw new Error('There is no Codex.');
  const wishes = [
    'Winston',
    'party mode brainstorming',
    'ask product manager',
    'create a product brief',
    'retrospective',
  ];
  const script = wishes.map((query) => ({ tool: 'tool_search', input: { query } }));
  const { model, printed } = await story(codex, 'Plan my shop', script, { modelName: 'gpt-5.5' });
  expect(model.impossible, printed.slice(-2_000)).toEqual([]);
  const { input } = model.requests.at(-1) as { input: { type: string; tools?: unknown }[] };
  const found = input
    .filter(({ type }) => type === 'tool_search_output')
    .map(({ tools }) => JSON.stringify(tools));
  expect(found).toHaveLength(wishes.length);
  expect(wishes.filter((_wish, index) => found[index]?.includes('"name":"bmad"') !== true)).toEqual([]);
});
