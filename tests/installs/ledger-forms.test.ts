import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { sprintPlan } from '../../src/operations/project/ledgers.ts';
import { storyStatus } from '../../src/operations/project/stories.ts';
import { plannedIn } from '../../src/services/progress/document.ts';
import { temporaryFolder } from '../support/app.ts';
import { isUsual } from '../support/how-much.ts';
import { installOf, type Version } from '../support/installs.ts';
import { sessionIn } from '../support/operations.ts';
import { EPICS } from '../support/progress-trees/pieces.ts';

const ARTEFACTS = '_bmad-output/implementation-artifacts';

/** Where each version keeps the ledger, the words of its legend, and what a story with a file is called. */
const FORMS: readonly [Version, string, string, string][] = [
  ['6.0.0-alpha.7', 'docs', '#   - contexted: Epic tech context created', 'drafted'],
  ['6.0.0-alpha.22', ARTEFACTS, "# - Mark epic as 'in-progress'|# Epic Status:", 'ready-for-dev'],
  ['6.0.0-Beta.5', ARTEFACTS, 'Automatically when first story is created', 'ready-for-dev'],
  ['6.0.4', ARTEFACTS, 'Automatically when first story is created', 'ready-for-dev'],
  ['6.1.0', ARTEFACTS, 'Automatically when first story is created', 'ready-for-dev'],
  ['6.2.0', ARTEFACTS, 'Automatically when first story is created', 'ready-for-dev'],
  ['6.3.0', ARTEFACTS, 'Automatically when first story is created', 'ready-for-dev'],
  ['6.5.0', ARTEFACTS, 'Automatically when first story is created', 'ready-for-dev'],
  ['6.8.0', ARTEFACTS, '# last_updated: ', 'ready-for-dev'],
  ['6.12.0', ARTEFACTS, "via build's sprint sync", 'ready-for-dev'],
];

describe('the ledger of each version', () => {
  it.each(FORMS.filter(([version]) => isUsual(version)))(
    '%s is made as its own sprint planning says, and its stories are set',
    async (version, folder, legend, written) => {
      const root = await temporaryFolder(afterAll);
      await cp(await installOf(version), root, { recursive: true });
      const put = async (path: string, text: string): Promise<void> => {
        await mkdir(dirname(join(root, path)), { recursive: true });
        await writeFile(join(root, path), text);
      };
      const stories = folder === 'docs' ? 'docs/stories' : folder;
      await put(folder === 'docs' ? 'docs/epics.md' : '_bmad-output/planning-artifacts/epics.md', EPICS);
      await put(
        `${stories}/1-1-setup.md`,
        `# Story 1.1: Setup\n\nStatus: ${written}\n\n## Story\n\nAs a user\n`,
      );
      const session = await sessionIn(root);
      await session.ok(sprintPlan, { apply: true });
      const text = await readFile(join(root, folder, 'sprint-status.yaml'), 'utf8');
      expect(text).toMatch(new RegExp(legend.replaceAll(/[().]/g, '\\$&')));
      expect(text).toContain(`story_location: ${stories}\n`);
      expect(text).toMatch(/\ngenerated: \d\d-\d\d-\d{4} \d\d:\d\d\n/);
      expect(text).not.toMatch(/[{}]/);
      expect(text).toContain(
        `\n  epic-1: backlog\n  1-1-setup: ${written}\n  1-2-login: backlog\n  epic-1-retrospective: optional\n\n  epic-2: backlog\n`,
      );
      await session.ok(storyStatus, { story: '1.1', status: 'in-progress' });
      expect(await readFile(join(root, stories, '1-1-setup.md'), 'utf8')).toContain(
        '\nStatus: in-progress\n',
      );
      expect(await readFile(join(root, folder, 'sprint-status.yaml'), 'utf8')).toContain(
        `\n  epic-1: ${written === 'drafted' ? 'backlog' : 'in-progress'}\n  1-1-setup: in-progress\n`,
      );
      session.close();
    },
  );
});

describe("the headings of each version's template for epics", () => {
  it.each(FORMS.filter(([version]) => isUsual(version)))(
    '%s has an epic and a story in it',
    async (version) => {
      const root = await installOf(version);
      const paths = (await readdir(root, { recursive: true })).filter((path) =>
        path.endsWith('epics-template.md'),
      );
      expect(paths).not.toEqual([]);
      for (const path of paths) {
        const template = await readFile(join(root, path), 'utf8');
        const { epics, stories } = plannedIn(path, template.replaceAll(/\{\{[NM]\}\}/g, '1'));
        expect([epics.length, stories.length]).toEqual([1, 1]);
      }
    },
  );
});
