import { InMemoryTransport, type Client } from '@modelcontextprotocol/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Outside } from '../../src/app/app.ts';
import { mcpServerFactory } from '../../src/surfaces/mcp/server.ts';
import { serveTransport } from '../../src/surfaces/mcp/stdio.ts';
import { contextIn, temporaryFolder } from '../support/app.ts';
import { KIT_FILES, writeFiles } from '../support/kit-project.ts';
import { newClient, textsOf } from '../support/mcp-client.ts';

// Hosts differ in what they pass on and in what they show a model; each is met by what it calls itself.

/** A host of this name at a server of ours, in a project with these files. */
async function hostNamed(
  name: string,
  flags: Outside['flags'] = {},
  files: Readonly<Record<string, string>> = {},
): Promise<Client> {
  const folder = await temporaryFolder(onTestFinished);
  await writeFiles(folder, files);
  const context = await contextIn(folder, { flags });
  const [theirs, ours] = InMemoryTransport.createLinkedPair();
  const server = await mcpServerFactory(context)({ era: 'legacy' } as never);
  await server.connect(ours);
  const client = newClient({ name });
  await client.connect(theirs);
  onTestFinished(async () => {
    await client.close();
    context.close();
  });
  return client;
}

const ARCHITECT = 'bmad-architect';

async function promptText(client: Client, message?: string): Promise<string> {
  const args = message === undefined ? {} : { message };
  const { messages } = await client.getPrompt({ name: ARCHITECT, arguments: args });
  return messages.map(({ content }) => (content.type === 'text' ? content.text : '')).join('\n');
}

describe('a slash prompt', () => {
  it('H-01: takes Claude Code’s model to the words that the host has kept back', async () => {
    const client = await hostNamed('claude-code');
    const text = await promptText(client, 'Review');
    expect(text.split('\n')[0]).toContain(
      '<command-args> of this turn has more words, that text is the user’s whole message',
    );
    expect(text).toContain('Review');
    for (const message of [undefined, 'Review our caching plan'])
      expect(await promptText(client, message)).not.toContain('<command-args>');
  });

  it('H-01: says that Gemini CLI has to pass its message on, and works without one', async () => {
    const client = await hostNamed('gemini-cli-mcp-client-bmad');
    const { prompts } = await client.listPrompts();
    const required = prompts.map((prompt) => prompt.arguments?.map((argument) => argument.required));
    expect(new Set(required.flat())).toEqual(new Set([true]));
    expect(await promptText(client)).toContain('Winston');
    const whole = await promptText(client, 'Review our caching plan');
    expect(whole).toContain('Review our caching plan');
    expect(whole).not.toContain('<command-args>');
  });

  it('asks other hosts for nothing', async () => {
    const { prompts } = await (await hostNamed('opencode')).listPrompts();
    expect(
      prompts.flatMap((prompt) => prompt.arguments ?? []).filter(({ required }) => required === true),
    ).toEqual([]);
  });
});

describe('what is to be followed', () => {
  const start = { name: 'bmad', arguments: { operation: 'execute', agent: 'architect', message: 'Hello' } };

  it('H-02: may be the user’s wish, says the server, where a host calls every answer passive data', async () => {
    const client = await hostNamed('gemini-cli-mcp-client-bmad');
    const [text = ''] = textsOf(await client.callTool(start));
    expect(text).toMatch(
      /^This is the .* that your call has asked for. If the user wanted it, the user explicitly requests/,
    );
    const [list = ''] = textsOf(await client.callTool({ name: 'bmad', arguments: { operation: 'list' } }));
    expect(list).not.toContain('explicitly requests');
  });

  it('is said to no other', async () => {
    const [text = ''] = textsOf(await (await hostNamed('claude-code')).callTool(start));
    expect(text).not.toContain('explicitly requests');
  });
});

const CALLS: readonly { name: string; arguments: Record<string, unknown> }[] = [
  { name: 'bmad', arguments: { operation: 'list', query: 'agents' } },
  { name: 'bmad', arguments: { operation: 'execute', workflow: 'prd', message: 'A shop' } },
  { name: 'bmad', arguments: { operation: 'next' } },
  { name: 'get_project_context', arguments: {} },
  {
    name: 'remember_structured',
    arguments: { type: 'decisions', agent: 'dev', text: 'Sessions are kept in Redis' },
  },
  { name: 'recall_structured', arguments: { query: 'sessions' } },
  { name: 'get_failure_museum', arguments: {} },
  { name: 'list_sessions', arguments: {} },
  { name: 'spawn_subagent_task', arguments: { agent: 'dev', task: 'Write the tests', output_key: 'tests' } },
  { name: 'manage_project', arguments: { action: 'help' } },
  { name: 'manage_memories', arguments: { action: 'count' } },
];

