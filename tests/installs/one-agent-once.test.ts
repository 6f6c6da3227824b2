import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { StreamableHTTPClientTransport, type VersionNegotiationMode } from '@modelcontextprotocol/client';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { isListed, qualifiedName, shortName, STARTABLE } from '../../src/model/record.ts';
import { activate } from '../../src/operations/activation/activate.ts';
import { listAgentTools } from '../../src/operations/activation/agent-tools.ts';
import { explain } from '../../src/operations/catalogue/explain.ts';
import { list } from '../../src/operations/catalogue/list.ts';
import { read } from '../../src/operations/catalogue/read.ts';
import { configShow } from '../../src/operations/server/config-show.ts';
import { doctor } from '../../src/operations/server/doctor.ts';
import { search } from '../../src/operations/catalogue/search.ts';
import { listPrompts } from '../../src/operations/client/prompts.ts';
import { execute } from '../../src/operations/execute.ts';
import type { AnyOperation } from '../../src/operations/operation.ts';
import { contextIn, temporaryFolder, testCall } from '../support/app.ts';
import { createMcpRoute } from '../../src/surfaces/mcp/http/route.ts';
import { installOf, type Version } from '../support/installs.ts';
import { newClient } from '../support/mcp-client.ts';
import { served } from '../support/served.ts';

type Row = Record<string, unknown> & { name: string; title?: string; origin?: string };

/** A project as a user has it: with all that is built in beside its own. */
async function projectAt(folder: string, flags: Record<string, string> = {}) {
  const context = await contextIn(folder, { flags: { toolsets: 'bmad,agents', ...flags } });
  const { catalogue } = await context.workspace();
  async function ask(operation: AnyOperation, input: Record<string, unknown> = {}) {
    const outcome = await execute(operation, input, context, testCall());
    if (!outcome.ok) throw new Error(outcome.error.text);
    return outcome;
  }
  const rows = async (operation: AnyOperation, input: Record<string, unknown> = {}): Promise<Row[]> =>
    (await ask(operation, input)).data['items'] as Row[];
  return { context, catalogue, ask, rows };
}

const opened = new Map<Version, ReturnType<typeof projectAt>>();

function project(version: Version): ReturnType<typeof projectAt> {
  const known = opened.get(version) ?? installOf(version).then((folder) => projectAt(folder));
  opened.set(version, known);
  return known;
}

/** Agents of each install and of no other origin: all that 6.12 still has, the older ones have too. */
const AGENTS: Partial<Record<Version, number>> = {
  '4.44.3': 43,
  '6.0.0-alpha.7': 19,
  '6.0.0-alpha.22': 25,
  '6.0.0-Beta.5': 10,
  '6.0.4': 10,
  '6.1.0': 10,
  '6.2.0': 9,
  '6.3.0': 6,
  '6.8.0': 6,
  '6.12.0': 5,
};

