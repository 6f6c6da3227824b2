import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { contentRoot, contextIn, temporaryFolder } from '../../tests/support/app.ts';
import { writeFiles } from '../../tests/support/folders.ts';
import { openSession, saidIn, sessionIn } from '../../tests/support/operations.ts';
import { packageFolder, MODULE_PACKAGES } from '../../scripts/built-in-modules.ts';
import { activate } from '../operations/activation/activate.ts';
import { explain } from '../operations/catalogue/explain.ts';
import { getKnowledge } from '../operations/catalogue/details.ts';
import { list } from '../operations/catalogue/list.ts';
import { read } from '../operations/catalogue/read.ts';
import { search } from '../operations/catalogue/search.ts';
import { listPrompts } from '../operations/client/prompts.ts';
import { next } from '../operations/project/next.ts';
import { runOpen } from '../operations/runs/run-operations.ts';

const session = await openSession(afterAll);
const modulesRoot = join(dirname(contentRoot), 'modules');

const namesIn = ({ data }: { data: Record<string, unknown> }): string[] =>
  (data['items'] as { name: string }[]).map(({ name }) => name);

const listed = async (what: string, module?: string, of = session): Promise<string[]> =>
  namesIn(await of.ok(list, module === undefined ? { what } : { what, module }));

/** A module as somebody has installed it. */
async function projectWithTea(): Promise<string> {
  const folder = await temporaryFolder(afterAll);
  await writeFiles(folder, {
    '_bmad/_config/manifest.yaml':
      'installation:\n  version: 6.12.0\nmodules:\n  - name: core\n    version: 6.12.0\n  - name: tea\n    version: 1.0.0\n',
    '_bmad/_config/skill-manifest.csv':
      'canonicalId,name,description,module,path\n"bmad-tea","bmad-tea","Ours","tea","_bmad/tea/agents/bmad-tea/SKILL.md"\n',
    '.claude/skills/bmad-tea/SKILL.md':
      '---\nname: bmad-tea\ndescription: Our own tester\n---\n# Our own tester\n',
    '.claude/skills/bmad-tea/customize.toml': '[agent]\nname = "Tess"\ntitle = "Tester"\n',
  });
  return folder;
}

