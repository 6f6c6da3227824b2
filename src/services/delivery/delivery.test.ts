import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder } from '../../../tests/support/app.ts';
import { speaking } from '../../base/text/message.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { defaultConfig, MergeError, structuralMerge } from './layers.ts';
import { RenderError, renderSources, type RenderInput } from './render-skill.ts';
import { mimeTypeOf, serve } from './files.ts';

describe('structural merge', () => {
  it.each([
    [{ a: { b: 1, c: 2 } }, { a: { b: 3 } }, { a: { b: 3, c: 2 } }],
    [{ list: [1] }, { list: [2] }, { list: [1, 2] }],
    [
      { menu: [{ code: 'A', x: 1 }, { code: 'B' }] },
      { menu: [{ code: 'A', y: 2 }, { code: 'C' }] },
      { menu: [{ code: 'A', y: 2 }, { code: 'B' }, { code: 'C' }] },
    ],
    [{ menu: [{ id: 'A' }] }, { menu: [{ id: 'A', n: 1 }] }, { menu: [{ id: 'A', n: 1 }] }],
    [
      { menu: [{ code: 'A' }, { n: 1 }] },
      { menu: [{ code: 'A' }] },
      { menu: [{ code: 'A' }, { n: 1 }, { code: 'A' }] },
    ],
    [{ a: [1] }, { a: 'text' }, { a: 'text' }],
    [{ a: 1 }, {}, { a: 1 }],
  ])('of %j and %j', (base, override, merged) => {
    expect(structuralMerge(base, override)).toEqual(merged);
  });

  it('refuses keys that identify nothing, and never touches prototypes', () => {
    expect(() => structuralMerge({ m: [{ code: 'A' }] }, { m: [{ code: '' }] })).toThrow(MergeError);
    const hostile = JSON.parse('{"__proto__": {"polluted": true}}') as object;
    structuralMerge({}, hostile);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

describe('default configuration', async () => {
  const { catalogue } = await (await contextIn(await temporaryFolder(afterAll))).workspace();

  it('is what an unattended install would write', () => {
    const config = defaultConfig(catalogue.modules, '/home/ada/shop');
    expect(config['core']).toEqual({
      user_name: 'BMad',
      project_name: 'shop',
      communication_language: 'English',
      document_output_language: 'English',
      output_folder: '{project-root}/_bmad-output',
    });
    expect(config['modules']).toEqual({
      bmm: {
        user_skill_level: 'intermediate',
        planning_artifacts: '{project-root}/_bmad-output/planning-artifacts',
        implementation_artifacts: '{project-root}/_bmad-output/implementation-artifacts',
        project_knowledge: '{project-root}/docs',
      },
    });
    expect(Object.keys(config['agents'] as object)).toEqual([
      'bmad-agent-analyst',
      'bmad-agent-pm',
      'bmad-agent-ux-designer',
      'bmad-agent-architect',
      'bmad-agent-dev',
    ]);
  });
});

describe('what is kept for all callers', () => {
  it('is not in the words of the first of them', async () => {
    const folder = await temporaryFolder(afterAll);
    const deep = `${'x.'.repeat(2_000)}x = 1\n`;
    await writeFiles(folder, {
      '_bmad/_config/manifest.yaml': 'installation:\n  version: 6.0.0\n',
      '_bmad/custom/config.toml': deep,
      '_bmad/custom/bmad-prd.toml': deep,
      '_bmad/bmm/workflows/wide/workflow.yaml': Buffer.from(
        '\uFEFFname: wide\ndescription: d\ninstructions: x.md\n',
        'utf16le',
      ),
    });
    const { catalogue, delivery } = await (await contextIn(folder)).workspace();
    const wide = catalogue.callable.find(({ name }) => name === 'wide');
    if (wide === undefined) throw new Error('the workflow was not found');
    const words = {
      'nested too deeply': 'FRENCH',
      '{0}: the file is UTF-16; it is read, but other tools expect UTF-8': 'FRENCH',
    };
    // What is started makes the rest too, so it comes last.
    const told = async (): Promise<string> =>
      JSON.stringify([
        await delivery.check(),
        (await delivery.activation(wide, undefined, undefined, () => '')).problems,
      ]);
    const first = await speaking(words, told, true);
    for (const part of ['custom/config.toml', 'custom/bmad-prd.toml', 'the file is UTF-16'])
      expect(first).toContain(part);
    expect(first).toContain('nested too deeply');
    expect(first).not.toContain('FRENCH');
    expect(await told()).toBe(first);
  });
});

describe('rendering', () => {
  const input = (text: string, more: Partial<RenderInput> = {}): RenderInput => ({
    sources: new Map([['workflow.md', text]]),
    central: {
      core: { user_name: 'Ada', path: '{project-root}/x' },
      modules: { a: { twice: '1' }, b: { twice: '2' } },
    },
    customization: { workflow: { facts: ['one', 'two\nlines'], none: [], text: 'see {skill-root}/y', n: 3 } },
    defaults: { workflow: { facts: [], none: [], text: 'default', n: 3 } },
    projectRoot: '/p',
    locate: (file) => `at:${file}`,
    skillRoot: 'root:',
    ...more,
  });
  const rendered = (text: string): string | undefined => renderSources(input(text)).get('workflow.md');

  it.each([
    ['{{.user_name}} {{config.core.path}}', 'Ada /p/x'],
    ['{workflow.facts}', '- one\n- two\n  lines'],
    ['{workflow.none}', '_None._'],
    ['{workflow.text}', 'see root:/y'],
    ['[[bmad-snapshot:workflow.md]]', 'at:workflow.md'],
    ['{untouched} {{name}} {agent.x}', '{untouched} {{name}} {agent.x}'],
  ])('turns %j into %j', (text, result) => {
    expect(rendered(text)).toBe(result);
  });

  it.each([
    ['{{.nobody}}', 'missing config value `nobody`'],
    ['{{.twice}}', 'ambiguous config value `twice` found at: modules.a.twice, modules.b.twice'],
    ['{workflow.gone}', 'missing customization value `workflow.gone`'],
    ['{workflow.n}', 'customization.workflow.n has an unsupported default'],
    ['[[bmad-snapshot:other.md]]', 'snapshot reference targets undeclared source: other.md'],
    ['{{config.__proto__.x}}', 'missing config value `__proto__.x`'],
  ])('halts on %j', (text, reason) => {
    expect(() => rendered(text)).toThrow(new RenderError(reason));
  });
});

describe('served files', () => {
  it.each([
    ['a.md', 'text/markdown'],
    ['a.YAML', 'application/x-yaml'],
    ['a.yml', 'application/x-yaml'],
    ['a.json', 'application/json'],
    ['a.xml', 'application/xml'],
    ['a.csv', 'text/csv'],
    ['a.toml', 'text/plain'],
    ['LICENSE', 'text/plain'],
  ])('%s is %s', (path, mimeType) => {
    expect(mimeTypeOf(path)).toBe(mimeType);
  });

  it('hands out bytes that are not text as bytes', () => {
    const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 255]);
    expect(serve('logo.png', png)).toEqual({
      path: 'logo.png',
      mimeType: 'application/octet-stream',
      bytes: png,
    });
  });

  it('keeps a byte order mark, and replaces what is not UTF-8 in a text file', () => {
    expect(serve('a.md', Buffer.from('\uFEFF# x')).text).toBe('\uFEFF# x');
    expect(serve('a.md', Buffer.from([0x63, 0xe9, 0x21])).text).toBe('c\uFFFD!');
  });

  it('masks secrets in configuration files only', () => {
    expect(serve('config.yaml', Buffer.from('api_key: abcdef\nname: x\n')).text).toBe(
      'api_key: ***\nname: x\n',
    );
    expect(serve('guide.md', Buffer.from('api_key: abcdef\n')).text).toBe('api_key: abcdef\n');
  });
});
