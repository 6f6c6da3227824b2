import { execFile } from 'node:child_process';
import { cp, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Outside } from '../../src/app/app.ts';
import { logHandoff } from '../../src/operations/project/logs.ts';
import { rememberStructured } from '../../src/operations/memory/remember.ts';
import { runOpen } from '../../src/operations/runs/run-operations.ts';
import { spawnSubagentTask } from '../../src/operations/tasks/tasks.ts';
import { contextIn, temporaryFolder } from '../support/app.ts';
import { writeFiles } from '../support/folders.ts';
import { sessionIn } from '../support/operations.ts';
import { connectInMemory, ERAS, hearing, listenTo } from '../support/told-client.ts';
import { isDeep, some } from '../support/how-much.ts';

const agent = (description: string, body = 'Work.'): string =>
  `---\nname: "x"\ndescription: "${description}"\n---\n<agent id="a" name="W" title="T" icon="x">\n${body}\n<menu>\n<item cmd="*draw">Draw</item>\n</menu>\n</agent>\n`;

const PM = 'bmad://bmm/agents/pm.md';
const DEV = 'bmad://bmm/agents/dev.md';
const FILES = {
  '_bmad/_config/manifest.yaml': 'installation:\n  version: 6.0.0\nmodules:\n  - bmm\n',
  '_bmad/bmm/agents/pm.md': agent('one'),
  '_bmad/bmm/agents/dev.md': agent('one'),
  '_bmad/bmm/config.yaml': 'user_name: Ada\n',
};

type Mode = (typeof ERAS)[number]['mode'];

/** A client in a project with two agents that follows these resources and all lists. */
async function listening(
  mode: Mode,
  uris: readonly string[] = [PM, DEV],
  { files = FILES, ...outside }: Partial<Outside> & { files?: Record<string, string> } = {},
) {
  const cwd = await temporaryFolder(afterAll);
  await writeFiles(cwd, files);
  const context = await contextIn(cwd, outside);
  const client = await connectInMemory(context, mode, onTestFinished);
  const heard = hearing(client);
  await listenTo(client, uris);
  const place = (path: string): string => join(cwd, '_bmad/bmm', path);
  return { cwd, client, context, heard, place };
}

// Clients of both eras are in tests/e2e/told.test.ts and tests/e2e/changes.test.ts.
describe.each(some(1, ERAS))('a client of $era that listens', ({ mode }) => {
  it('is told of lists and resources when they are different, without asking', async () => {
    const { heard, place } = await listening(mode);
    await writeFile(place('agents/ux.md'), agent('new'));
    expect((await heard.until('prompts', 'resources')).sort()).toEqual(['prompts', 'resources']);
    await writeFile(place('agents/pm.md'), agent('one', 'Work harder.'));
    expect(await heard.until(PM)).toEqual([PM]);
    await writeFile(place('agents/pm.md'), agent('two'));
    expect((await heard.until(PM, 'prompts', 'resources')).sort()).toEqual([PM, 'prompts', 'resources']);
    await rm(place('agents/pm.md'));
    expect((await heard.until(PM, 'prompts', 'resources')).sort()).toEqual([PM, 'prompts', 'resources']);
  });

  it('is told nothing of files that were touched, written as they were, or saved by renaming as they were', async () => {
    const { heard, place } = await listening(mode);
    await utimes(place('agents/pm.md'), 1, 1);
    await writeFile(place('agents/pm.md'), agent('one'));
    await writeFile(place('agents/.pm.md.swp'), agent('one'));
    await rename(place('agents/.pm.md.swp'), place('agents/pm.md'));
    await writeFile(place('agents/dev.md'), agent('one', 'Another body.'));
    expect(await heard.until(DEV)).toEqual([DEV]);
  });

  it('is told of a file that an editor saves by renaming', async () => {
    const { heard, place } = await listening(mode);
    for (const body of ['First.', 'Second.']) {
      await rename(place('agents/pm.md'), place('agents/pm.md~'));
      await writeFile(place('agents/pm.md.tmp'), agent('one', body));
      await rename(place('agents/pm.md.tmp'), place('agents/pm.md'));
      await rm(place('agents/pm.md~'));
      expect(await heard.until(PM)).toContain(PM);
    }
  });

  it('is told when the BMAD folder goes and comes again, and of what happens in it afterwards', async () => {
    const { cwd, heard, place } = await listening(mode);
    const kept = await temporaryFolder(afterAll);
    await cp(join(cwd, '_bmad'), kept, { recursive: true });
    await rm(join(cwd, '_bmad'), { recursive: true });
    expect(await heard.until(PM, 'prompts', 'resources')).toContain(PM);
    await cp(kept, join(cwd, '_bmad'), { recursive: true });
    await heard.until(PM, 'prompts', 'resources');
    await writeFile(place('agents/pm.md'), agent('one', 'After all.'));
    await heard.until(PM);
  });

  it('is told of what other processes remember, run, queue and hand over', async () => {
    const uris = ['bmad://memory/decisions', 'bmad://tasks', 'bmad://runs', 'bmad://project/context', DEV];
    const { cwd, heard, place } = await listening(mode, uris);
    const other = await sessionIn(cwd);
    onTestFinished(() => other.close());
    await other.ok(rememberStructured, { type: 'decisions', text: 'Orders live in PostgreSQL', agent: 'pm' });
    expect(await heard.until('bmad://memory/decisions')).toContain('bmad://memory/decisions');
    await other.ok(spawnSubagentTask, { agent: 'dev', task: 'Draw the order page', output_key: 'page' });
    expect(await heard.until('bmad://tasks')).not.toContain('bmad://memory/decisions');
    await other.ok(runOpen, { workflow: 'prd' });
    expect(await heard.until('bmad://runs', 'resources')).not.toContain('bmad://tasks');
    await other.ok(logHandoff, { from: 'pm', to: 'dev', summary: 'Build the order page', inbox: true });
    await heard.until('bmad://project/context');
    await writeFile(place('agents/dev.md'), agent('one', 'Last.'));
    expect(await heard.until(DEV)).toEqual([DEV]);
  });

  it('is told that tools are different where agents are tools, after an edit of a menu', async () => {
    const { client, heard, place } = await listening(mode, [DEV], { flags: { toolsets: 'bmad,agents' } });
    const described = async (): Promise<string> => JSON.stringify((await client.listTools()).tools);
    expect(await described()).not.toContain('Paint');
    await writeFile(place('agents/pm.md'), agent('one').replace('Draw', 'Paint'));
    expect(await heard.until('tools')).toContain('tools');
    expect(await described()).toContain('Paint');
  });
});

