import type { Client } from '@modelcontextprotocol/client';
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../support/app.ts';
import { writeFiles } from '../support/folders.ts';
import { textsOf } from '../support/mcp-client.ts';
import { connectHere } from '../support/mcp-here.ts';
import { bmadHere } from '../support/command-line.ts';
import { bareEnvironment, bmad } from '../support/programs.ts';

/** Words that only a model reads, a space without width, a turn of direction. */
const HIDDEN = `${Array.from('obey', (char) => String.fromCodePoint(0xe0000 + char.charCodeAt(0))).join('')}\u200B\u202E`;
const ANY = /[\u200B\u202E\u{E0000}-\u{E007F}]/u;

const agent = (name: string, shown: string): string =>
  `---\nname: "${name}"\ndescription: "Digs${HIDDEN} here"\n---\n\n<agent id="${name}" name="${shown}" title="Dig${HIDDEN}ger">\n<persona><role>Dig${HIDDEN}s</role><identity>A mo${HIDDEN}le</identity></persona>\n<menu><item cmd="*dig">Dig${HIDDEN} now</item></menu>\n</agent>\n`;
const MOLE = agent(`mo${HIDDEN}le`, `Mo${HIDDEN}le`);
const SKILL = `---\nname: nosy\ndescription: "Reads${HIDDEN} files"\nlicense: "M${HIDDEN}IT"\n---\n# Nosy\n`;

const cwd = await temporaryFolder(afterAll);
const home = await temporaryFolder(afterAll);
let client: Client;

beforeAll(async () => {
  await writeFiles(cwd, {
    '_bmad/core/agents/mole.md': MOLE,
    '_bmad/core/nosy/SKILL.md': SKILL,
    [`_bmad/core/data/no${HIDDEN}tes.md`]: '# Notes\n',
    '_bmad/core/agents/architect.md': agent('architect', 'Winston'),
    '_bmad/core/agents/farmer.md': agent('farmer', 'Fern'),
  });
  client = await connectHere({ cwd, home, args: ['--toolsets', 'bmad,agents,workflows'] });
  return () => client.close();
});

const ask = (args: Record<string, unknown>) => client.callTool({ name: 'bmad', arguments: args });

describe('names and descriptions', () => {
  it.each([
    ['tools/list', async () => (await client.listTools()).tools],
    ['prompts/list', async () => (await client.listPrompts()).prompts],
    ['resources/list', async () => (await client.listResources()).resources],
    ['skills/list', async () => (await new SkillsClient(client).list()).skills],
    ['list', async () => textsOf(await ask({ operation: 'list', query: 'agents', detail: 'full' }))],
    [
      'the list of skills',
      async () => textsOf(await ask({ operation: 'list', query: 'skills', detail: 'full' })),
    ],
    [
      'the list of files',
      async () => textsOf(await ask({ operation: 'list', query: 'resources', pattern: 'core/**' })),
    ],
    ['search', async () => textsOf(await ask({ operation: 'search', query: 'digs here mole nosy' }))],
    [
      'the generated manifest',
      async () => (await client.readResource({ uri: 'bmad://manifests/agents' })).contents,
    ],
  ])('have nothing hidden in them in %s (S-13)', async (_where, list) => {
    const text = JSON.stringify(await list());
    expect(text).toMatch(/mole|nosy|notes/);
    expect(text).not.toMatch(ANY);
  });

  it('lead to what they name, and the file comes to the byte', async () => {
    const [body] = textsOf(await ask({ operation: 'read', agent: 'mole', detail: 'full' }));
    expect(body).toBe(MOLE);
  });

  it('are told by the doctor, a finding for each file (S-13)', async () => {
    const { stdout } = await bmadHere(['doctor', '--no-handshake', '--json'], {
      cwd,
      env: bareEnvironment(home),
    });
    const { findings } = JSON.parse(stdout.toString('utf8')) as {
      findings: { about: string; text: string }[];
    };
    const hidden = findings.filter(({ about }) => about === 'hidden-characters').map(({ text }) => text);
    expect(hidden).toHaveLength(5);
    for (const name of ['mole.md', 'architect.md', 'farmer.md', 'SKILL.md', 'tes.md'])
      expect(hidden.some((text) => text.includes(name))).toBe(true);
  });
});

describe('a file that takes the place of a built-in agent', () => {
  const LINE = /Project overrides BMAD [\d.]+ \(built in\) here\./;

  it('is told in the answer of execute, in a tool and in a prompt (S-13)', async () => {
    expect(textsOf(await ask({ operation: 'execute', agent: 'architect' })).join('\n')).toMatch(LINE);
    const { messages } = await client.getPrompt({ name: 'bmad-architect' });
    expect(JSON.stringify(messages)).toMatch(LINE);
  });

  it('is told on the command line, in words and as data (S-13)', async () => {
    const env = bareEnvironment(home);
    expect((await bmad(['execute', 'architect'], { cwd, env })).stdout.toString('utf8')).toMatch(LINE);
    const { stdout } = await bmadHere(['execute', 'architect', '--json'], { cwd, env });
    expect(JSON.parse(stdout.toString('utf8'))).toMatchObject({
      context: { originInfo: { kind: 'project', insteadOf: expect.stringMatching(/built in/) } },
    });
  });

  it('is not said of anything else', async () => {
    for (const name of ['farmer', 'pm', 'nosy'])
      expect(textsOf(await ask({ operation: 'execute', agent: name })).join('\n')).not.toContain(
        'overrides BMAD',
      );
  });
});
