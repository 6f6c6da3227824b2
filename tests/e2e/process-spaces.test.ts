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

const EACH = 80;

describe(`servers with different process numbers in one project${NEEDED}`, () => {
  it.skipIf(!canBeApart)(
    'lose nothing of five kinds that they have acknowledged, and give no task to two, on a busy machine (F-01)',
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
      type Client = (typeof clients)[number];
      const call = async (client: Client, name: string, given: Record<string, unknown>): Promise<string> => {
        const result = await client.callTool({ name, arguments: given }, { timeout: 240_000 });
        if (result.isError === true) throw new Error(textsOf(result).join('\n'));
        return textsOf(result).join('\n');
      };
      const act = (client: Client, action: string, args: Record<string, unknown>): Promise<string> =>
        call(client, 'manage_project', { action, args });
      const [first] = clients as [Client];
      const [run = ''] = /bmad-prd-[\w-]+/.exec(await act(first, 'run_open', { workflow: 'prd' })) ?? [];
      const names = (who: number): string[] => Array.from({ length: EACH }, (_, time) => `${who}x${time}`);
      await Promise.all(
        clients.map(async (client, who) => {
          for (const name of names(who)) {
            const text = `Decision ${name}.`;
            await act(client, 'log_failure', { title: `Failure ${name}.`, category: 'CC-FAIL' });
            await call(client, 'remember_structured', { type: 'decisions', agent: 'dev', text });
            await act(client, 'log_handoff', { from: 'dev', to: 'qa', summary: `Handed over ${name}.` });
            const task = { agent: 'dev', task: `Do ${name}`, output_key: `out_${name}` };
            await call(client, 'spawn_subagent_task', task);
            await act(client, 'run_checkpoint', { run_id: run, variables: { [`value_${name}`]: name } });
          }
        }),
      );
      const all = clients.flatMap((_, who) => names(who));
      const lost = async (file: string, told: (name: string) => string): Promise<string[]> => {
        const text = await readFile(join(cwd, file), 'utf8');
        return all.filter((name) => text.split(told(name)).length !== 2);
      };
      expect(await lost('_bmad/_memory/failure-museum.md', (name) => `Failure ${name}.`)).toEqual([]);
      expect(await lost('_bmad/_memory/decisions-log.md', (name) => `Decision ${name}.`)).toEqual([]);
      expect(await lost('_bmad/_memory/memories.json', (name) => `Decision ${name}.`)).toEqual([]);
      expect(await lost('_bmad/_memory/handoff-log.md', (name) => `Handed over ${name}.`)).toEqual([]);
      const state = `_bmad-output/.runs/main/${run}/state.json`;
      expect(await lost(state, (name) => `"value_${name}"`)).toEqual([]);
      expect(
        await call(first, 'manage_memories', { action: 'count', args: { type: 'decisions' } }),
      ).toContain(String(all.length));

      const claimed: string[] = [];
      await Promise.all(
        clients.map(async (client) => {
          for (;;) {
            const said = await act(client, 'task_claim', { worker: 'w' });
            if (said.startsWith('There is no task')) return;
            claimed.push(/task-[\w-]+/.exec(said)?.[0] ?? said);
          }
        }),
      );
      expect(claimed).toHaveLength(all.length);
      expect(new Set(claimed).size).toBe(all.length);
    },
    1_800_000,
  );
});
