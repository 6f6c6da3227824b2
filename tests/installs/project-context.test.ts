import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { execute } from '../../src/operations/execute.ts';
import { type ContextData, getProjectContext } from '../../src/operations/project/project-context.ts';
import { contextIn, temporaryFolder, testCall } from '../support/app.ts';
import { installOf, type Version } from '../support/installs.ts';
import { copyFolder } from '../support/folders.ts';
import { isUsual } from '../support/how-much.ts';

const VERSIONS: [Version, object][] = [
  ['4.44.3', { v4: { devStoryLocation: 'docs/stories', prd: { prdFile: 'docs/prd.md' } } }],
  ['6.0.0-alpha.7', { modules: { bmm: { user_skill_level: expect.any(String) } } }],
  ['6.2.0', { modules: { bmm: { planning_artifacts: expect.stringContaining('planning-artifacts') } } }],
  ['6.12.0', { core: { output_folder: expect.stringContaining('_bmad-output') }, modules: { bmm: {} } }],
];

describe('get_project_context on a real install', () => {
  it.each(VERSIONS.filter(([version]) => isUsual(version)))(
    'of %s knows what BMAD was set up with',
    async (version, config) => {
      const folder = join(await temporaryFolder(onTestFinished), 'shop');
      copyFolder(await installOf(version), folder);
      const context = await contextIn(folder, { flags: { embedder: 'none' } });
      onTestFinished(() => {
        context.close();
      });
      const outcome = await execute(getProjectContext, {}, context, testCall());
      if (!outcome.ok) throw new Error(outcome.error.text);
      expect(outcome.data['bmad']).toMatchObject(config);
      const { team = [], bmad = [] } = (outcome.data as ContextData).agents ?? {};
      expect([...team.map(({ id }) => id), ...bmad]).toEqual(
        expect.arrayContaining([expect.stringContaining('architect')]),
      );
      expect(outcome.data['warnings']).toEqual([]);
      expect(outcome.answer.body.length).toBeLessThan(10_000);
    },
  );
});
