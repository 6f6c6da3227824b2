import { afterAll, describe, expect, it } from 'vitest';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { newClient } from '../../../tests/support/mcp-client.ts';
import { served } from '../../../tests/support/served.ts';
import { createMcpRoute } from '../../surfaces/mcp/http/route.ts';
import { contextIn, temporaryFolder, testCall } from '../../../tests/support/app.ts';
import { conversation } from '../../../tests/support/conversation.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { execute } from '../execute.ts';
import { read } from '../catalogue/read.ts';
import { activate } from './activate.ts';
import { shownTextSchema, type ShownText } from '../catalogue/shown-text.ts';
import type { Context } from '../context.ts';

const PROMPTS = ['implement', 'api-design', 'fix-bug', 'tests'];

/** An agent of 12.5 kB whose menu leads to prompts at its end. */
const AGENT = [
  '---\nname: stack\ndescription: Builds\n---\n\n# Stack\n',
  '<agent id="stack" name="Stack" title="Developer">\n  <menu>',
  ...PROMPTS.map((id) => `    <item action="#${id}">${id}</item>`),
  '  </menu>\n  <prompts>',
  ...PROMPTS.map((id) => `    <prompt id="${id}">\n${`      Work on ${id}.\n`.repeat(125)}    </prompt>`),
  '  </prompts>\n</agent>\n',
].join('\n');

const team = (async () => {
  const folder = await temporaryFolder(afterAll);
  await writeFiles(folder, { 'team/agents/stack.md': AGENT });
  return folder;
})();

async function opened(flags: Record<string, string | string[]> = {}): Promise<Context> {
  return contextIn(await team, { flags: { paths: [`${await team}/team`], ...flags } });
}

async function shown(
  context: Context,
  host: string | undefined,
  input: Record<string, unknown>,
): Promise<ShownText> {
  const answer = await execute(activate, input, context, { ...testCall(), host });
  if (!answer.ok) throw new Error(answer.error.text);
  return shownTextSchema.parse(answer.data);
}

describe('how much is delivered in one answer', () => {
  it.each([undefined, 'claude-code', 'gemini-cli-mcp-client', 'opencode', 'some-host'])(
    'M-56: is 24 kB and more for %s, and all that is built in comes whole (J-O6)',
    async (host) => {
      const context = await opened();
      for (const name of ['product-brief', 'architecture', 'bmad-spec', 'party-mode'])
        expect((await shown(context, host, { name })).complete, name).toBe(true);
    },
  );

  it('M-56: is 10 kB for Codex, which cuts longer answers', async () => {
    const { complete, text } = await shown(await opened(), 'codex-mcp-client', { name: 'architecture' });
    expect(complete).toBe(false);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(10_000);
  });

  it('M-56: is what the user has set, whatever the host takes', async () => {
    const context = await opened({ answerBytes: '6000' });
    const { text } = await shown(context, 'claude-code', { name: 'product-brief' });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(6_000);
  });

  it('M-56: holds for files that are read too', async () => {
    const file = { target: 'bmad://bmm/plan/bmad-product-brief/SKILL.md', kind: 'resource' };
    const complete = async (host: string): Promise<unknown> => {
      const answer = await execute(read, file, await opened(), { ...testCall(), host });
      return answer.ok ? answer.data['complete'] : answer.error.text;
    };
    expect([await complete('claude-code'), await complete('codex-mcp-client')]).toEqual([true, false]);
  });

  it('M-56: goes by the name that a client gives itself', async () => {
    const context = await opened();
    const route = createMcpRoute(context);
    const url = `${(await served(context, [route], afterAll)).origin}${route.path}`;
    const sizes: number[] = [];
    for (const name of ['claude-code', 'codex-mcp-client']) {
      const client = newClient({ name });
      await client.connect(new StreamableHTTPClientTransport(new URL(url)));
      const result = await client.callTool({ name: 'bmad', arguments: { command: 'product-brief' } });
      sizes.push(JSON.stringify(result.content).length);
      await client.close();
    }
    expect(sizes[0]).toBeGreaterThan(12_000);
    expect(sizes[1]).toBeLessThan(11_000);
  });
});