describe('M-01: an agent is offered once', () => {
  it.each(Object.entries(AGENTS) as [Version, number][])('in a project with %s', async (version, count) => {
    const { catalogue, rows } = await project(version);
    const agents = catalogue.winners.filter((record) => record.kind === 'agent' && isListed(record));
    expect(agents.map(({ origin }) => origin.kind)).toEqual(Array(count).fill('project'));
    expect(await rows(listAgentTools)).toHaveLength(count);
    // The packs of version 4 have agents of their own, some of them named like the method's.
    const own = ({ module, target }: Row): boolean =>
      /^(?:core|bmm|bmad-core)\b/.test(String(module ?? target));
    const prompts = (await rows(listPrompts)).filter(own);
    expect(prompts.filter(({ title }) => /^Mary\b/.test(title ?? ''))).toHaveLength(1);
    expect(prompts.filter(({ title }) => /^Winston\b/.test(title ?? ''))).toHaveLength(1);
    const listed = (await rows(list, { what: 'agents', limit: 200 })).filter(own);
    expect(listed.filter(({ title }) => /^Mary\b/.test(title ?? ''))).toHaveLength(1);
    // Nothing that can be started has two prompts or two entries under one plain name of the method's own modules.
    const plain = catalogue.winners
      .filter((record) => isListed(record) && STARTABLE.includes(record.kind))
      .filter(({ moduleName }) => ['core', 'bmm', 'bmad-core'].includes(moduleName))
      .map(({ kind, name }) => `${kind === 'agent' ? 'agent' : 'work'} ${shortName(name)}`);
    expect(plain.filter((name, at) => plain.indexOf(name) !== at)).toEqual([]);
  });

  it.each<[Version, string, string]>([
    ['6.0.0-alpha.7', 'bmad-agent-analyst', 'bmm/analyst'],
    ['6.0.0-alpha.7', 'bmad-prd', 'bmm/prd'],
    ['6.0.0-alpha.7', 'create-prd', 'bmm/prd'],
    ['6.0.0-alpha.7', 'advanced-elicitation', 'core/adv-elicit'],
    ['6.0.0-alpha.7', 'deep-recon', 'bmm/research'],
    ['6.0.0-alpha.7', 'check-implementation-readiness', 'bmm/solutioning-gate-check'],
    ['6.0.4', 'prd', 'bmm/create-prd'],
    ['6.0.4', 'bmad-prd', 'bmm/create-prd'],
    ['6.0.4', 'bmm/prd', 'bmm/create-prd'],
    ['6.0.4', 'architecture', 'bmm/create-architecture'],
    ['6.0.4', 'bmad-help', 'core/help'],
    ['6.0.4', 'build', 'bmm/quick-dev'],
    ['6.0.4', 'bmad-edit-prd', 'bmm/edit-prd'],
    ['4.44.3', 'bmm/analyst', 'bmad-core/analyst'],
    ['4.44.3', 'ux-designer', 'bmad-core/ux-expert'],
    ['4.44.3', 'create-story', 'bmad-core/create-next-story'],
    ['6.2.0', 'bmad-agent-pm', 'bmm/pm'],
    ['6.12.0', 'create-prd', 'bmm/bmad-prd'],
    ['6.12.0', 'ux-expert', 'bmm/bmad-agent-ux-designer'],
    ['6.12.0', 'create-ux-design', 'bmm/bmad-ux'],
  ])('and in %s, %s is %s', async (version, name, expected) => {
    const { ask } = await project(version);
    expect((await ask(activate, { name, detail: 'concise' })).data['name']).toBe(expected);
  });

  it('and its twin keeps an address of its own', async () => {
    const { ask, catalogue } = await project('6.0.0-alpha.7');
    const { data } = await ask(activate, { name: 'bmm/bmad-agent-analyst' });
    expect(data['name']).toBe('bmm/bmad-agent-analyst');
    const explained = await ask(explain, { target: 'analyst', kind: 'agent' });
    expect(explained.answer.body).toMatch(
      /^- \*\*chosen\*\* bmm\/analyst \(agent\) from Project, priority 1, verified: the first that exists/m,
    );
    expect(explained.answer.body).toMatch(
      /^- bmm\/bmad-agent-analyst \(agent\) from BMAD \S+ \(built in\), priority 9, \S+: the same as bmm\/analyst, and Project has a higher rank \(1\)$/m,
    );
    const { answer } = await ask(read, { target: 'bmad://manifests/master.json', detail: 'full' });
    const { agents } = JSON.parse(answer.body) as { agents: (Row & { overriddenBy?: unknown })[] };
    expect(agents.find(({ name }) => name === 'bmad-agent-analyst')?.overriddenBy).toEqual({
      name: 'bmm/analyst',
      origin: 'Project',
    });
    const csv = (await ask(read, { target: 'bmad://manifests/agents', detail: 'full' })).answer.body;
    expect(csv).not.toContain('bmad-agent-');
    expect(catalogue.overridden.size).toBeGreaterThan(15);
  });

  it('and is found once', async () => {
    const { rows } = await project('6.0.4');
    const found = await rows(search, { query: 'business analyst Mary', type: 'agents' });
    expect(found.map(({ origin }) => origin)).not.toContain('BMAD 6.12.0 (built in)');
    const prd = await rows(search, { query: 'write a product requirements document', limit: 20 });
    expect(prd.map(({ name }) => name)).toContain('create-prd');
    expect(prd.map(({ name }) => name)).not.toContain('prd');
  });

  it('also where one project has two generations', async () => {
    const folder = join(await temporaryFolder(afterAll), 'project');
    await cp(join(await installOf('4.44.3'), '.bmad-core'), join(folder, '.bmad-core'), { recursive: true });
    await cp(await installOf('6.12.0'), folder, { recursive: true });
    const { catalogue, ask } = await projectAt(folder);
    const marys = catalogue.callable.filter(
      ({ kind, displayName }) => kind === 'agent' && displayName === 'Mary',
    );
    expect(marys.map((record) => [qualifiedName(record), catalogue.overridden.has(record)])).toEqual([
      ['bmm/bmad-agent-analyst', false],
      ['bmad-core/analyst', true],
    ]);
    expect((await ask(activate, { name: 'bmad-core/analyst' })).data['name']).toBe('bmad-core/analyst');
    // What only the older one has stays.
    expect((await ask(activate, { name: 'sm' })).data['name']).toBe('bmad-core/sm');
  });
});