describe('the built-in modules', () => {
  it('have as much of each kind as their packages', async () => {
    const index = JSON.parse(await readFile(join(modulesRoot, 'modules.json'), 'utf8')) as {
      code: string;
      version: string;
      counts: object;
    }[];
    // CIS and GDS are published without Markdown: the manifests of their agents are all that can be started.
    expect(index.map(({ code, version, counts }) => [code, version, counts])).toEqual([
      ['tea', '1.27.2', { agent: 1, workflow: 9, knowledge: 59 }],
      ['bmb', '1.1.0', { skill: 2 }],
      ['cis', '0.1.9', { agent: 6 }],
      ['gds', '0.2.2', { agent: 7 }],
    ]);
  });

  it('have every file of their package, byte for byte, and their licence', async () => {
    const workspace = await (await (await contextIn(session.folder)).workspace()).everything();
    for (const [code, name] of Object.entries(MODULE_PACKAGES)) {
      const from = packageFolder(name);
      const source = workspace.catalogue.sources.find(({ origin }) => origin.root.endsWith(code));
      const entries = await readdir(join(from, 'src'), { recursive: true, withFileTypes: true });
      const files = entries
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name));
      expect(files.length).toBeGreaterThan(10);
      for (const file of files) {
        const path = `${code}/${file.slice(join(from, 'src').length + 1).replaceAll('\\', '/')}`;
        expect((await source?.tree.read(path))?.equals(await readFile(file)), path).toBe(true);
      }
      expect(await readFile(join(modulesRoot, code, 'LICENSE'), 'utf8')).toContain('MIT License');
    }
  });

  it('are not in lists, which name them in one line', async () => {
    const { answer } = await session.ok(list, { what: 'agents' });
    expect(await listed('agents')).toEqual(['analyst', 'architect', 'dev', 'pm', 'ux-designer']);
    expect(saidIn(answer)).toMatch(
      /^5 agents\. Also, by module: 1 in tea \(Test Architect\), 6 in cis \([^)]+\), 7 in gds \([^)]+\)\.\nList those of a module: bmad \{operation:"list", query:"agents"/,
    );
    expect(saidIn((await session.ok(list, { what: 'modules' })).answer)).toContain(
      'Also, by module: tea (Test Architect), bmb (',
    );
    // Whoever narrows a list down has said what it is about.
    expect(saidIn((await session.ok(list, { what: 'agents', module: 'bmm' })).answer)).not.toContain(
      'Also, by module',
    );
  });

  it('are listed when they are named', async () => {
    expect(await listed('workflows', 'tea')).toEqual([
      'teach-me-testing',
      'testarch-atdd',
      'testarch-automate',
      'testarch-ci',
      'testarch-framework',
      'testarch-nfr',
      'testarch-test-design',
      'testarch-test-review',
      'testarch-trace',
    ]);
    expect(await listed('agents', 'TEA')).toEqual(['tea']);
    expect(await listed('skills', 'bmb')).toHaveLength(2);
    expect(await listed('agents', 'cis')).toHaveLength(6);
    expect(await listed('agents', 'gds')).toHaveLength(7);
    expect(await listed('knowledge', 'tea')).toHaveLength(50);
    expect(await listed('modules', 'tea')).toEqual(['tea']);
  });

  it.each([
    ['design the test strategy', 'testarch-test-design'],
    ['définir la stratégie de test', 'testarch-test-design'],
    ['set up a test framework with Playwright', 'testarch-framework'],
    ['build a new agent', 'builder'],
    ['design a video game', 'gds-agent-game-designer'],
    ['innovation strategy and business model disruption', 'cis-agent-innovation-strategist'],
  ])('are found by the wish %j', async (query, best) => {
    expect(namesIn(await session.ok(search, { query }))[0]).toBe(best);
  });

  it.each(['il me faut un développeur', 'tests automatiques de l’api', 'architecture', 'review'])(
    'come after what the method has for %j',
    async (query) => {
      const { data } = await session.ok(search, { query });
      expect((data['items'] as { module: string }[])[0]?.module).toMatch(/^(?:core|bmm)$/);
    },
  );

  it.each([
    ['tea', 'agent', 'tea/bmad-tea', 'Master Test Architect'],
    ['Murat', 'agent', 'tea/bmad-tea', 'Master Test Architect'],
    ['testarch-test-design', 'workflow', 'tea/bmad-testarch-test-design', '{test_artifacts}'],
    ['bmb/bmad-agent-builder', 'workflow', 'bmb/bmad-agent-builder', 'Agent Builder'],
    ['workflow-builder', 'workflow', 'bmb/bmad-workflow-builder', 'Workflow'],
    ['cis/Sophia', 'agent', 'cis/bmad-cis-agent-storyteller', 'Speaks like a bard'],
    ['GLaDOS', 'agent', 'gds/gds-agent-game-qa', 'Senior QA architect'],
  ])('start %s', async (name, kind, own, says) => {
    const { data, answer } = await session.ok(activate, { name, kind });
    expect(data['name']).toBe(own);
    expect(answer.body).toContain(says);
  });

  it('say of a workflow that its package has no text of it, and where there is one', async () => {
    const error = await session.fail(activate, { name: 'cis/bmad-cis-design-thinking', kind: 'workflow' });
    expect(error.message).toBe(
      'CIS 0.1.9 (built in) was published without the text of cis/bmad-cis-design-thinking.',
    );
    expect(error.steps).toMatchObject([
      {
        operation: 'sources_add',
        args: {
          source: 'git+https://github.com/bmad-code-org/bmad-module-creative-intelligence-suite.git',
        },
      },
    ]);
  });

  it('bring the knowledge of the test architect along', async () => {
    const index = await session.ok(getKnowledge, { domain: 'tea' });
    expect(index.answer.body).toContain('**risk-governance**');
    const { answer } = await session.ok(getKnowledge, { domain: 'testarch', fragment: 'risk-governance' });
    expect(answer.body).toContain('# Risk Governance');
  });

  it('let their files be read, also one that several of their skills have', async () => {
    const text = await readFile(
      join(
        packageFolder(MODULE_PACKAGES['tea'] ?? ''),
        'src/workflows/testarch/bmad-testarch-ci/resources/tea-index.csv',
      ),
      'utf8',
    );
    const target = 'bmad://tea/workflows/testarch/bmad-testarch-ci/resources/tea-index.csv';
    expect(text).toContain((await session.ok(read, { target })).answer.body.split('\n')[2]);
    expect((await session.ok(explain, { target: 'tea' })).answer.body).toContain('TEA 1.27.2 (built in)');
  });

  it('keep runs of their workflows', async () => {
    const own = await openSession(afterAll);
    await writeFiles(own.folder, { '_bmad/': '' });
    const { data } = await own.ok(runOpen, { workflow: 'testarch-trace' });
    expect(data['start']).toBe('tea/bmad-testarch-trace');
  });

  it('leave prompts and the next step alone', async () => {
    const { data } = await session.ok(listPrompts);
    expect(JSON.stringify(data)).not.toMatch(/testarch|murat|gds-|cis-/i);
    expect(JSON.stringify((await session.ok(next)).data)).not.toMatch(/testarch/);
  });

  it('give an error that is about what was asked', async () => {
    const error = await session.fail(activate, { name: 'architekt', kind: 'agent' });
    expect(error.suggestions).toContain('architect');
    expect((await session.fail(list, { what: 'agents', module: 'nope' })).hint).toBe(
      'Known modules: bmm, core, tea, bmb, cis, gds.',
    );
  });
});