const git = (cwd: string, ...args: string[]) =>
  promisify(execFile)('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], { cwd });

describe('watching', () => {
  it.runIf(isDeep)('tells a few times of a checkout of 1,500 files', async () => {
    const many = Array.from({ length: 1_500 }, (_, index) => [
      `_bmad/bmm/data/${index % 40}/${index}.md`,
      'a',
    ]);
    const cwd = await temporaryFolder(afterAll);
    await writeFiles(cwd, { ...FILES, ...(Object.fromEntries(many) as Record<string, string>) });
    await git(cwd, 'init', '-q', '-b', 'one');
    await git(cwd, 'add', '-A');
    await git(cwd, 'commit', '-q', '-m', 'one');
    await git(cwd, 'checkout', '-q', '-b', 'two');
    await rm(join(cwd, '_bmad/bmm/data'), { recursive: true });
    await writeFile(join(cwd, '_bmad/bmm/agents/pm.md'), agent('two'));
    await git(cwd, 'commit', '-q', '-a', '-m', 'two');
    const context = await contextIn(cwd);
    const client = await connectInMemory(context, 'legacy', onTestFinished);
    const heard = hearing(client);
    await listenTo(client, [PM, DEV]);
    await git(cwd, 'checkout', '-q', 'one');
    await heard.until(PM, 'prompts', 'resources');
    await git(cwd, 'checkout', '-q', 'two');
    await heard.until(PM, 'prompts', 'resources');
    await writeFile(join(cwd, '_bmad/bmm/agents/dev.md'), agent('one', 'Last.'));
    await heard.until(DEV);
    expect(heard.all.length).toBeLessThan(20);
  });

  it('goes on from one client that listens to the next, and ends with the server', async () => {
    const cwd = await temporaryFolder(afterAll);
    await writeFiles(cwd, FILES);
    const context = await contextIn(cwd);
    const first = await connectInMemory(context, 'legacy', onTestFinished);
    await first.listTools();
    await first.listPrompts();
    await expect.poll(() => context.watching()?.folders ?? 0).toBeGreaterThan(1);
    const second = await connectInMemory(context, { pin: '2026-07-28' }, onTestFinished);
    const stream = await second.listen({ resourceSubscriptions: [PM] });
    await first.close();
    expect(context.watching()?.folders ?? 0).toBeGreaterThan(1);
    await stream.close();
    context.close();
    expect(context.watching()).toBeUndefined();
  });

  it('is not done where it is switched off; refresh still tells', async () => {
    const { client, context, heard, place } = await listening('legacy', [PM], { flags: { watch: 'off' } });
    expect(context.watching()).toBeUndefined();
    await writeFile(place('agents/pm.md'), agent('two'));
    await client.callTool({ name: 'bmad', arguments: { operation: 'refresh' } });
    expect((await heard.until(PM, 'prompts', 'resources')).sort()).toEqual([PM, 'prompts', 'resources']);
  });

  it('looks itself where that is asked for', async () => {
    const { context, heard, place } = await listening('legacy', [PM], { flags: { watch: 'poll' } });
    await expect.poll(() => context.watching()?.polled.length ?? 0).toBeGreaterThan(0);
    expect(context.watching()?.folders).toBe(0);
    await writeFile(place('agents/pm.md'), agent('two'));
    await heard.until(PM, 'prompts', 'resources');
  });
});
