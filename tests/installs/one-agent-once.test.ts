import { join } from 'node:path';
import { StreamableHTTPClientTransport, type VersionNegotiationMode } from '@modelcontextprotocol/client';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { isListed, qualifiedName, shortName, STARTABLE } from '../../src/model/record.ts';
import { activate } from '../../src/operations/activation/activate.ts';
import { listAgentTools } from '../../src/operations/activation/agent-tools.ts';
import { explain } from '../../src/operations/catalogue/explain.ts';
import { list } from '../../src/operations/catalogue/list.ts';
import { read } from '../../src/operations/catalogue/read.ts';
import { search } from '../../src/operations/catalogue/search.ts';
import { listPrompts } from '../../src/operations/client/prompts.ts';
import { contextIn, temporaryFolder } from '../support/app.ts';
import { createMcpRoute } from '../../src/surfaces/mcp/http/route.ts';
import { project, projectAt, type Row } from '../support/install-project.ts';
import { installOf, type Version } from '../support/installs.ts';
import { newClient } from '../support/mcp-client.ts';
import { served } from '../support/served.ts';
import { copyFolder } from '../support/folders.ts';
import { isUsual, ofUsual, usually } from '../support/how-much.ts';

/** Agents of each install and of no other origin: all that 6.12 still has, the older ones have too. */
const AGENTS: Partial<Record<Version, number>> = {
  '4.44.3': 38,
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
  it.each(
    usually(Object.keys(AGENTS) as Version[]).map((version) => [version, AGENTS[version] ?? 0] as const),
  )('in a project with %s', async (version, count) => {
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

  it.each(
    ofUsual<[Version, string, string]>([
      ['6.0.0-alpha.7', 'bmad-agent-analyst', 'bmm/analyst'],
      ['6.0.0-alpha.7', 'bmad-prd', 'bmm/prd'],
      ['6.0.0-alpha.7', 'create-prd', 'bmm/prd'],
      ['6.0.0-alpha.7', 'advanced-elicitation', 'core/adv-elicit'],
      ['6.0.0-alpha.7', 'deep-recon', 'bmm/research'],
      ['6.0.0-alpha.7', 'check-implementation-readiness', 'bmm/solutioning-gate-check'],
      ['6.0.0-alpha.22', 'bmad-advanced-elicitation', 'core/advanced-elicitation'],
      ['6.0.4', 'adv-elicit', 'core/advanced-elicitation'],
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
    ]),
  )('and in %s, %s is %s', async (version, name, expected) => {
    const { ask } = await project(version);
    expect((await ask(activate, { name, detail: 'brief' })).data['name']).toBe(expected);
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
    copyFolder(join(await installOf('4.44.3'), '.bmad-core'), join(folder, '.bmad-core'));
    copyFolder(await installOf('6.12.0'), folder);
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

  it.runIf(isUsual('6.3.0'))('is offered to hosts that do not read those skills', async () => {
    const { rows } = await project('6.3.0');
    expect(await rows(listPrompts, { host: 'claude-code' })).toEqual([]);
    expect((await rows(listPrompts)).map(({ name }) => name)).toContain('bmad-analyst');
    expect(await rows(listPrompts, { host: 'cursor-vscode' })).toHaveLength((await rows(listPrompts)).length);
  });

  it.each(usually(['4.44.3', '6.0.0-alpha.7', '6.0.0-alpha.22', '6.0.0-Beta.5', '6.0.4']))(
    'is not offered beside the command that %s wrote for it',
    async (version) => {
      const { rows } = await project(version);
      const offered = (host: string) => rows(listPrompts, { host });
      expect((await offered('claude-code')).filter(({ kind }) => kind === 'agent')).toEqual([]);
      expect(await offered('cursor-vscode')).toEqual(await offered('some-host'));
    },
  );

  it('is offered where no command starts it', async () => {
    const { rows } = await project('6.0.4');
    expect((await rows(listPrompts, { host: 'claude-code' })).map(({ name }) => name)).toEqual([
      'bmad-advanced-elicitation',
      // The engine is named by the commands of workflows, and started by none.
      'bmad-workflow',
    ]);
  });
});

describe('M-01: the copies that packs of version 4 have of the core', () => {
  it('are not offered, but can be called by their module', async () => {
    const { catalogue, ask, rows } = await project('4.44.3');
    const marys = (await rows(list, { what: 'agents', limit: 200 })).filter(({ title }) =>
      /^Mary\b/.test(title ?? ''),
    );
    expect(marys.map(({ name }) => name)).toEqual(['analyst']);
    const copies = [...catalogue.overridden].filter(([{ moduleName }]) => moduleName.startsWith('bmad-'));
    for (const [copy, original] of copies)
      expect([copy.kind, copy.name]).toEqual([original.kind, original.name]);
    expect(copies.map(([copy]) => qualifiedName(copy))).toEqual(
      expect.arrayContaining([
        'bmad-2d-phaser-game-dev/analyst',
        'bmad-creative-writing/bmad-orchestrator',
        'bmad-infrastructure-devops/create-doc',
      ]),
    );
    const { data, answer } = await ask(activate, { name: 'bmad-2d-unity-game-dev/analyst' });
    expect(data['name']).toBe('bmad-2d-unity-game-dev/analyst');
    expect(answer.body).toContain(
      'Files the text names as `.bmad-2d-unity-game-dev/x` or a dependency `{type}/{name}`',
    );
    // A list says the name of a pack once.
    const listed = await ask(list, { what: 'agents', limit: 200 });
    expect(listed.answer.body).toContain('Designer & KDP Specialist (bmad-creative-writing): ');
  });

  it('stay where a pack has changed them, or has brought them alone', async () => {
    const { catalogue } = await project('4.44.3');
    const offered = new Set(catalogue.winners.map(qualifiedName));
    expect(offered).toContain('bmad-godot-game-dev/bmad-orchestrator');
    expect(offered).toContain('bmad-2d-phaser-game-dev/advanced-elicitation');
    const folder = join(await temporaryFolder(afterAll), 'project');
    for (const pack of ['.bmad-2d-phaser-game-dev', '.bmad-2d-unity-game-dev'])
      copyFolder(join(await installOf('4.44.3'), pack), join(folder, pack));
    const alone = await projectAt(folder);
    const analysts = alone.catalogue.callable.filter(
      ({ name, origin }) => name === 'analyst' && origin.kind === 'project',
    );
    expect(analysts.map((each) => [each.moduleName, alone.catalogue.overridden.has(each)])).toEqual([
      ['bmad-2d-phaser-game-dev', false],
      ['bmad-2d-unity-game-dev', true],
    ]);
  });
});
