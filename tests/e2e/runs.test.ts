import { afterAll, describe, expect, it } from 'vitest';
import type { CallToolResult, Client } from '@modelcontextprotocol/client';
import { temporaryFolder } from '../support/app.ts';
import { writeFiles } from '../support/kit-project.ts';
import { textsOf } from '../support/mcp-client.ts';
import { connectHere } from '../support/mcp-here.ts';
import { bareEnvironment, bmad } from '../support/programs.ts';
import { RUN_FILES } from '../support/run-project.ts';

async function project(): Promise<{ cwd: string; home: string }> {
  const [cwd, home] = [await temporaryFolder(afterAll), await temporaryFolder(afterAll)];
  await writeFiles(cwd, RUN_FILES);
  return { cwd, home };
}

async function call(client: Client, name: string, args: Record<string, unknown> = {}): Promise<string> {
  const result: CallToolResult = await client.callTool({ name, arguments: args });
  return textsOf(result).join('\n');
}

describe('runs, from the command line to a host', () => {
  it('are opened and kept in one program and seen in the other', async () => {
    const place = await project();
    const run = async (
      ...args: string[]
    ): Promise<{ code: number | null; stdout: string; stderr: string }> => {
      const ended = await bmad(args, { cwd: place.cwd, env: bareEnvironment(place.home) });
      return { ...ended, stdout: ended.stdout.toString('utf8') };
    };
    const opened = await run(
      'run',
      'open',
      'prd',
      '--total-steps',
      '2',
      '--variables',
      'topic=shop',
      '--variables',
      'n=3',
      '--json',
    );
    expect(opened.code).toBe(0);
    const { run_id: id } = (JSON.parse(opened.stdout) as { run: { run_id: string } }).run;
    const recorded = await run('run', 'checkpoint', id, '--step', '1', '--artefacts', 'project-context.yaml');
    expect(recorded.stdout).toContain('1 of 2 steps (50 %)');
    const client = await connectHere(place);
    const status = await call(client, 'get_workflow_status');
    expect(status).toContain(`Run ${id} (session branch main): running, 1 of 2 steps (50 %)`);
    expect(status).toContain('"n": 3');
    expect(await call(client, 'list_sessions', { status: 'active' })).toContain(
      '3 runs (2 running, 1 completed)',
    );
    expect(await call(client, 'bmad', { operation: 'execute', workflow: 'prd', run_id: id })).toContain(
      '## Run',
    );
    expect(await call(client, 'get_workflow_status', { run_id: '../x' })).toContain('is not a valid run id');
    const { contents } = await client.readResource({ uri: `bmad://runs/main/${id}` });
    expect(JSON.stringify(contents)).toContain('project-context.yaml');
    const { completion } = await client.complete({
      ref: { type: 'ref/resource', uri: 'bmad://runs/{branch}/{run_id}' },
      argument: { name: 'run_id', value: 'bmad-prd' },
    });
    expect(completion.values).toEqual([id]);
    await client.close();
    const broken = await run('run', 'checkpoint', id, '--variables', 'oops');
    expect(broken.code).toBe(2);
    expect(broken.stderr).toContain('Expected name=value');
  });
});
