import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/app.ts';
import { childProgram } from '../support/child-program.ts';
import { writeFiles } from '../support/folders.ts';
import { connectOver } from '../support/http-client.ts';
import { startHttpServer } from '../support/http-server.ts';
import { LineClient } from '../support/line-client.ts';
import { connectClient } from '../support/mcp-client.ts';
import { runToEnd, withHandles } from '../support/programs.ts';
import { ERAS, hearing, listenTo } from '../support/told-client.ts';

const home = await temporaryFolder(afterAll);

const agent = (description: string): string =>
  `---\nname: "x"\ndescription: "${description}"\n---\n<agent id="a" name="W" title="T" icon="x">\nWork.\n</agent>\n`;

const PM = 'bmad://bmm/agents/pm.md';

async function project() {
  const cwd = await temporaryFolder(afterAll);
  await writeFiles(cwd, {
    '_bmad/_config/manifest.yaml': 'installation:\n  version: 6.0.0\nmodules:\n  - bmm\n',
    '_bmad/bmm/agents/pm.md': agent('one'),
  });
  return { cwd, edit: () => writeFile(join(cwd, '_bmad/bmm/agents/pm.md'), agent('two')) };
}

describe('the server', () => {
  it.each(ERAS)('tells a client of $era over stdin and stdout of an edit', async ({ mode }) => {
    const { cwd, edit } = await project();
    const client = await connectClient({ cwd, home, mode });
    onTestFinished(() => client.close());
    const heard = hearing(client);
    await listenTo(client, [PM]);
    await edit();
    expect((await heard.until(PM, 'prompts', 'resources')).sort()).toEqual([PM, 'prompts', 'resources']);
  });

  it('tells clients of both protocols over HTTP of the same edit', async () => {
    const { cwd, edit } = await project();
    const server = await startHttpServer({ cwd, home });
    onTestFinished(() => void server.stop());
    const clients = await Promise.all(ERAS.map(({ mode }) => connectOver(server.url, mode)));
    onTestFinished(() => void Promise.all(clients.map((client) => client.close())));
    const heard = clients.map(hearing);
    for (const client of clients) await listenTo(client, [PM]);
    await edit();
    const told = await Promise.all(heard.map((each) => each.until(PM, 'prompts', 'resources')));
    expect(told.map((words) => words.sort())).toEqual(ERAS.map(() => [PM, 'prompts', 'resources']));
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
