import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { execute } from '../../src/operations/execute.ts';
import { sourcesAdd } from '../../src/operations/git-sources/sources.ts';
import type { OriginKind } from '../../src/model/record.ts';
import { contextIn, temporaryFolder, testCall } from '../support/app.ts';
import { copyFolder, writeFiles } from '../support/folders.ts';
import { makeRepository } from '../support/git-repository.ts';
import { installAlone } from '../support/install-project.ts';
import { installOf, type Version } from '../support/installs.ts';
import { crawl } from '../support/path-crawler.ts';
import { bareEnvironment } from '../support/programs.ts';
import { EXCUSES, type Excuse } from './excused-paths.ts';
import { isDeep, some, usually } from '../support/how-much.ts';

const VERSIONS: readonly Version[] = [
  '4.44.3',
  '6.0.0-alpha.7',
  '6.0.0-alpha.22',
  '6.0.0-Beta.5',
  '6.0.4',
  '6.1.0',
  '6.2.0',
  '6.3.0',
  '6.5.0',
  '6.8.0',
  '6.12.0',
];

type Opened = Parameters<typeof crawl>[0];

/** Content outside of a project, under names that its texts do not know. */
const ELSEWHERE: Record<string, { kind: OriginKind; open(scratch: string): Promise<Opened> }> = {
  '6.0.4 in the home folder': {
    kind: 'user',
    async open(scratch) {
      copyFolder(join(await installOf('6.0.4'), '_bmad'), join(scratch, 'home/.bmad'));
      await writeFiles(scratch, { 'empty/': '' });
      return (await contextIn(join(scratch, 'empty'), { home: join(scratch, 'home') })).workspace();
    },
  },
  'loose files': {
    kind: 'cli',
    async open(scratch) {
      await writeFiles(scratch, {
        'team/agents/ada.md':
          '---\nname: Ada\ndescription: Reads\n---\n\nRead ./rules.md and ../data/facts.csv.\n',
        'team/agents/rules.md': 'Rules\n',
        'team/data/facts.csv': 'a,b\n',
        'team/workflows/ship.yaml':
          'name: ship\ndescription: Ships\ninstructions: "{installed_path}/ship-steps.md"\n',
        'team/workflows/ship-steps.md': 'Follow {installed_path}/ship.yaml\n',
      });
      return (await contextIn(scratch, { flags: { paths: [join(scratch, 'team')] } })).workspace();
    },
  },
  'what is built in': {
    kind: 'package',
    open: async (scratch) => (await contextIn(scratch)).workspace(),
  },
  '6.0.0-alpha.7 from git': {
    kind: 'git',
    async open(scratch) {
      const hosts = join(scratch, 'hosts');
      await writeFiles(scratch, { 'hosts/': '', 'empty/': '', 'home/': '' });
      // The repository is the folder of BMAD itself, so that nothing there is called as the texts call it.
      const team = await makeRepository(hosts, 'team');
      copyFolder(join(await installOf('6.0.0-alpha.7'), 'bmad'), team.work);
      await team.commit({});
      const home = join(scratch, 'home');
      const outside = { home, env: bareEnvironment(home), patient: true };
      const source = `${team.source}#main`;
      const added = await execute(
        sourcesAdd,
        { source },
        await contextIn(join(scratch, 'empty'), outside),
        testCall(),
      );
      if (!added.ok) throw new Error(added.error.text);
      const context = await contextIn(join(scratch, 'empty'), { ...outside, flags: { discovery: 'strict' } });
      const workspace = await context.workspace();
      expect(workspace.catalogue.sources.map(({ origin }) => origin.git?.source)).toEqual([source]);
      return workspace;
    },
  },
  '4.44.3 in BMAD_ROOT': {
    kind: 'env',
    async open(scratch) {
      const root = join(await installOf('4.44.3'), '.bmad-core');
      return (await contextIn(scratch, { env: { BMAD_ROOT: root } })).workspace();
    },
  },
};

describe('the paths that delivered texts name', () => {
  const used = new Set<Excuse>();
  const lines: string[] = [];
  const cleanUps: (() => Promise<void>)[] = [];
  afterAll(async () => {
    for (const cleanUp of cleanUps) await cleanUp();
    process.stderr.write(`${lines.join('\n')}\n`);
  });

  /** What leads nowhere and is not excused, with a word about texts that name nothing at all. */
  async function deadEndsOf(install: string, opened: Opened, kind?: OriginKind): Promise<unknown[]> {
    const { texts, files, paths, resolved, deadEnds } = await crawl(opened, kind);
    const isExcused = ({ written }: { written: string }): boolean => {
      const excuse = EXCUSES.find((each) => each.installs.test(install) && each.path.test(written));
      if (excuse !== undefined) used.add(excuse);
      return excuse !== undefined;
    };
    const left = deadEnds.filter((end) => !isExcused(end));
    lines.push(
      `${install}: ${texts} texts, ${files} files, ${paths} paths, ${resolved} resolved, ${deadEnds.length - left.length} excused`,
    );
    return paths > texts && texts > 0 ? left : [...left, `${texts} texts name ${paths} paths`];
  }

  it.each(usually(VERSIONS))('M-03: lead to files in an install of %s', async (version) => {
    expect(await deadEndsOf(version, await (await installAlone(version)).workspace())).toEqual([]);
  });

  it.each(some(3, Object.keys(ELSEWHERE)))('M-03: lead to files of %s', async (name) => {
    const { kind, open } = ELSEWHERE[name] ?? {};
    if (kind === undefined || open === undefined) throw new Error(name);
    const opened = await open(await temporaryFolder((cleanUp) => cleanUps.push(cleanUp)));
    expect(await deadEndsOf(name, opened, kind)).toEqual([]);
  });

  it.runIf(isDeep)('M-03: are excused only where a text still names them', () => {
    expect(EXCUSES.filter((excuse) => !used.has(excuse))).toEqual([]);
  });
});
