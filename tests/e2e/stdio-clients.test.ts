import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ProtocolError, type Client, type VersionNegotiationMode } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contentRoot, temporaryFolder } from '../support/app.ts';
import { callInParts, connectClient, textsOf } from '../support/mcp-client.ts';
import { DEFAULT_TOOLS } from '../support/tool-names.ts';

const ARCHITECT = 'bmm/agents/bmad-agent-architect/SKILL.md';
const PRD = 'bmm/plan/bmad-prd/SKILL.md';
const MESSAGE = 'Review our caching plan, please. 🏗️';

const ERAS: { name: string; mode: VersionNegotiationMode; era: string; version: string }[] = [
  { name: 'a client of the 2025 era', mode: 'legacy', era: 'legacy', version: '2025-11-25' },
  { name: 'a client that finds out the era', mode: 'auto', era: 'modern', version: '2026-07-28' },
  { name: 'a client of the 2026 era', mode: { pin: '2026-07-28' }, era: 'modern', version: '2026-07-28' },
];

const cwd = await temporaryFolder(afterAll);
const home = await temporaryFolder(afterAll);

/** The protocol error a request ends in. */
async function failure(doomed: Promise<unknown>): Promise<ProtocolError> {
  const error = await doomed.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ProtocolError)) throw new Error(`No protocol error came: ${String(error)}`);
  return error;
}

/** The end of a file, behind the steps of its activation that may be done already. */
async function lastSection(path: string): Promise<string> {
  const text = await readFile(join(contentRoot, path), 'utf8');
  return text.slice(text.lastIndexOf('\n##'));
}

