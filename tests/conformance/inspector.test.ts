import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { repository, serverFile, temporaryFolder } from '../support/app.ts';
import { installOf } from '../support/installs.ts';
import { bareEnvironment, runToEnd } from '../support/programs.ts';
import { inspectorModule, inspectorTool } from '../support/tools.ts';

const home = await temporaryFolder(afterAll);

interface Inspected {
  code: number | null;
  stdout: string;
  stderr: string;
  /** What the server answered, as the inspector's own checks let it through. */
  result: Record<string, unknown>;
}

/** The official inspector, which starts the built server in a real project for each thing it is told to ask. */
let inspector: ChildProcessByStdio<Writable, Readable, null>;
let answers: AsyncIterator<string>;

beforeAll(async () => {
  const [program, ...module] = await inspectorModule();
  inspector = spawn(program, [join(repository, 'tests/fixtures/inspector-host.cjs'), ...module], {
    cwd: await installOf('6.12.0'),
    env: bareEnvironment(home),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  answers = createInterface({ input: inspector.stdout })[Symbol.asyncIterator]();
  return async () => {
    inspector.stdin.end();
    await once(inspector, 'close');
  };
});

const SERVER = [process.execPath, serverFile];

async function inspected(args: readonly string[]): Promise<Inspected> {
  inspector.stdin.write(`${JSON.stringify(args)}\n`);
  const { value = '{}' } = (await answers.next()) as { value?: string };
  return JSON.parse(value) as Inspected;
}

async function inspect(era: string, method: string, ...options: readonly string[]): Promise<Inspected> {
  const target = [...SERVER, '--protocol-era', era, '--format', 'json'];
  return withResult(await inspected([...target, '--method', method, ...options]));
}

function withResult(told: Omit<Inspected, 'result'>): Inspected {
  const { result = {} } = (told.stdout === '' ? {} : JSON.parse(told.stdout)) as Partial<Inspected>;
  return { ...told, result };
}

const named = (list: unknown): string[] => (list as { name: string }[]).map(({ name }) => name);

describe.each(['legacy', 'modern'])('the official inspector over stdin, %s era', (era) => {
  it('connects', async () => {
    // As a user starts it.
    const [program, ...first] = await inspectorTool();
    const target = ['--cli', ...SERVER, '--protocol-era', era, '--format', 'json'];
    const ended = await runToEnd(program, [...first, ...target, '--method', 'initialize'], {
      cwd: await installOf('6.12.0'),
      env: bareEnvironment(home),
    });
    const { code, stderr, result } = withResult({ ...ended, stdout: ended.stdout.toString('utf8') });
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
    const args = ['--protocol-era', era, '--method', 'skills/list', '--verify'];
    const { code, stdout, stderr } = await inspected([...SERVER, ...args]);
    expect({ code, stderr: stderr.replace(/^Verified \d+ skills and \d+ files.*\n/, '') }).toEqual({
      code: 0,
      stderr: '',
    });
    expect(stdout).toContain('bmad-agent-architect');
  });
});