describe('a module that the project has installed', () => {
  it('is listed, and the built-in one is left out', async () => {
    const own = await sessionIn(await projectWithTea());
    expect(await listed('agents', undefined, own)).toContain('tea');
    expect(saidIn((await own.ok(list, { what: 'agents' })).answer)).toContain(
      'Also, by module: 6 in cis (CIS: Creative Innovation Suite), 7 in gds (BMGD: BMad Game Dev Studio).',
    );
    expect((await own.ok(activate, { name: 'tea', kind: 'agent' })).answer.body).toContain('Our own tester');
    expect((await own.fail(activate, { name: 'tea/bmad-testarch-trace', kind: 'workflow' })).code).toBe(
      'not_found',
    );
    expect(namesIn(await own.ok(search, { query: 'design the test strategy' }))).not.toContain(
      'testarch-test-design',
    );
    own.close();
  });

  it('is joined by the built-in one where the setting names it', async () => {
    const own = await sessionIn(await projectWithTea(), { flags: { modules: 'tea' } });
    expect((await own.ok(activate, { name: 'tea', kind: 'agent' })).answer.body).toContain('Our own tester');
    expect(await listed('workflows', undefined, own)).toContain('testarch-trace');
    own.close();
  });
});

describe('the setting modules', () => {
  it.each([
    ['tea', 6, '6 in cis (CIS: Creative Innovation Suite), 7 in gds (BMGD: BMad Game Dev Studio)'],
    ['core,bmm,CIS', 11, '1 in tea (Test Architect), 7 in gds (BMGD: BMad Game Dev Studio)'],
    ['all', 19, undefined],
    ['only', 5, undefined],
    ['gds,only', 12, undefined],
  ])('%j shows so many agents', async (modules, agents, beside) => {
    const own = await openSession(afterAll, { flags: { modules } });
    const { data, answer } = await own.ok(list, { what: 'agents' });
    expect(data['total']).toBe(agents);
    if (beside === undefined) expect(saidIn(answer)).not.toContain('Also, by module');
    else expect(saidIn(answer)).toContain(`Also, by module: ${beside}.`);
    own.close();
  });

  it('switches off what "only" does not name', async () => {
    const own = await openSession(afterAll, { env: { BMAD_MODULES: 'only' } });
    // Without its file, an agent that BMAD had once is played by what is known of it.
    expect((await own.ok(activate, { name: 'Murat', kind: 'agent' })).data['name']).toBe('tea');
    expect((await own.fail(getKnowledge, { domain: 'tea' })).code).toBe('not_found');
    expect((await own.fail(list, { what: 'agents', module: 'tea' })).hint).toBe('Known modules: bmm, core.');
    expect((await own.fail(read, { target: 'bmad://tea/module.yaml' })).code).toBe('not_found');
    own.close();
  });

  it('is told of a word that it does not know', async () => {
    const context = await contextIn(session.folder, { flags: { modules: 'tae,only' } });
    expect((await context.workspace()).warnings).toEqual([
      'modules (flag --modules): "tae" is not a built-in module, and is ignored; known: core, bmm, tea, bmb, cis, gds, all, only.',
    ]);
    context.close();
  });

  it('refuses what is no code', async () => {
    await expect(contextIn(session.folder, { flags: { modules: '../x' } })).rejects.toThrow(/modules/);
  });

  it('is without effect where nothing built in is used', async () => {
    const own = await openSession(afterAll, { flags: { modules: 'tea', discovery: 'local' } });
    expect(await listed('agents', undefined, own)).toEqual([]);
    // Without its file, an agent that BMAD had once is played by what is known of it.
    expect((await own.ok(activate, { name: 'Murat', kind: 'agent' })).data['name']).toBe('tea');
    own.close();
  });
});