describe('M-02: the origin can be chosen', () => {
  it('by an argument of list, read, execute and search', async () => {
    const { ask, rows } = await project('6.0.0-alpha.7');
    const builtIn = await rows(list, { what: 'agents', origin: 'package' });
    expect(builtIn.map(({ name }) => name)).toEqual(['analyst', 'architect', 'dev', 'pm', 'ux-designer']);
    expect(new Set(builtIn.map(({ version }) => version))).toEqual(new Set(['6.12.0']));
    const started = await ask(activate, { name: 'analyst', kind: 'agent', origin: 'package' });
    expect(started.data['name']).toBe('bmm/bmad-agent-analyst');
    expect(started.answer.body).toMatch(
      /^- Asked for from BMAD 6\.12\.0 \(built in\); otherwise bmm\/analyst of Project is served\. Read its files from there: bmad \{/m,
    );
    const text = await ask(read, { target: 'analyst', kind: 'agent', origin: 'built-in' });
    expect(text.data['uri']).toBe('bmad://bmm/agents/bmad-agent-analyst/SKILL.md');
    const [hit] = await rows(search, { query: 'requirements document', origin: 'package' });
    expect([hit?.name, hit?.origin]).toEqual(['prd', 'BMAD 6.12.0 (built in)']);
    expect((await ask(list, { what: 'workflows', origin: 'Project' })).data['total']).toBe(62);
  });

  it('also where both have the very same path', async () => {
    const { ask, rows } = await project('6.12.0');
    const uri = 'bmad://config.toml';
    expect((await ask(read, { target: uri })).data['origin']).toBe('Project');
    const refused = await execute(
      read,
      { target: uri, origin: 'package' },
      (await project('6.12.0')).context,
      testCall(),
    );
    expect(refused.ok ? '' : refused.error.message).toBe(
      'The origin "package" has no file "bmad://config.toml".',
    );
    const agent = await ask(activate, { name: 'analyst', origin: 'package' });
    expect((agent.data['context'] as { originInfo: unknown }).originInfo).toMatchObject({
      kind: 'package',
      otherwise: { name: 'bmm/bmad-agent-analyst', origin: 'Project' },
    });
    const files = await rows(list, {
      what: 'resources',
      origin: 'package',
      pattern: 'bmm/agents/*/SKILL.md',
    });
    expect(files).toHaveLength(5);
  });

  it('and an unknown one is told with those there are', async () => {
    const { context } = await project('6.0.4');
    for (const operation of [list, read, activate, search]) {
      const input =
        operation === list
          ? {}
          : operation === read
            ? { target: 'pm' }
            : operation === search
              ? { query: 'pm' }
              : { name: 'pm' };
      const outcome = await execute(operation, { ...input, origin: 'projct' }, context, testCall());
      if (outcome.ok) throw new Error(`${operation.name} took it`);
      expect(outcome.error.message).toBe('There is no origin "projct" here.');
      expect(outcome.error.suggestions).toContain('project');
      expect(outcome.error.hint).toBe(
        'Known origins: "project", "Project", "package", "BMAD 6.12.0 (built in)".',
      );
    }
  });

  it('and lists tell origin and version, and filter by them', async () => {
    const { ask, context } = await project('6.0.4');
    const mixed = (await ask(list, { what: 'workflows' })).answer.body;
    expect(mixed).toMatch(/^- \*\*create-prd\*\* .*\(bmm(?:, [^,)]*)?\)/m);
    expect(mixed).toMatch(/^- \*\*forge-idea\*\* .*\(core, anytime, BMAD 6\.12\.0 \(built in\)\)/m);
    const full = (await ask(list, { what: 'agents', detail: 'full' })).answer.body;
    expect(full).toMatch(/; Project; 6\.0\.4$/m);
    const older = await ask(list, { what: 'workflows', version: '6.0' });
    expect(older.data['total']).toBe(25);
    const outcome = await execute(list, { what: 'workflows', version: '5' }, context, testCall());
    expect(outcome.ok ? '' : outcome.error.text).toMatch(
      /^Nothing here is of version "5"\.\n.*6\.0\.4, 6\.12\.0/s,
    );
  });

  it('for one name, by the setting prefer', async () => {
    const folder = await installOf('6.0.4');
    const { ask, catalogue } = await projectAt(folder, { prefer: 'analyst=package,create-prd=built-in' });
    expect((await ask(activate, { name: 'analyst' })).data['name']).toBe('bmm/bmad-agent-analyst');
    expect((await ask(activate, { name: 'pm' })).data['name']).toBe('bmm/pm');
    expect((await ask(activate, { name: 'create-prd' })).data['name']).toBe('bmm/bmad-prd');
    expect(catalogue.winners.filter(({ displayName }) => displayName === 'Mary')).toHaveLength(1);
    const { answer } = await ask(explain, { target: 'analyst', kind: 'agent' });
    expect(answer.body).toContain(
      '**chosen** bmm/bmad-agent-analyst (agent) from BMAD 6.12.0 (built in), priority 9, verified: the setting prefer names its origin for it',
    );
    expect(answer.body).toContain(
      'bmm/analyst (agent) from Project, priority 1, verified: the setting prefer names BMAD 6.12.0 (built in) for it',
    );
    expect(answer.note).toContain('prefer: analyst=package, create-prd=built-in (flag --prefer).');
  });

  it('for all, by the setting origin_order', async () => {
    const { ask, catalogue } = await projectAt(await installOf('6.0.4'), { originOrder: 'package' });
    expect(catalogue.sources.map(({ origin }) => [origin.kind, origin.priority])).toEqual([
      ['package', 1],
      ['project', 2],
    ]);
    expect((await ask(activate, { name: 'analyst' })).data['name']).toBe('bmm/bmad-agent-analyst');
    const sm = await ask(activate, { name: 'sm' });
    expect(sm.data['name']).toBe('bmm/sm');
    // The project's settings hold in any order.
    expect(sm.answer.body).toContain('`{output_folder}`: _bmad-output');
    const { answer } = await ask(explain, { target: 'analyst', kind: 'agent' });
    expect(answer.note).toContain('origin_order: package (flag --origin-order).');
    expect((await ask(configShow, {})).answer.body).toContain(
      '| origin_order | package | flag --origin-order |',
    );
  });

  it('and what the settings say wrongly is told, and the rest is served', async () => {
    const { ask, catalogue } = await projectAt(await installOf('6.0.4'), {
      originOrder: 'user,nowhere,project,User',
      prefer: 'analyst=mars,pm,dev=project,dev=package',
    });
    const { data } = await ask(doctor, { handshake: false });
    expect(data['warnings']).toEqual([
      'origin_order (flag --origin-order): "nowhere" is not an origin here, and is ignored; known: "project", "Project", "package", "BMAD 6.12.0 (built in)".',
      'origin_order (flag --origin-order): "User" is there twice; the first counts.',
      'prefer (flag --prefer): "mars" is not an origin here, so "analyst=mars" is ignored; known: "project", "Project", "package", "BMAD 6.12.0 (built in)".',
      'prefer (flag --prefer): "pm" is not of the form name=origin, and is ignored.',
      'prefer (flag --prefer): "dev" is there twice; the first counts.',
    ]);
    expect(catalogue.count('agent')).toBe(10);
  });
});

