import { afterAll, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { openSession } from '../../../tests/support/operations.ts';
import { listMark } from './resources.ts';

const skill = (description: string): Record<string, string> => ({
  '_bmad/_config/manifest.yaml': 'installation:\n  version: 6.2.0\nmodules:\n  - mm\n',
  '_bmad/mm/plan/SKILL.md': `---\nname: plan\ndescription: ${description}\n---\n# Plan\n`,
});

it.each(['prompts', 'resources'] as const)('stands for the list of %s', async (list) => {
  const folder = await temporaryFolder(afterAll);
  await writeFiles(folder, skill('Plans a thing'));
  const session = await openSession(afterAll, { flags: { project: folder, discovery: 'local' } });
  const mark = async (): Promise<unknown> => (await session.ok(listMark, { list })).data['mark'];
  const before = await mark();
  expect(await mark()).toBe(before);
  await writeFiles(folder, { 'src/main.ts': 'export {};\n' });
  expect(await mark(), 'a file that no list has').toBe(before);
  await writeFiles(folder, skill('Plans another thing'));
  expect(await mark()).not.toBe(before);
});
