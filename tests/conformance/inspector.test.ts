import { afterAll, describe, expect, it } from 'vitest';
import { serverFile, temporaryFolder } from '../support/app.ts';
import { installOf } from '../support/installs.ts';
import { bareEnvironment, runToEnd } from '../support/programs.ts';
import { inspectorTool } from '../support/tools.ts';

const home = await temporaryFolder(afterAll);

interface Inspected {
  code: number | null;
  stderr: string;
  /** What the server answered, as the inspector's own checks let it through. */
  result: Record<string, unknown>;
}

/** Lets the official inspector start the built server in a real project, and ask it one thing. */
async function inspect(era: string, method: string, ...options: readonly string[]): Promise<Inspected> {
  const [program, ...first] = await inspectorTool();
  const target = ['--cli', process.execPath, serverFile, '--protocol-era', era, '--format', 'json'];
  const { code, stdout, stderr } = await runToEnd(
    program,
    [...first, ...target, '--method', method, ...options],
    { cwd: await installOf('6.12.0'), env: bareEnvironment(home) },
  );
  const text = stdout.toString('utf8');
  const { result = {} } = (text === '' ? {} : JSON.parse(text)) as { result?: Record<string, unknown> };
  return { code, stderr, result };
}

const named = (list: unknown): string[] => (list as { name: string }[]).map(({ name }) => name);

describe.each(['legacy', 'modern'])('the official inspector over stdin, %s era', (era) => {
  it('connects', async () => {
    const { code, stderr, result } = await inspect(era, 'initialize');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.stringify(result)).toContain('bmad-mcp-server');
  });

  it('finds no fault in the schemas of the tools that any host could stumble over', async () => {
    const { code, stderr, result } = await inspect(era, 'tools/list', '--strict');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(named(result['tools'])).toContain('bmad');
  });

  it('calls the tool', async () => {
    const args = ['--tool-name', 'bmad', '--tool-arg', 'operation=list', 'query=agents'];
    const { code, stderr, result } = await inspect(era, 'tools/call', ...args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.stringify(result)).toContain('**architect** Winston');
  });

  it('lists prompts and gets one', async () => {
    const listed = await inspect(era, 'prompts/list');
    expect(listed).toMatchObject({ code: 0, stderr: '' });
    expect(named(listed.result['prompts'])).toContain('bmad-architect');
    const args = ['--prompt-name', 'bmad-architect', '--prompt-args', 'message=Hello'];
    const got = await inspect(era, 'prompts/get', ...args);
    expect(got).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.stringify(got.result)).toContain('Hello');
  });

  it('lists resources and templates, and reads one', async () => {
    const listed = await inspect(era, 'resources/list');
    expect(listed).toMatchObject({ code: 0, stderr: '' });
    expect((listed.result['resources'] as unknown[]).length).toBeGreaterThan(100);
    const templates = await inspect(era, 'resources/templates/list');
    expect(templates).toMatchObject({ code: 0, stderr: '' });
    expect(named(templates.result['resourceTemplates'])).toContain('agent');
    const read = await inspect(era, 'resources/read', '--uri', 'bmad://agents/architect');
    expect(read).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.stringify(read.result)).toContain('Winston');
  });

  it('verifies the skills and their digests', async () => {
    const [program, ...first] = await inspectorTool();
    const target = ['--cli', process.execPath, serverFile, '--protocol-era', era];
    const { code, stdout, stderr } = await runToEnd(
      program,
      [...first, ...target, '--method', 'skills/list', '--verify'],
      { cwd: await installOf('6.12.0'), env: bareEnvironment(home) },
    );
    expect({ code, stderr: stderr.replace(/^Verified \d+ skills and \d+ files.*\n/, '') }).toEqual({
      code: 0,
      stderr: '',
    });
    expect(stdout.toString('utf8')).toContain('bmad-agent-architect');
  });
});