describe.each(ERAS)('$name', ({ mode, era, version }) => {
  let client: Client;
  beforeAll(async () => {
    client = await connectClient({ cwd, home, mode });
    return () => client.close();
  });

  const call = (args: Record<string, unknown>) => client.callTool({ name: 'bmad', arguments: args });
  it('agrees on the protocol and learns who serves', () => {
    expect(client.getProtocolEra()).toBe(era);
    expect(client.getNegotiatedProtocolVersion()).toBe(version);
    expect(client.getServerVersion()).toMatchObject({ name: 'bmad-mcp-server', title: 'BMAD MCP Server' });
    expect(Object.keys(client.getServerCapabilities() ?? {}).sort()).toEqual([
      'completions',
      'extensions',
      'prompts',
      'resources',
      'tools',
    ]);
  });

  it('gets instructions that hosts need not cut and that begin with the tool', () => {
    const instructions = client.getInstructions() ?? '';
    expect(instructions.length).toBeGreaterThan(200);
    expect(instructions.length).toBeLessThanOrEqual(2_000);
    expect(instructions.split(/[.\n]/)[0]).toContain('the tool "bmad"');
  });

  it('sees the tool for everything, which only reads, and those for the project and its memory', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([...DEFAULT_TOOLS]);
    expect(tools[0]).toMatchObject({
      name: 'bmad',
      title: 'BMAD agents and workflows',
      inputSchema: { type: 'object' },
      annotations: {
        readOnlyHint: true,
        openWorldHint: false,
      },
    });
  });

  it('lists the agents', async () => {
    const [body = '', note] = textsOf(await call({ operation: 'list', query: 'agents' }));
    const names = [...body.matchAll(/^- \*\*([\w-]+)\*\*/gm)].map((match) => match[1]);
    expect(names).toEqual(['analyst', 'architect', 'dev', 'pm', 'ux-designer']);
    expect(note).toMatch(/^5 agents/);
  });

  it('reads an agent byte for byte', async () => {
    const [body] = textsOf(await call({ operation: 'read', agent: 'architect', detail: 'full' }));
    expect(body).toBe(await readFile(join(contentRoot, ARCHITECT), 'utf8'));
  });

  it('starts an agent with a message', async () => {
    const parts = await callInParts(client, { operation: 'execute', agent: 'architect', message: MESSAGE });
    const text = parts.join('');
    expect(text).toMatch(/^# Winston/);
    expect(text).toContain(MESSAGE);
    expect(text).toContain(await lastSection(ARCHITECT));
    expect(text).toContain(cwd);
  });

  it('gets an agent whole every time (A-1)', async () => {
    const [body = ''] = textsOf(await call({ operation: 'execute', agent: 'architect', message: 'Go on.' }));
    expect(body).toContain('Go on.');
    expect(body).toContain('----- BEGIN');
  });

  it('finds by words, best first', async () => {
    const [body = ''] = textsOf(await call({ operation: 'search', query: 'plan the next sprint' }));
    expect(body.split('\n')[0]).toContain('**sprint-planning**');
  });

  it('has a prompt for every agent, workflow and plain skill', async () => {
    const { prompts } = await client.listPrompts();
    expect(new Set(prompts.map(({ name }) => name)).size).toBe(29);
    expect(prompts.find(({ name }) => name === 'bmad-architect')).toMatchObject({
      title: 'Winston, System Architect',
      arguments: [{ name: 'message', required: false }],
    });
    for (const { name, description } of prompts) {
      expect(name).toMatch(/^bmad-[a-z0-9_-]+$/);
      expect(description).toBeTruthy();
    }
  });

  it.each([
    { name: 'bmad-architect', title: 'Winston, System Architect', begins: /^# Winston/, file: ARCHITECT },
    { name: 'bmad-prd', title: 'PRD', begins: /^# .*workflow bmm\/bmad-prd/, file: PRD },
  ])('gets the prompt $name whole, with and without a message', async ({ name, title, begins, file }) => {
    const plain = await client.getPrompt({ name });
    const asked = await client.getPrompt({ name, arguments: { message: MESSAGE } });
    const textOf = ({ messages }: typeof plain): string => {
      expect(messages).toHaveLength(1);
      expect(messages[0]).toMatchObject({ role: 'user', content: { type: 'text' } });
      return messages[0]?.content.type === 'text' ? messages[0].content.text : '';
    };
    expect(plain.description).toContain(title);
    expect(textOf(plain)).toMatch(begins);
    expect(textOf(plain)).not.toContain('## Message from the user');
    expect(textOf(plain)).toContain(await lastSection(file));
    expect(textOf(asked)).toMatch(begins);
    expect(textOf(asked)).toContain(`## Message from the user\n\n\`\`\`text\n${MESSAGE}\n\`\`\``);
  });

  it('pages through all resources', async () => {
    const uris: string[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const page = await client.request({
        method: 'resources/list',
        params: cursor === undefined ? {} : { cursor },
      });
      uris.push(...page.resources.map(({ uri }) => uri));
      cursor = page.nextCursor;
      pages += 1;
    } while (cursor !== undefined);
    expect(pages).toBeGreaterThan(1);
    expect(new Set(uris).size).toBe(uris.length);
    expect(uris).toContain(`bmad://${ARCHITECT}`);
    expect(uris).toContain('bmad://bmm/config.yaml');
    expect((await client.listResources()).resources.map(({ uri }) => uri)).toEqual(uris);
  });

  it('has templates for agents, workflows and paths, and serves what they lead to', async () => {
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'bmad://agents/{agent}',
      'bmad://workflows/{workflow}',
      'bmad://knowledge/{knowledge}',
      'bmad://memory/{memory}',
      'bmad://memory/{memory}/{memory_id}',
      'bmad://runs/{branch}',
      'bmad://runs/{branch}/{run_id}',
      'bmad://project/agents/{project_agent}',
      'bmad://tasks/{task_id}',
      'bmad://contracts/{contract_id}',
      'bmad://{+path}',
      'skill://{+skill}',
    ]);
    const file = await readFile(join(contentRoot, ARCHITECT), 'utf8');
    for (const uri of ['bmad://agents/architect', `bmad://${ARCHITECT}`]) {
      const { contents } = await client.readResource({ uri });
      expect(contents).toEqual([{ uri, mimeType: 'text/markdown', text: file }]);
    }
    const { contents } = await client.readResource({ uri: 'bmad://workflows/prd' });
    expect(contents[0]).toMatchObject({
      text: await readFile(join(contentRoot, PRD), 'utf8'),
    });
  });

  it.each([
    ['bmad://agents/{agent}', 'agent', 'arch', ['architect']],
    ['bmad://workflows/{workflow}', 'workflow', 'prd', ['prd']],
    ['bmad://{+path}', 'path', 'bmm/agents/bmad-agent-arch', [ARCHITECT]],
    ['skill://{+skill}', 'skill', 'bmm/bmad-prd/', ['bmm/bmad-prd/SKILL.md']],
    ['bmad://agents/{agent}', 'colour', '', []],
  ])('completes %s, variable %s, from "%s"', async (uri, name, value, expected) => {
    const { completion } = await client.complete({
      ref: { type: 'ref/resource', uri },
      argument: { name, value },
    });
    expect(completion.values).toEqual(expect.arrayContaining(expected));
    expect(completion.values.every((found) => found.includes(value))).toBe(true);
    expect(completion.values.length === 0).toBe(expected.length === 0);
  });

  it("completes an agent prompt's message from its menu", async () => {
    const { completion } = await client.complete({
      ref: { type: 'ref/prompt', name: 'bmad-architect' },
      argument: { name: 'message', value: 'ca' },
    });
    expect(completion.values[0]).toMatch(/^CA: .*architecture/);
  });

  it('is told about a tool, a prompt and a resource that do not exist, and what comes near', async () => {
    const tool = await failure(client.callTool({ name: 'bmadd' }));
    expect(tool).toMatchObject({ code: -32_602, message: expect.stringContaining('"bmadd"') as string });
    expect(tool.message).toContain('Did you mean: bmad?');

    const prompt = await failure(client.getPrompt({ name: 'bmad-architct' }));
    expect(prompt.code).toBe(-32_602);
    expect(prompt.message).toContain('"bmad-architct"');
    expect(prompt.message).toContain('Did you mean: bmad-architect');

    const uri = `bmad://${ARCHITECT.replace('SKILL', 'SKIL')}`;
    const resource = await failure(client.readResource({ uri }));
    expect(resource).toMatchObject({ code: -32_602, data: { uri } });
    expect(resource.data).toHaveProperty('suggestions.0', `bmad://${ARCHITECT}`);
  });

  it('gets a flagged answer, not a protocol error, when the tool cannot do what is asked', async () => {
    const result = await call({ operation: 'execute', agent: 'architct' });
    expect(result.isError).toBe(true);
    expect(textsOf(result)[0]).toMatch(/"architct"[^]*Did you mean: architect/);
  });
});
