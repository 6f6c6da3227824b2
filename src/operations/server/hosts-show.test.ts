import { afterAll, describe, expect, it } from 'vitest';
import { serverFile, testCall } from '../../../tests/support/app.ts';
import { machine } from '../../../tests/support/host-machine.ts';
import { execute } from '../execute.ts';
import { hostsShow } from './setup.ts';

const entry = (command: string): string =>
  JSON.stringify({ mcpServers: { bmad: { command, args: [serverFile] } } });

describe('the hosts of a machine', () => {
  it('are told with their entries and what stands in the way, and nothing is started', async () => {
    const here = await machine(afterAll, {
      '.claude.json': entry(process.execPath),
      '.cursor/mcp.json': entry('/gone/node'),
      '.config/zed/x': '',
    });
    const outcome = await execute(hostsShow, {}, here.context, testCall());
    if (!outcome.ok) throw outcome.error;
    const hosts = outcome.data['hosts'] as { host: string }[];
    expect(hosts.toSorted((a, b) => (a.host < b.host ? -1 : 1))).toMatchObject([
      { host: 'claude-code', found: 'ours' },
      {
        host: 'cursor',
        found: 'ours',
        checks: [{ level: 'broken', about: 'start' }],
        repair: 'bmad setup cursor',
      },
      { host: 'zed', found: 'none', checks: [] },
    ]);
    expect(JSON.stringify(outcome.data)).not.toContain('handshake');
    expect(outcome).toMatchObject({ failed: true });
    expect(outcome.answer.note).toBe('2 hosts connected; nothing was started.');
  });

  it('are none where none is', async () => {
    const here = await machine(afterAll, {});
    expect(await execute(hostsShow, {}, here.context, testCall())).toMatchObject({
      ok: true,
      failed: false,
      data: { hosts: [] },
    });
  });
});
