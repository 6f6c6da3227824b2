import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder } from '../../tests/support/app.ts';
import { writeFiles } from '../../tests/support/folders.ts';
import { thrownBy } from '../../tests/support/thrown.ts';
import type { BmadError } from '../base/errors.ts';
import { createBmad } from './bmad.ts';

const agent = (name: string, body = ''): string =>
  `---\nname: "${name}"\ndescription: "Agent ${name}"\n---\n<agent id="a" name="N-${name}" title="T">\n${body}\n</agent>\n`;

async function world(files: Record<string, string | Buffer>) {
  const folder = await temporaryFolder(afterAll);
  await writeFiles(folder, {
    'bmad/_cfg/manifest.yaml': 'installation:\n  version: 6.0.0-alpha.7\nmodules:\n  - bmm\n',
    ...files,
  });
  const context = await contextIn(folder, { flags: { discovery: 'local', answerBytes: '400000' } });
  return { folder, context, bmad: await createBmad(context) };
}

describe('the library', () => {
  it('lists every name, however many there are, and each leads to what it names', async () => {
    const names = Array.from({ length: 450 }, (_, index) => `a${String(index).padStart(3, '0')}`);
    const { bmad } = await world(
      Object.fromEntries(names.map((name) => [`bmad/bmm/agents/${name}.md`, agent(name)])),
    );
    expect(await bmad.listAgents()).toEqual(names);
    expect(await bmad.loadAgent('a321')).toMatchObject({ name: 'a321', content: agent('a321') });
    expect((await bmad.listAgentsWithMetadata()).map(({ name }) => name)).toEqual(names);
  });

  it('delivers an activation whole, however long it is', async () => {
    const body = Array.from({ length: 40_000 }, (_, index) => `Line ${index} of the instructions.`).join(
      '\n',
    );
    const { bmad } = await world({ 'bmad/bmm/agents/long.md': agent('long', body) });
    const { text, name, kind } = await bmad.activate('long', { message: 'Begin.' });
    expect({ name, kind }).toEqual({ name: 'bmm/long', kind: 'agent' });
    // All but the front matter, which the start has used.
    expect(text).toContain(agent('long', body).replace(/^---\n[^]*?\n---\n+/, ''));
    expect(text.match(/Begin\./g)).toHaveLength(1);
  });

  it('throws errors that say what to do in the words of a program', async () => {
    const { bmad } = await world({ 'bmad/bmm/agents/ada.md': agent('ada') });
    const error = (await thrownBy(() => bmad.loadAgent('adda'))) as BmadError;
    expect(error).toMatchObject({ name: 'BmadError', code: 'not_found', suggestions: ['ada'] });
    expect(error.hint).toContain('listAgents()');
    expect(error.hint).not.toContain('operation');
    expect(await thrownBy(() => bmad.loadFile('../../etc/passwd'))).toMatchObject({ code: 'forbidden' });
    expect(await thrownBy(() => bmad.loadWorkflow(''))).toMatchObject({ code: 'invalid_input' });
    expect(await thrownBy(() => bmad.search(''))).toMatchObject({ code: 'invalid_input' });
    expect(await thrownBy(() => bmad.activate('nobody'))).toMatchObject({ code: 'not_found' });
  });

  it('reads text and says where bytes are', async () => {
    const { bmad, folder } = await world({
      'bmad/bmm/config.yaml': 'a: b\n',
      'bmad/bmm/logo.png': Buffer.from([0x89, 0x50, 0, 0xff, 0xfe]),
    });
    expect(await bmad.loadFile('bmm/config.yaml')).toBe('a: b\n');
    expect(await bmad.loadFile('bmad://bmm/config.yaml')).toBe('a: b\n');
    expect(await thrownBy(() => bmad.loadFile('bmm/logo.png'))).toMatchObject({
      code: 'invalid_input',
      hint: expect.stringContaining('fullPath') as string,
    });
    expect(await bmad.listAllFiles()).toContainEqual({
      relativePath: 'bmm/logo.png',
      fullPath: join(folder, 'bmad', 'bmm', 'logo.png'),
      source: 'project',
      mimeType: expect.any(String) as string,
    });
  });

  it.each(['', undefined, null, 7, '../x', '*', 'nobody', '\0', 'x'.repeat(10_000)])(
    'has no metadata and throws nothing for the name %j',
    async (name) => {
      const { bmad } = await world({ 'bmad/bmm/agents/ada.md': agent('ada') });
      expect(await bmad.getAgentMetadata(name as string)).toBeNull();
    },
  );

  it('knows what has come, and reads all anew when it is told to', async () => {
    const { bmad, folder } = await world({ 'bmad/bmm/agents/ada.md': agent('ada') });
    await writeFiles(folder, { 'bmad/bmm/agents/bob.md': agent('bob') });
    expect(await bmad.listAgents()).toEqual(['ada', 'bob']);
    await bmad.refresh();
    expect(await bmad.listAgents()).toEqual(['ada', 'bob']);
    expect(bmad).toMatchObject({ project: folder, warnings: [] });
  });

  it('lists nothing, without an error, when the content is gone or the library closed', async () => {
    const { bmad, folder } = await world({ 'bmad/bmm/agents/ada.md': agent('ada') });
    await rm(join(folder, 'bmad'), { recursive: true });
    expect(await bmad.getAgentMetadata('ada')).toBeNull();
    expect(await bmad.listAgentsWithMetadata()).toEqual([]);
    bmad.close();
    expect(await bmad.listAgentsWithMetadata()).toEqual([]);
    bmad.close();
    expect(await bmad.listAgents()).toEqual([]);
    expect(await bmad.listWorkflows()).toEqual([]);
    expect(await bmad.listAllFiles()).toEqual([]);
    expect(await thrownBy(() => bmad.loadAgent('ada'))).toMatchObject({ code: 'cancelled' });
  });
});