describe('an answer', () => {
  it('H-05: is text alone, so that no host shows its data instead', async () => {
    const client = await hostNamed('claude-code', { toolsets: ['bmad', 'project', 'memory', 'workflows'] });
    const { tools } = await client.listTools();
    expect(tools.filter(({ outputSchema }) => outputSchema !== undefined)).toEqual([]);
    for (const call of [...CALLS, { name: 'list_workflows', arguments: {} }])
      expect([call, (await client.callTool(call)).structuredContent]).toEqual([call, undefined]);
  });

  it('H-05: has data of the declared form, with what it says first, where data is asked for', async () => {
    const client = await hostNamed('codex-mcp-client', { output: 'structured' });
    const { tools } = await client.listTools();
    expect(tools.filter(({ outputSchema }) => outputSchema === undefined)).toEqual([]);
    for (const call of CALLS) {
      // The client compares the data with the schema, and throws where they differ.
      const result = await client.callTool(call);
      const [text = ''] = textsOf(result);
      expect([call, result.isError]).toEqual([call, undefined]);
      const { said } = result.structuredContent as { said: string };
      expect(said.startsWith((text.split('\n')[0] ?? '').slice(0, 300)), said).toBe(true);
    }
  });

  it('M-32: holds the project’s context as data, whole and by section', async () => {
    const client = await hostNamed('codex-mcp-client', { output: 'structured' }, KIT_FILES);
    await client.listTools();
    const contextOf = async (section?: string): Promise<Record<string, unknown>> => {
      const args = section === undefined ? {} : { section };
      const result = await client.callTool({ name: 'get_project_context', arguments: args });
      return result.structuredContent as Record<string, unknown>;
    };
    const whole = await contextOf();
    expect(whole).toMatchObject({
      section: 'all',
      project: { name: 'Corner Shop' },
      user: { name: 'Ada Field' },
      stack: { declared: [], detected: [] },
      agents: { team: expect.arrayContaining([expect.objectContaining({ id: 'fullstack-dev' })]) as unknown },
      decisions: expect.arrayContaining([
        expect.objectContaining({
          agent: 'architect',
          date: '2026-02-11',
          text: expect.stringContaining('PostgreSQL') as string,
        }),
      ]) as unknown,
    });
    const parts = ['stack', 'agents', 'decisions', 'architecture'];
    for (const section of parts) {
      const part = await contextOf(section);
      expect(part).toMatchObject({ section, project: { name: 'Corner Shop' } });
      const given = parts.filter((name) => part[name] !== undefined);
      // Decisions about the architecture are part of it.
      expect(given).toEqual(section === 'architecture' ? ['decisions', section] : [section]);
      expect(part[section]).toEqual(whole[section]);
    }
  });
});

/** The same over the 2026 protocol, in which a host says with each request who it is. */
async function toolsOf(name: string) {
  const context = await contextIn(await temporaryFolder(onTestFinished));
  const [theirs, ours] = InMemoryTransport.createLinkedPair();
  const served = serveTransport(context, ours);
  const client = newClient({ name, mode: { pin: '2026-07-28' } });
  await client.connect(theirs);
  onTestFinished(async () => {
    await client.close();
    await served.close();
    context.close();
  });
  return (await client.listTools()).tools;
}

describe('hints about tools', () => {
  const HINT = 'anthropic/searchHint';

  it('are given to the host that reads them, for every tool that it may have to search for', async () => {
    const tools = await toolsOf('claude-code');
    const hints = tools.map(({ name, _meta }) => [name, _meta?.[HINT]] as const);
    expect(hints.filter(([name, hint]) => name !== 'bmad' && typeof hint !== 'string')).toEqual([]);
    expect(Object.fromEntries(hints)['bmad']).toBeUndefined();
    for (const [, hint] of hints) expect(JSON.stringify(hint ?? '').length).toBeLessThan(100);
    expect(new Set(hints.map(([, hint]) => hint)).size).toBe(tools.length);
  });

  it('cost other hosts nothing', async () => {
    const tools = await toolsOf('codex-mcp-client');
    expect(tools.filter(({ _meta }) => _meta?.[HINT] !== undefined)).toEqual([]);
  });

  it('need not send for a person: no tool approves or destroys anything', async () => {
    const client = await hostNamed('claude-code', {
      toolsets: ['bmad', 'project', 'memory', 'workflows', 'agents'],
    });
    const { tools } = await client.listTools();
    const destroying = tools.filter(({ annotations }) => annotations?.destructiveHint === true);
    // Its programs run only if a person has allowed them for this project.
    expect(destroying.map(({ name }) => name)).toEqual(['run_completion_contract']);
  });
});
