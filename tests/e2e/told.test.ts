import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { rememberStructured } from '../../src/operations/memory/remember.ts';
import { logHandoff } from '../../src/operations/project/logs.ts';
import { runOpen } from '../../src/operations/runs/run-operations.ts';
import { spawnSubagentTask } from '../../src/operations/tasks/tasks.ts';
import { temporaryFolder } from '../support/app.ts';
import { childProgram } from '../support/child-program.ts';
import { writeFiles } from '../support/folders.ts';
import { connectOver } from '../support/http-client.ts';
import { startHttpServer } from '../support/http-server.ts';
import { LineClient } from '../support/line-client.ts';
import { connectClient } from '../support/mcp-client.ts';
import { sessionIn } from '../support/operations.ts';
import { runToEnd, withHandles } from '../support/programs.ts';
import { ERAS, hearing, listenTo } from '../support/told-client.ts';
import { some } from '../support/how-much.ts';

const home = await temporaryFolder(afterAll);

const agent = (description: string): string =>
  `---\nname: "x"\ndescription: "${description}"\n---\n<agent id="a" name="W" title="T" icon="x">\nWork.\n</agent>\n`;

const PM = 'bmad://bmm/agents/pm.md';
const SKILL = 'skill://bmm/bmm-pm/SKILL.md';
const STATE = ['bmad://memory/decisions', 'bmad://tasks', 'bmad://runs', 'bmad://project/context'];
const FOLLOWED = [PM, SKILL, ...STATE];
const TOLD = [PM, 'prompts', 'resources', SKILL];

async function project() {
  const cwd = await temporaryFolder(afterAll);
  await writeFiles(cwd, {
    '_bmad/_config/manifest.yaml': 'installation:\n  version: 6.0.0\nmodules:\n  - bmm\n',
    '_bmad/bmm/agents/pm.md': agent('one'),
  });
  return { cwd, edit: () => writeFile(join(cwd, '_bmad/bmm/agents/pm.md'), agent('two')) };
}

/** What another process remembers, queues, runs and hands over in the same project. */
async function work(cwd: string): Promise<void> {
  const other = await sessionIn(cwd, { home });
  onTestFinished(() => other.close());
  await other.ok(rememberStructured, { type: 'decisions', text: 'Orders live in PostgreSQL', agent: 'pm' });
  await other.ok(spawnSubagentTask, { agent: 'pm', task: 'Draw the order page', output_key: 'page' });
  await other.ok(runOpen, { workflow: 'prd' });
  await other.ok(logHandoff, { from: 'pm', to: 'dev', summary: 'Build the order page', inbox: true });
}

describe('the server', () => {
  it.each(some(1, ERAS))(
    'tells a client of $era over stdin and stdout of an edit and of what others do',
    async ({ mode }) => {
      const { cwd, edit } = await project();
      const client = await connectClient({ cwd, home, mode });
      onTestFinished(() => client.close());
      const heard = hearing(client);
      await listenTo(client, FOLLOWED);
      await edit();
      expect((await heard.until(...TOLD)).sort()).toEqual(TOLD);
      const told = heard.until(...STATE);
      await work(cwd);
      expect(await told).not.toContain(PM);
    },
  );

  it('tells clients of both protocols over HTTP of the same edit and of what others do', async () => {
    const { cwd, edit } = await project();
    const server = await startHttpServer({ cwd, home });
    onTestFinished(() => void server.stop());
    const clients = await Promise.all(ERAS.map(({ mode }) => connectOver(server.url, mode)));
    onTestFinished(() => void Promise.all(clients.map((client) => client.close())));
    const heard = clients.map(hearing);
    for (const client of clients) await listenTo(client, FOLLOWED);
    await edit();
    const told = await Promise.all(heard.map((each) => each.until(...TOLD)));
    expect(told.map((words) => words.sort())).toEqual(ERAS.map(() => TOLD));
    const state = Promise.all(heard.map((each) => each.until(...STATE)));
    await work(cwd);
    for (const words of await state) expect(words).not.toContain(PM);
  });

  it('ends with its client though it watches', async () => {
    const { cwd, edit } = await project();
    const client = await LineClient.connect({ cwd, home });
    await client.request('prompts/list', {});
    await edit();
    await client.asked('notifications/prompts/list_changed');
    expect(await client.close()).toEqual({ code: 0, signal: null });
  });
});

describe('a system that has no room for a watch', () => {
  it.skipIf(process.platform === 'win32')('has the folder polled, which is reported', async () => {
    const folder = await temporaryFolder(afterAll);
    const program = await childProgram('tests/support/watch-at-limit.ts');
    const [command, args] = withHandles(64, process.execPath, [program, folder]);
    const { code, stdout, stderr } = await runToEnd(command, args, {
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '' },
    });
    expect(stderr).toBe('');
    expect(code).toBe(0);
    expect(JSON.parse(stdout.toString())).toEqual({
      folders: 0,
      polled: [{ path: folder, why: 'limit', code: 'EMFILE' }],
    });
  });
});
