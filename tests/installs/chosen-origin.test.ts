import { describe, expect, it } from 'vitest';
import { activate } from '../../src/operations/activation/activate.ts';
import { explain } from '../../src/operations/catalogue/explain.ts';
import { list } from '../../src/operations/catalogue/list.ts';
import { read } from '../../src/operations/catalogue/read.ts';
import { search } from '../../src/operations/catalogue/search.ts';
import { execute } from '../../src/operations/execute.ts';
import { configShow } from '../../src/operations/server/config-show.ts';
import { doctor } from '../../src/operations/server/doctor.ts';
import { testCall } from '../support/app.ts';
import { project, projectAt } from '../support/install-project.ts';
import { installOf } from '../support/installs.ts';

describe('M-02: the origin can be chosen', () => {
  it('by an argument of list, read, execute and search', async () => {
    const { ask, rows } = await project('6.0.0-alpha.7');
    const builtIn = await rows(list, { what: 'agents', origin: 'package' });
    expect(builtIn.map(({ name }) => name)).toEqual(['analyst', 'architect', 'dev', 'pm', 'ux-designer']);
    expect(new Set(builtIn.map(({ version }) => version))).toEqual(new Set(['6.12.0']));
    const started = await ask(activate, { name: 'analyst', kind: 'agent', origin: 'package' });
    expect(started.data['name']).toBe('bmm/bmad-agent-analyst');
    expect(started.answer.body).toMatch(
      /^- This is the one from BMAD 6\.12\.0 \(built in\), as asked; otherwise bmm\/analyst of Project is served\. Read its files from there: bmad \{/m,
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
      // A search looks into all built-in modules, each of which is an origin.
      const modules = ['TEA 1.27.2', 'BMB 1.1.0', 'CIS 0.1.9', 'GDS 0.2.2'].map(
        (each) => `, "${each} (built in)"`,
      );
      expect(outcome.error.hint).toBe(
        `Known origins: "project", "Project", "package", "BMAD 6.12.0 (built in)"${operation === search ? modules.join('') : ''}.`,
      );
    }
  });

  it('and lists tell origin and version, and filter by them', async () => {
    const { ask, context } = await project('6.0.4');
    const own = (await ask(list, { what: 'workflows' })).answer.body;
    expect(own).toMatch(/^- \*\*create-prd\*\* .*\(bmm(?:, [^,)]*)?\)/m);
    expect(own).not.toContain('forge-idea');
    const builtIn = await ask(list, { what: 'workflows', origin: 'package' });
    expect(builtIn.answer.body).toMatch(/^- \*\*forge-idea\*\* .*\(core, anytime\)/m);
    const full = (await ask(list, { what: 'agents', detail: 'full' })).answer.body;
    expect(full).toMatch(/; Project; 6\.0\.4$/m);
    const older = await ask(list, { what: 'workflows', version: '6.0' });
    expect(older.data['total']).toBe(25);
    const newer = await ask(list, { what: 'agents', version: '6.12.0' });
    expect(newer.answer.note).toContain(
      '5 of this version are overridden by another origin; "origin" lists what one has.',
    );
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
