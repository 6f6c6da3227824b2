import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client, ReadResourceResult } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contentRoot, temporaryFolder } from '../support/app.ts';
import { callInParts, connectClient, textsOf } from '../support/mcp-client.ts';
import { filesBelow, MOVED, packageSkills, packageSource } from '../support/package-skills.ts';

const skills = await packageSkills();
const current = skills.filter(({ shim }) => !shim);

const cwd = await temporaryFolder(afterAll);
const home = await temporaryFolder(afterAll);
let client: Client;
/** Its calls stand each for itself, so that it is given the same text under every name. */
let stateless: Client;
beforeAll(async () => {
  client = await connectClient({ cwd, home });
  stateless = await connectClient({ cwd, home, mode: { pin: '2026-07-28' } });
  return async () => {
    await client.close();
    await stateless.close();
  };
});

function bytesOf({ contents: [content] }: ReadResourceResult): Buffer {
  if (content === undefined) throw new Error('The answer holds nothing.');
  return 'text' in content ? Buffer.from(content.text, 'utf8') : Buffer.from(content.blob, 'base64');
}

it('tests all of the package: 5 agents, 22 workflows, 2 plain skills and 21 old names', () => {
  const count = (kind: string): number => current.filter((skill) => skill.kind === kind).length;
  expect([count('agent'), count('workflow'), count('plain')]).toEqual([5, 22, 2]);
  expect(skills.length - current.length).toBe(21);
});

describe.each(skills)('$name', ({ name, short, kind, uri, bytes }) => {
  const argument = kind === 'agent' ? 'agent' : 'workflow';

  it('is read byte for byte as a resource', async () => {
    expect(bytesOf(await client.readResource({ uri })).equals(bytes)).toBe(true);
  });

  it.each([...new Set([name, short])])(
    'is read byte for byte as "%s", in parts and at once',
    async (called) => {
      const parts = await callInParts(client, { operation: 'read', [argument]: called });
      expect(Buffer.from(parts.join(''), 'utf8').equals(bytes)).toBe(true);
      const whole = await client.callTool({
        name: 'bmad',
        arguments: { operation: 'read', [argument]: called, detail: 'full' },
      });
      const [body = '', note] = textsOf(whole);
      expect(Buffer.from(body, 'utf8').equals(bytes)).toBe(true);
      expect(note).toContain(uri);
    },
  );

  it.each([...new Set([name, short])])('starts as "%s"', async (called) => {
    const start = { operation: 'execute', [argument]: called, message: 'Begin.' };
    const parts = await callInParts(stateless, start);
    // What is deprecated is said before all else.
    expect(parts.join('')).toMatch(/^(?:> .+\n\n)?# .+\n[^]*Begin\.[^]*-{5} BEGIN bmad:[^]*-{5} END bmad:/);
  });
});

/** Tests and compiled files of the package are of no use to a model, so the build leaves them out. */
function wanted(path: string): boolean {
  return !/(?:^|\/)(?:tests|__pycache__)\/|\.pyc$/.test(path);
}

describe('the content', () => {
  it('has every file of the package, unchanged, and nothing of its own but the manifest', async () => {
    const expected = new Map<string, string>([['LICENSE', join(packageSource, '..', 'LICENSE')]]);
    for (const [from, to] of MOVED) {
      const files = await filesBelow(join(packageSource, from));
      for (const file of files.filter(wanted)) expected.set(`${to}/${file}`, join(packageSource, from, file));
    }
    const found = (await filesBelow(contentRoot)).filter((path) => path !== '_config/manifest.yaml');
    expect(found).toEqual([...expected.keys()].sort());
    const changed: string[] = [];
    for (const [path, original] of expected)
      if (!(await readFile(join(contentRoot, path))).equals(await readFile(original))) changed.push(path);
    expect(changed).toEqual([]);
  });

  it('is served byte for byte, every file of it', async () => {
    const { resources } = await client.listResources();
    const listed = resources.map(({ uri }) => decodeURIComponent(uri.replace('bmad://', '')));
    const files = await filesBelow(contentRoot);
    expect(listed).toEqual(expect.arrayContaining(files));
    const changed: string[] = [];
    for (const path of files) {
      const uri = resources[listed.indexOf(path)]?.uri ?? '';
      const served = bytesOf(await client.readResource({ uri }));
      if (!served.equals(await readFile(join(contentRoot, path)))) changed.push(path);
    }
    expect(changed).toEqual([]);
  });
});
