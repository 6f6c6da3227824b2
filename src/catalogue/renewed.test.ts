import { readFile, rename, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../tests/support/app.ts';
import { writeFiles } from '../../tests/support/folders.ts';
import { writeTree } from '../../tests/support/generated-tree.ts';
import { attempt } from '../base/errors.ts';
import { csvRows, csvRowsWith } from '../base/parse/parse.ts';
import type { BmadRecord } from '../model/record.ts';
import { readers } from '../readers/index.ts';
import { discoverSources } from '../sources/discover.ts';
import { readsNoted, type Source } from '../sources/tree.ts';
import { buildCatalogue, openContent } from './build.ts';
import type { Catalogue } from './catalogue.ts';

const agent = (name: string, about: string): string =>
  `---\nname: "${name}"\ndescription: "${about}"\n---\n<agent id="a" name="Ann" title="Tester" icon="x">\n<persona><role>Tests</role></persona>\n</agent>\n`;
const skill = (name: string, about: string): string =>
  `---\nname: ${name}\ndescription: ${about}\n---\n# ${name}\n`;

const LISTED = {
  '_bmad/_config/manifest.yaml': 'installation:\n  version: 6.0.4\nmodules:\n  - bmm\n',
  '_bmad/_config/agent-manifest.csv':
    'name,displayName,title,icon,role,module,path\n"pm","Pia","Manager","x","Plans, and ""more""","bmm","_bmad/bmm/agents/pm.md"\n',
  '_bmad/_config/workflow-manifest.csv':
    'name,description,module,path\n"plan","Plans things,\nover two lines","bmm","_bmad/bmm/workflows/1-plan/plan/workflow.md"\n"ship","Ships","bmm","_bmad/bmm/workflows/ship/workflow.yaml"\n',
  '_bmad/_config/task-manifest.csv': 'name,displayName,description,module,path\n',
  '_bmad/bmm/config.yaml': 'user_name: Ada\n',
  '_bmad/bmm/agents/pm.md': agent('pm', 'Plans'),
  '_bmad/bmm/agents/qa.md': agent('qa', 'Tests'),
  '_bmad/bmm/workflows/1-plan/plan/workflow.md': skill('plan', 'Plans'),
  '_bmad/bmm/workflows/ship/workflow.yaml': 'name: ship\ndescription: Ships\nauthor: Ann\ninstructions: x\n',
  '_bmad/bmm/workflows/ship/template.md': '# Template\n',
  '_bmad/bmm/workflows/unlisted/workflow.md': skill('unlisted', 'Is not listed'),
  '_bmad/bmm/tasks/shard.xml': '<task id="shard" name="Shard" description="Cuts">x</task>\n',
  '_bmad/bmm/teams/all.yaml': 'bundle:\n  name: All\n  description: Everybody\n',
};
const SKILLS = {
  '_bmad/_config/manifest.yaml':
    'installation:\n  version: 6.12.0\nmodules:\n  - name: bmm\n    version: 6.12.0\n',
  '_bmad/_config/skill-manifest.csv':
    'canonicalId,name,description,module,path\n"bmad-prd","bmad-prd","PRD","bmm","_bmad/bmm/plan/bmad-prd/SKILL.md"\n"bmad-agent-dev","bmad-agent-dev","Dev","bmm","_bmad/bmm/build/bmad-agent-dev/SKILL.md"\n',
  '_bmad/bmm/config.yaml': 'user_name: Ada\n',
  '_bmad/bmm/module-help.csv': 'module,phase,name,code,skill,description\nbmm,plan,PRD,CP,bmad-prd,Writes\n',
  '.claude/skills/bmad-prd/SKILL.md': skill('bmad-prd', 'Writes a PRD'),
  '.claude/skills/bmad-prd/customize.toml': '[workflow]\nname = "x"\n',
  '.claude/skills/bmad-agent-dev/SKILL.md': skill('bmad-agent-dev', 'Builds'),
  '.claude/skills/bmad-agent-dev/customize.toml': '[agent]\nname = "Amelia"\ntitle = "Developer"\n',
};
const LOOSE = {
  'agents/one.md': agent('one', 'One'),
  'agents/two.md': skill('two', 'Two, without a tag'),
  'workflows/flow.md': skill('flow', 'Flows'),
};

async function sourcesOf(folder: string, paths: string[] = []): Promise<Source[]> {
  const { sources } = await discoverSources({
    mode: paths.length === 0 ? 'local' : 'auto',
    project: paths.length === 0 ? folder : undefined,
    paths,
    root: undefined,
    git: [],
    home: join(folder, 'nobody'),
    maxFileBytes: 1_000_000,
  });
  return sources;
}

const said = ({ records, winners, modules, problems, overridden, listed, names }: Catalogue): unknown =>
  JSON.parse(
    JSON.stringify([
      [records, winners, modules, problems, [...overridden], listed.map(({ name }) => name)],
      winners.map((record) => [names.handleOf(record), found(names, record)]),
    ]),
  );

/** What each of its names leads to. */
const found = (names: Catalogue['names'], { kind, name, aliases }: BmadRecord): unknown =>
  [name, ...aliases].map((each) =>
    attempt(
      () => names.resolve({ name: each, kinds: [kind], fuzzy: false }).record,
      (error) => String(error),
    ),
  );

/** Edits each of the files in turn and says of which the records were made again alone. */
async function renewedOneByOne(folder: string, files: readonly string[], paths: string[] = []) {
  const reads: string[] = [];
  const sources = (await sourcesOf(folder, paths)).map((source) => ({
    ...source,
    tree: readsNoted(source.tree, (path) => reads.push(path)),
  }));
  let content = await openContent(sources, readers);
  const [alone, most]: [string[], number] = [[], 0];
  let read = most;
  for (const file of files) {
    const path = join(folder, file);
    const before = await readFile(path, 'utf8');
    await writeFile(
      path,
      before.replace(/(description: "?)/, '$1Edited. ').replace('title = "', 'title = "New ') + '\n',
    );
    reads.length = 0;
    const next = await content.renewed([path], true);
    const fresh = await buildCatalogue(await sourcesOf(folder, paths), readers);
    if (next === undefined) content = await openContent(sources, readers);
    else {
      alone.push(file);
      read = Math.max(read, new Set(reads).size);
      expect(said(next.catalogue), file).toEqual(said(fresh));
      content = next;
    }
  }
  return { alone, read };
}

describe('a file that was edited', () => {
  it.each([
    ['of compiled agents and workflows', LISTED, [], (file: string) => !/_config|config\.yaml/.test(file)],
    ['of installed skills', SKILLS, [], (file: string) => file.startsWith('.claude')],
    ['of a plain folder', LOOSE, ['.'], () => true],
  ] as const)(
    '%s is read again alone, and its record is what a new reading makes of it',
    async (_, files, paths, isAlone) => {
      const folder = await temporaryFolder(afterAll);
      await writeFiles(folder, files);
      const { alone, read } = await renewedOneByOne(
        folder,
        Object.keys(files),
        paths.map((path) => join(folder, path)),
      );
      expect(alone).toEqual(Object.keys(files).filter(isAlone));
      // Itself, what is beside it, and the manifest that lists it.
      expect(read).toBeLessThanOrEqual(3);
    },
  );

  it('of many costs as little, whatever their number', async () => {
    const folder = await temporaryFolder(afterAll);
    await writeTree(folder, 60);
    const flows = Array.from({ length: 10 }, (_, index) => `_bmad/bmm/workflows/flow-${index}/workflow.md`);
    const { alone, read } = await renewedOneByOne(folder, flows);
    expect(alone).toEqual(flows);
    expect(read).toBeLessThanOrEqual(2);
  });

  it('has everything read where more than its own record may be another: a name, a fault, a manifest', async () => {
    const folder = await temporaryFolder(afterAll);
    await writeFiles(folder, LISTED);
    const edits: Record<string, string> = {
      '_bmad/bmm/workflows/unlisted/workflow.md': skill('renamed', 'Has another name'),
      '_bmad/bmm/agents/qa.md': '',
      '_bmad/_config/workflow-manifest.csv': 'name,description,module,path\n',
      '_bmad/bmm/config.yaml': 'user_name: Grace\n',
    };
    for (const [file, text] of Object.entries(edits)) {
      const content = await openContent(await sourcesOf(folder), readers);
      await writeFiles(folder, { [file]: text });
      expect(await content.renewed([join(folder, file)], true), file).toBeUndefined();
    }
    const content = await openContent(await sourcesOf(folder), readers);
    await rename(join(folder, '_bmad/bmm/agents/pm.md'), join(folder, '_bmad/bmm/agents/away.md'));
    expect(await content.renewed([join(folder, '_bmad/bmm/agents/pm.md')], false)).toBeUndefined();
    await utimes(folder, 1, 1);
  });
});

describe('rows of a long table that have a text', () => {
  it('are found without the others, also where rows have several lines', () => {
    const rows = ['"a","one"', '"b","two, ""quoted"""', '"c","over\ntwo lines"', '"d","two"', 'e,two'];
    for (const order of [rows, rows.toReversed()]) {
      const text = ['name,about', ...order].join('\n');
      for (const part of ['one', 'two', 'quoted', 'lines', 'd', 'none']) {
        const cells = (all: ReturnType<typeof csvRows>): string[] =>
          all.map(({ cell }) => `${cell('name')} ${cell('about')}`).filter((each) => each.includes(part));
        expect(cells(csvRowsWith('x.csv', text, part)), part).toEqual(cells(csvRows('x.csv', text)));
      }
    }
  });
});
