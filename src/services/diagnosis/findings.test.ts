import { appendFile, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder } from '../../../tests/support/app.ts';
import { copyFolder, writeFiles } from '../../../tests/support/folders.ts';
import { installOf, type Version } from '../../../tests/support/installs.ts';
import { once } from '../../base/async.ts';
import { examine, type Finding } from './findings.ts';
import { isDeep } from '../../../tests/support/how-much.ts';

/** A copy of a real install, to be damaged. */
async function copyOf(version: Version): Promise<string> {
  const folder = join(await temporaryFolder(afterAll), 'project');
  copyFolder(await installOf(version), folder);
  return folder;
}

/** What is found in a project, with further folders beside it. */
async function findings(project: string, paths: readonly string[] = []): Promise<Finding[]> {
  const context = await contextIn(project, { flags: { paths, project } });
  return examine((await context.workspace()).catalogue);
}

const abouts = (found: readonly Finding[]): string[] => found.map(({ level, about }) => `${level} ${about}`);

const agent = (name: string): string =>
  `---\nname: ${name}\ndescription: Does ${name}\n---\n\n<agent id="${name}" name="${name}" title="T">\n</agent>\n`;
const skill = (name: string): string => `---\nname: ${name}\ndescription: Does ${name}\n---\n# ${name}\n`;

describe('nothing is found', () => {
  it.each(['6.0.4', '6.12.0'] as const)('in a clean install of %s', async (version) => {
    expect(await findings(await installOf(version))).toEqual([]);
  });

  it('in a folder without BMAD, nor in what is built in', async () => {
    expect(await findings(await temporaryFolder(afterAll))).toEqual([]);
  });

  it('when the same install is there twice', async () => {
    expect(await findings(await copyOf('6.12.0'), [await installOf('6.12.0')])).toEqual([]);
  });
});

describe('missing files', () => {
  it('are told by the rows of the manifest that name them', async () => {
    const folder = await copyOf('6.0.4');
    await rm(join(folder, '_bmad/bmm/agents/pm.md'));
    await rm(join(folder, '_bmad/bmm/agents/dev.md'));
    const found = await findings(folder);
    expect(abouts(found)).toEqual(['broken missing-files']);
    expect(found[0]?.text).toMatch(/^Project: 2 manifest rows without a file \(bmm\/dev, bmm\/pm\)\. /);
  });

  it('are told for skills, and only the first few by name', async () => {
    const folder = await copyOf('6.12.0');
    await rm(join(folder, '.claude/skills/bmad-prd'), { recursive: true });
    const [one, ...others] = await findings(folder);
    expect(others).toEqual([]);
    expect(one?.text).toMatch(/^Project: 1 manifest row without a file \(bmm\/bmad-prd\)\. /);
    await rm(join(folder, '.claude'), { recursive: true });
    const [all] = await findings(folder);
    expect(all).toMatchObject({ level: 'broken', about: 'missing-files' });
    expect(all?.text).toMatch(
      /^Project: \d\d manifest rows without a file \((?:\w+\/[\w-]+, ){6}and \d\d more\)\. /,
    );
  });

  it.runIf(isDeep)('are told for launchers apart, with the files that can be deleted', async () => {
    const folder = await copyOf('6.1.0');
    const launcher = '.claude/skills/bmad-pm/SKILL.md';
    expect(await readFile(join(folder, launcher), 'utf8')).toContain('_bmad/bmm/agents/pm.md');
    await rm(join(folder, '_bmad/bmm/agents/pm.md'));
    const stale = (await findings(folder)).find(({ about }) => about === 'stale-launchers');
    expect(stale?.level).toBe('broken');
    expect(stale?.text).toMatch(
      /^Project: 1 launcher from an older version for files that no longer exist \(/,
    );
    expect(stale?.text).toContain(`They can be deleted: ${launcher}.`);
  });
});

describe('files in no manifest', () => {
  it('are told beside a manifest, and served', async () => {
    const folder = await copyOf('6.12.0');
    await writeFiles(folder, {
      '.claude/skills/bmad-mine/SKILL.md': skill('bmad-mine'),
      // An old name is not something to be listed.
      '.claude/skills/bmad-old/SKILL.md':
        '---\nname: bmad-old\ndescription: Deprecated, use bmad-mine\n---\n',
    });
    const found = await findings(folder);
    expect(abouts(found)).toEqual(['notice unlisted-files']);
    expect(found[0]?.text).toBe('Project: 1 not in any manifest, but served (custom/bmad-mine).');
  });

  it('are not told where there is no manifest', async () => {
    const folder = await temporaryFolder(afterAll);
    await writeFiles(folder, { '_bmad/acme/agents/one.md': agent('one') });
    expect(await findings(folder)).toEqual([]);
  });
});

describe('overrides', () => {
  it('are told when the content differs', async () => {
    const folder = await copyOf('6.12.0');
    await appendFile(join(folder, '.claude/skills/bmad-prd/SKILL.md'), '\nOurs.\n');
    const found = await findings(folder, [await installOf('6.12.0')]);
    expect(abouts(found)).toEqual(['notice override']);
    expect(found[0]?.text).toMatch(
      /^1 record overridden by different content from a higher-ranked origin \(bmm\/bmad-prd; from [^)]+\)\. /,
    );
  });

  it('of what is built in are not told', async () => {
    const folder = await copyOf('6.12.0');
    await appendFile(join(folder, '.claude/skills/bmad-prd/SKILL.md'), '\nOurs.\n');
    expect(await findings(folder)).toEqual([]);
  });
});

