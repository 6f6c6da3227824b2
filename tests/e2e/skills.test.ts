import { createHash } from 'node:crypto';
import type { Client, VersionNegotiationMode } from '@modelcontextprotocol/client';
import { SkillsClient, type Skill } from '@modelcontextprotocol/client/ext/skills';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { once } from '../../src/base/async.ts';
import { contextIn, temporaryFolder } from '../support/app.ts';
import { installOf, type Version } from '../support/installs.ts';
import { connectClient } from '../support/mcp-client.ts';
import { connectInMemory } from '../support/told-client.ts';
import { isDeep, ofUsual } from '../support/how-much.ts';

const home = await temporaryFolder(afterAll);

const ERAS: [string, VersionNegotiationMode][] = [
  ['2025', 'legacy'],
  ['2026', { pin: '2026-07-28' }],
];

/** Of each generation: how many skills there are, and one that came from the install. Only 6.12.0 shows built-in ones. */
const GENERATIONS: [Version, number, { uri: string; holds: string; files: string[] }][] = [
  [
    '6.12.0',
    29,
    {
      uri: 'skill://bmm/bmad-agent-architect/SKILL.md',
      holds: 'Architect',
      files: ['SKILL.md', 'customize.toml'],
    },
  ],
  [
    '6.0.0-alpha.22',
    101,
    { uri: 'skill://bmm/bmm-architect/SKILL.md', holds: '<agent id="', files: ['SKILL.md', 'architect.md'] },
  ],
  [
    '4.44.3',
    128,
    {
      uri: 'skill://bmad-core/bmad-core-qa/SKILL.md',
      holds: 'activation-instructions:',
      files: ['SKILL.md', 'agents/qa.md', 'data/technical-preferences.md', 'tasks/nfr-assess.md'],
    },
  ],
];

/** The program serves the newest; the others are read once for the clients of both eras, which takes most of the time. */
const PROGRAM: Version = '6.12.0';
const opened: { close(): void }[] = [];
afterAll(() => opened.forEach((context) => context.close()));
const older = new Map(
  GENERATIONS.map(([version]) => [
    version,
    once(async () => {
      const context = await contextIn(await installOf(version), { home });
      opened.push(context);
      return context;
    }),
  ]),
);

async function connected(version: Version, mode: VersionNegotiationMode): Promise<Client> {
  const context = version === PROGRAM ? undefined : await older.get(version)?.();
  return context === undefined
    ? connectClient({ cwd: await installOf(version), home, mode })
    : connectInMemory(context, mode, () => undefined, { keepContext: true });
}

describe.each(ERAS)('skills for a client of %s', (_era, mode) => {
  // What an older install has is read the same way for both.
  const seen = ofUsual(GENERATIONS).filter(([version]) => isDeep || version === PROGRAM || mode !== 'legacy');
  describe.each(seen)('of an install of %s', (version, count, sample) => {
    let client: Client;
    let skills: SkillsClient;
    let listed: Skill[];
    beforeAll(async () => {
      client = await connected(version, mode);
      skills = new SkillsClient(client);
      listed = (await skills.list()).skills;
      return () => client.close();
    });

    it('are declared, valid, of unique names, and all there', async () => {
      expect([skills.supported, skills.directoryRead]).toEqual([true, true]);
      expect(listed.length).toBe(count);
      expect(new Set(listed.map(({ frontmatter }) => frontmatter.name)).size).toBe(count);
      // One for each thing that can be started, as there is one prompt for each.
      expect((await client.listPrompts()).prompts.length).toBe(count);
    });

    it('are what their digests say, every file of them', async () => {
      // Of every record, `installs.test.ts` reads each byte; here it is the way to it that counts.
      const looked = listed.filter((_, index) => index % 8 === (mode === 'legacy' ? 0 : 4));
      for (const skill of looked) {
        if (skill.resources === 'dynamic') throw new Error(`${skill.uri} has no list of files`);
        for (const { uri, digest, size } of skill.resources) {
          // The client compares size, digest and front matter itself; this is our own sum.
          const { bytes, verified } = await skills.read(skill, uri);
          const sum = createHash('sha256').update(bytes).digest('hex');
          expect([uri, verified, bytes.length, `sha256:${sum}`]).toEqual([uri, true, size, digest]);
        }
      }
    });

    it('hold the original', async () => {
      const { skill } = await skills.get(sample.uri);
      expect(listed).toContainEqual(skill);
      const root = sample.uri.replace('SKILL.md', '');
      const files = skill.resources === 'dynamic' ? [] : skill.resources.map(({ uri }) => uri);
      expect(files).toEqual(expect.arrayContaining(sample.files.map((file) => root + file)));
      expect((await skills.read(skill)).text).toContain(sample.holds);
      const { resources } = await skills.readDirectory(root.replace(/\/$/, ''));
      expect(resources.map(({ name }) => name)).toEqual(
        [...new Set(files.map((uri) => uri.slice(root.length).replace(/\/.*/, '')))].sort(),
      );
    });

    it('are listed among the resources, with the same name and description', async () => {
      const { resources } = await client.listResources();
      const shown = resources.filter(({ uri }) => uri.startsWith('skill://'));
      expect(shown.map(({ uri, name, description }) => [uri, name, description])).toEqual(
        listed.map(({ uri, frontmatter }) => [uri, frontmatter.name, frontmatter.description]),
      );
    });

    it.each([
      'skill://bmm/bmad-prd/../../../package.json',
      'skill://bmm/bmad-prd/%2e%2e/bmad-ux/SKILL.md',
      'skill://bmm/bmad-prd/..%2f..%2fx',
      'skill://bmm/bmad-prd/gone.md',
      'skill://nobody/nothing/SKILL.md',
    ])('refuse %s', async (uri) => {
      await expect(client.readResource({ uri })).rejects.toMatchObject({ code: -32_602 });
      await expect(skills.get(uri)).rejects.toMatchObject({ code: -32_602 });
      await expect(skills.readDirectory(uri)).rejects.toMatchObject({ code: -32_602 });
    });
  });
});
