import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder } from '../../tests/support/app.ts';
import { writeFiles } from '../../tests/support/folders.ts';
import { qualifiedName } from '../model/record.ts';

const agent = (name: string): string =>
  `---\nname: "${name}"\ndescription: "Does ${name}"\n---\n\n<agent id="${name}" name="${name}" title="T">\n</agent>\n`;
const loads = (path: string): string => `---\nname: x\n---\n\nLOAD the FULL agent file from ${path}\n`;

/** What the commands in the given files start. */
async function started(files: Record<string, string>): Promise<string[]> {
  const folder = join(await temporaryFolder(afterAll), 'project');
  await writeFiles(folder, {
    '_bmad/_config/manifest.yaml': 'installation:\n  version: 6.0.4\nmodules:\n  - bmm\n',
    '_bmad/bmm/agents/pm.md': agent('pm'),
    '_bmad/bmm/agents/dev.md': agent('dev'),
    ...files,
  });
  const workspace = await (await contextIn(folder)).workspace();
  return [...(await workspace.startedByCommands(['.claude/commands']))].map(qualifiedName);
}

describe('the commands of an assistant', () => {
  it('start what they load, however deep they lie', async () => {
    expect(
      await started({
        '.claude/commands/bmad-agent-bmm-pm.md': loads('{project-root}/_bmad/bmm/agents/pm.md'),
        '.claude/commands/team/ours/dev.toml': loads('@_bmad/bmm/agents/dev.md'),
      }),
    ).toEqual(['bmm/pm', 'bmm/dev']);
  });

  it.each<[string, Record<string, string>]>([
    ['are of the user', { 'pm.md': 'Act as our pm.\n', 'bmad-pm.md': '# /pm Command\n' }],
    ['load a file whose name only begins like it', { 'x.md': loads('_bmad/bmm/agents/pm.mdx') }],
    ['load a file of another folder', { 'x.md': loads('other/bmm/agents/pm.md') }],
    ['are no texts', { 'x.png': loads('_bmad/bmm/agents/pm.md') }],
  ])('start nothing of BMAD if they %s', async (_which, commands) => {
    const files = Object.entries(commands).map(([name, text]) => [`.claude/commands/${name}`, text]);
    expect(await started(Object.fromEntries(files) as Record<string, string>)).toEqual([]);
  });
});