describe('an agent whose menu leads to its own prompts', () => {
  it('M-45: is whole where a host’s limit is not known', async () => {
    const { complete, text } = await shown(await opened(), 'some-host', { name: 'stack', kind: 'agent' });
    expect(Buffer.byteLength(AGENT)).toBeGreaterThan(12_000);
    expect(complete).toBe(true);
    expect(text).toContain('<prompt id="tests">');
  });

  it('M-45: names the prompts that are still to come where it has to be cut, and gives each', async () => {
    const context = await opened();
    const first = await shown(context, 'codex-mcp-client', { name: 'stack', kind: 'agent' });
    expect(first.sectionsLeft).toEqual(['#fix-bug', '#tests']);
    expect(first.text.endsWith('</prompt>\n')).toBe(true);
    for (const section of ['#tests', 'fix-bug']) {
      const part = await shown(context, 'codex-mcp-client', { name: 'stack', kind: 'agent', section });
      expect(part.text).toMatch(new RegExp(`^    <prompt id="${section.replace('#', '')}">`));
      expect(part.text.endsWith('</prompt>')).toBe(true);
    }
  });
});

describe('the documents of a project', () => {
  it('M-58: are listed with their paths, wherever another workflow has put them', async () => {
    const folder = await temporaryFolder(afterAll);
    await writeFiles(folder, {
      '_bmad-output/planning-artifacts/prds/prd-shop/prd.md': '---\nstatus: final\n---\n\n# PRD\n\nA shop.\n',
      '_bmad-output/planning-artifacts/architecture.md': `# Architecture\n\n${'One process serves the shop. '.repeat(40)}\n`,
    });
    const context = await contextIn(folder);
    const { text } = await shown(context, undefined, { name: 'create-epics-and-stories' });
    expect(text).toContain('## Documents of the project\n');
    expect(text).toMatch(/^- prd: _bmad-output\/planning-artifacts\/prds\/prd-shop\/prd\.md/m);
    expect(text).toMatch(/^- architecture: _bmad-output\/planning-artifacts\/architecture\.md/m);
    expect((await shown(context, undefined, { name: 'dev', kind: 'agent' })).text).not.toContain(
      '## Documents',
    );
  });

  it('M-58: are not mentioned where there are none', async () => {
    const { text } = await shown(await contextIn(await temporaryFolder(afterAll)), undefined, {
      name: 'create-epics-and-stories',
    });
    expect(text).not.toContain('## Documents');
  });
});

describe('the steps of a workflow that is rendered', () => {
  it('M-44: are read as they were rendered, however they are named', async () => {
    const ask = conversation(await contextIn(await temporaryFolder(afterAll)));
    const { body } = await ask({ workflow: 'build', message: 'Add a plant' });
    expect(body).toContain('BEGIN bmad://rendered/bmad-build/workflow.md');
    for (const uri of [
      'step-01-clarify-and-route.md',
      './step-02-plan.md',
      '{skill-root}/step-04-review.md',
    ]) {
      const step = await ask({ operation: 'read', workflow: 'build', uri });
      expect(step.result, uri).toMatchObject({
        uri: `bmad://rendered/bmad-build/${uri.split('/').at(-1) ?? ''}`,
      });
      expect(step.body, uri).not.toContain('[[bmad-snapshot:');
    }
    // It is 11 kB long, and all of it comes.
    const little = await ask({ operation: 'read', uri: 'bmad://bmm/ship/bmad-build/step-04-review.md' });
    expect(little.result).toMatchObject({ complete: true });
    // What was not rendered is where it is.
    const other = await ask({ workflow: 'prd' });
    expect(other.body).toContain('BEGIN bmad://bmm/plan/bmad-prd/SKILL.md');
    expect(
      (await ask({ operation: 'read', workflow: 'prd', uri: 'references/headless.md' })).result,
    ).toMatchObject({
      uri: 'bmad://bmm/plan/bmad-prd/references/headless.md',
    });
  });
});