describe('names that several modules have', () => {
  it('are told when they are of one kind and rank', async () => {
    const folder = await temporaryFolder(afterAll);
    await writeFiles(folder, {
      '_bmad/acme/agents/one.md': agent('one'),
      '_bmad/beta/agents/one.md': agent('one'),
      '_bmad/beta/agents/two.md': agent('two'),
      '_bmad/acme/agents/three.md': agent('three'),
      '_bmad/beta/agents/Three.md': agent('Three'),
    });
    const found = await findings(folder);
    expect(abouts(found)).toEqual(['notice ambiguous']);
    expect(found[0]?.text).toBe('2 names in several modules; include the module, as in bmm/… (one, three).');
  });

  it('are not told when the method has one of them, which the plain name means', async () => {
    const folder = await temporaryFolder(afterAll);
    await writeFiles(folder, {
      '_bmad/bmm/agents/one.md': agent('one'),
      '_bmad/beta/agents/one.md': agent('one'),
    });
    expect(abouts(await findings(folder))).not.toContain('notice ambiguous');
  });

  it('are not told when one outranks the other', async () => {
    const [folder, other] = [await temporaryFolder(afterAll), await temporaryFolder(afterAll)];
    await writeFiles(folder, { '_bmad/acme/agents/one.md': agent('one') });
    await writeFiles(other, { '_bmad/beta/agents/one.md': agent('one') });
    expect(await findings(folder, [other])).toEqual([]);
  });
});

describe('different versions', () => {
  it('are told with where each is', async () => {
    const found = await findings(await installOf('6.12.0'), [await installOf('6.0.4')]);
    const drift = found.filter(({ about }) => about === 'version');
    expect(drift).toEqual([
      { level: 'notice', about: 'version', text: 'Different versions of BMAD: Project 6.12.0, Path 6.0.4.' },
    ]);
  });

  it.each([
    ['-beta.1', false],
    ['', false],
    ['.1-beta.1', true],
  ])('are newer than what is built in by their release: %s', async (more, isNewer) => {
    const plain = await contextIn(await temporaryFolder(afterAll));
    const { records } = (await plain.workspace()).catalogue;
    const release = records.find(({ moduleName }) => moduleName === 'bmm')?.bmadVersion ?? '';
    expect(release).toMatch(/^\d+\.\d+\.\d+$/);
    const folder = await temporaryFolder(afterAll);
    await writeFiles(folder, {
      '_bmad/_config/manifest.yaml': `installation:\n  version: ${release}${more}\nmodules:\n  - bmm\n`,
      '_bmad/bmm/agents/one.md': agent('one'),
    });
    const told = (await findings(folder)).filter(({ text }) => text.includes('is newer than'));
    expect(told).toHaveLength(isNewer ? 1 : 0);
  });

  it.runIf(isDeep)('do not count against what is built in', async () => {
    expect(abouts(await findings(await installOf('6.8.0')))).not.toContain('notice version');
  });
});

describe('the customization of a compiled agent', () => {
  const FILE = '_bmad/_config/agents/bmm-pm.customize.yaml';
  const FILLED = 'memories:\n  - "Uses metric units"\n';
  const copied = once(() => copyOf('6.0.4'));

  /** Findings after the file was written so many seconds after the agent was compiled. */
  async function customized(text: string | undefined, seconds: number): Promise<Finding[]> {
    const folder = await copied();
    const template = join(await installOf('6.0.4'), FILE);
    await writeFile(join(folder, FILE), text ?? (await readFile(template)));
    const { mtimeMs } = await stat(join(folder, '_bmad/bmm/agents/pm.md'));
    await utimes(join(folder, FILE), new Date(), new Date(mtimeMs + seconds * 1_000));
    return findings(folder);
  }

  it.each([
    ['filled in', FILLED],
    ['with a number', 'agent:\n  metadata:\n    level: 0\n'],
  ])('is told when it is newer and %s', async (_what, text) => {
    expect(await customized(text, 60)).toEqual([
      {
        level: 'notice',
        about: 'customization',
        text: '_config/agents/bmm-pm.customize.yaml is newer than the agent it customizes: it is merged into what is served here. Reinstall BMAD to compile it in for other programs.',
      },
    ]);
  });

  it.each([
    ['the template of the installer', undefined, 60],
    ['empty', '', 60],
    ['only of empty values', 'agent:\n  metadata: { name: "", more: null }\nmenu: []\n', 60],
    ['broken, which is a problem and no notice', 'memories: [\n', 60],
    ['older', FILLED, -60],
    ['written by the same install', FILLED, 1],
  ])('is not told when it is %s', async (_what, text, seconds) => {
    expect(await customized(text, seconds)).toEqual([]);
  });
});

describe('placeholders in the configuration', () => {
  const copies = { '6.0.4': once(() => copyOf('6.0.4')), '6.12.0': once(() => copyOf('6.12.0')) };

  async function configured(version: keyof typeof copies, value: string): Promise<Finding[]> {
    const folder = await copies[version]();
    const file = '_bmad/bmm/config.yaml';
    const text = await readFile(join(await installOf(version), file), 'utf8');
    await writeFile(
      join(folder, file),
      text.replace(/^planning_artifacts: .*$/m, `planning_artifacts: "${value}"`),
    );
    return findings(folder);
  }

  it.each(['6.0.4', '6.12.0'] as const)('that nothing replaces are told in %s', async (version) => {
    const found = await configured(version, '{output_folder}/planning-artifacts');
    expect(abouts(found)).toEqual(['broken placeholder']);
    expect(found[0]?.text).toContain(': bmm.planning_artifacts = {output_folder}/planning-artifacts. ');
  });

  it.each(['{project-root}/x', '{project-root}', '{}', 'a {b c} d', ''])('are not %j', async (value) => {
    expect(await configured('6.12.0', value)).toEqual([]);
  });
});
