import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { STATE_FOLDER } from '../../src/base/product.ts';
import { temporaryFolder } from '../support/app.ts';
import { LineClient } from '../support/line-client.ts';
import { connectClient } from '../support/mcp-client.ts';
import { bareEnvironment, bmad, type Ended } from '../support/programs.ts';

interface Machine {
  cwd: string;
  home: string;
  run(...args: string[]): Promise<Ended>;
  uses(name: string): Promise<number>;
}

async function machine(): Promise<Machine> {
  const [cwd, home] = [await temporaryFolder(afterAll), await temporaryFolder(afterAll)];
  const run = (...args: string[]) =>
    bmad(args, {
      cwd,
      env: bareEnvironment(home, { BMAD_USAGE: 'true', XDG_STATE_HOME: join(home, 'state') }),
    });
  return {
    cwd,
    home,
    run,
    async uses(name) {
      const { stdout } = await run('usage', 'show', '--json');
      const { items } = JSON.parse(stdout.toString()) as { items: { name: string; uses: number }[] };
      return items.find((item) => item.name === name)?.uses ?? 0;
    },
  };
}

/** Programs that note the same at once. */
const MANY = 6;

describe('what is started', () => {
  it('is noted by every program, many at once, and by none that is told not to', async () => {
    const { run, uses, cwd, home } = await machine();
    const env = { BMAD_USAGE: 'true', XDG_STATE_HOME: join(home, 'state') };
    const client = await connectClient({ cwd, home, env });
    const [ended] = await Promise.all([
      Promise.all(Array.from({ length: MANY }, () => run('execute', 'prd'))),
      client.callTool({ name: 'bmad', arguments: { command: '*prd' } }),
      client.getPrompt({ name: 'bmad-prd' }),
      client.getPrompt({ name: 'bmad-architect' }),
    ]);
    expect(ended.map(({ code }) => code)).toEqual(ended.map(() => 0));
    // The server notes while nobody waits; it has, once others can read it.
    await expect.poll(() => uses('bmm/bmad-agent-architect'), { timeout: 120_000 }).toBe(1);
    await client.close();
    expect(await uses('bmm/bmad-prd')).toBe(MANY + 2);
    await run('execute', 'prd', '--usage=false');
    await run('execute', 'prd', '--read-only');
    expect(await uses('bmm/bmad-prd')).toBe(MANY + 2);
    const folder = join(home, 'state', STATE_FOLDER, 'usage');
    const [file = '', ...others] = await readdir(folder);
    expect(others).toEqual([]);
    const place = join(folder, file);
    expect((await stat(place)).mode & 0o077).toBe(0);
    expect((await readFile(place, 'utf8')).trim().split('\n')).toHaveLength(MANY + 4);
    const { stdout } = await run('list', 'workflows', '--json');
    expect((JSON.parse(stdout.toString()) as { lifted: number }).lifted).toBe(1);
    expect((await run('usage', 'clear')).stdout.toString()).toBe('Forgotten: 2 names.\n');
    expect(await uses('bmm/bmad-prd')).toBe(0);
    expect(await readdir(cwd)).toEqual([]);
  }, 90_000);

  it('outlives a server that is killed in the middle of its work', async () => {
    const { uses, run, cwd, home } = await machine();
    const client = await LineClient.connect({
      cwd,
      home,
      env: { BMAD_USAGE: 'true', XDG_STATE_HOME: join(home, 'state') },
    });
    const start = () => client.request('tools/call', { name: 'bmad', arguments: { workflow: 'prd' } });
    await start();
    await expect.poll(() => uses('bmm/bmad-prd'), { timeout: 120_000 }).toBe(1);
    // The answers come before anything is written, so the writing is cut off somewhere.
    await Promise.all(Array.from({ length: 20 }, start));
    client.child.kill('SIGKILL');
    await client.ended;
    const left = await uses('bmm/bmad-prd');
    expect(left).toBeGreaterThanOrEqual(1);
    expect((await run('execute', 'prd')).code).toBe(0);
    expect(await uses('bmm/bmad-prd')).toBe(left + 1);
  }, 90_000);
});
