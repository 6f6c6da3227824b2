import { spawn, spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { serverFile, temporaryFolder } from '../support/app.ts';
import { writeFiles } from '../support/folders.ts';
import { connectClient, textsOf } from '../support/mcp-client.ts';

/** A program with process numbers of its own and the machine's name, as sandboxes of editors and pods give them. */
const APART = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'] as const;
const canBeApart = spawnSync(APART[0], [...APART.slice(1), 'true']).status === 0;
const NEEDED = canBeApart ? '' : ' (skipped: this system does not let the tests make a PID namespace)';

const EACH = 15;

describe(`servers with different process numbers in one project${NEEDED}`, () => {
  it.skipIf(!canBeApart)(
    'lose nothing that they have acknowledged, and give no task to two, on a busy machine (F-01)',
    async () => {
      const [cwd, home] = [await temporaryFolder(onTestFinished), await temporaryFolder(onTestFinished)];
      await writeFiles(cwd, { '_bmad/_memory/failure-museum.md': '# Failure Museum\n' });
      const server = [process.execPath, serverFile] as const;
      const commands = [server, server, [...APART, ...server], [...APART, ...server]] as const;
      const clients = await Promise.all(commands.map((command) => connectClient({ cwd, home, command })));
      for (let loop = 0; loop < 2; loop += 1) {
        const busy = spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' });
        onTestFinished(() => void busy.kill('SIGKILL'));
      }
      const act = async (client: (typeof clients)[number], action: string, args: Record<string, unknown>) => {
        const result = await client.callTool(
          { name: 'manage_project', arguments: { action, args } },
          { timeout: 120_000 },
        );
        if (result.isError === true) throw new Error(textsOf(result).join('\n'));
        return textsOf(result);
      };
      const times = Array.from({ length: EACH }, (_, time) => time);
      await Promise.all(
        clients.map(async (client, who) => {
          for (const time of times)
            await act(client, 'log_failure', { title: `Failure ${who}-${time}.`, category: 'CC-FAIL' });
        }),
      );
      const museum = await readFile(join(cwd, '_bmad/_memory/failure-museum.md'), 'utf8');
      const all = clients.flatMap((_, who) => times.map((time) => `Failure ${who}-${time}.`));
      expect(all.filter((title) => !museum.includes(title))).toEqual([]);

      for (const time of times)
        await clients[0]?.callTool({
          name: 'spawn_subagent_task',
          arguments: { agent: 'dev', task: `Do it ${time}`, output_key: `out-${time}` },
        });
      const claimed: string[] = [];
      await Promise.all(
        clients.map(async (client) => {
          for (;;) {
            const [said = ''] = await act(client, 'task_claim', { worker: 'w' });
            if (said.startsWith('There is no task')) return;
            claimed.push(/task-[\w-]+/.exec(said)?.[0] ?? said);
          }
        }),
      );
      expect(claimed).toHaveLength(EACH);
      expect(new Set(claimed).size).toBe(EACH);
    },
  );
});