describe('M-01: a prompt that the host has as a skill itself', async () => {
  const folder = await installOf('6.12.0');

  async function promptsFor(name: string, mode: VersionNegotiationMode, prompts = 'auto'): Promise<number> {
    const context = await contextIn(folder, { flags: { prompts } });
    const route = createMcpRoute(context);
    const url = `${(await served(context, [route], onTestFinished)).origin}${route.path}`;
    const client = newClient({ mode, name });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    onTestFinished(() => client.close());
    return (await client.listPrompts()).prompts.length;
  }

  it.each<[string, VersionNegotiationMode]>([
    ['2025', 'legacy'],
    ['2026', { pin: '2026-07-28' }],
  ])('is not offered to it, in the protocol of %s', async (_era, mode) => {
    expect(await promptsFor('claude-code', mode)).toBe(0);
    expect(await promptsFor('some-host', mode)).toBe(29);
  });

  it('is, or none is, where the setting prompts says so', async () => {
    expect(await promptsFor('claude-code', 'legacy', 'on')).toBe(29);
    expect(await promptsFor('some-host', 'legacy', 'off')).toBe(0);
  });

  it('is offered where the project does not have it', async () => {
    const { rows } = await project('6.3.0');
    const own = await rows(listPrompts, { host: 'claude-code' });
    // What only the built-in version has.
    expect(own.map(({ name }) => name)).toContain('bmad-forge-idea');
    expect(own.map(({ name }) => name)).not.toContain('bmad-analyst');
    expect(await rows(listPrompts, { host: 'cursor-vscode' })).toHaveLength((await rows(listPrompts)).length);
  });
});
