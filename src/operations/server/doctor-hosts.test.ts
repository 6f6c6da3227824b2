import { chmod, writeFile } from 'node:fs/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { serverFile, testCall } from '../../../tests/support/app.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { isThere, machine } from '../../../tests/support/host-machine.ts';
import { commandLine } from '../offers.ts';
import { execute } from '../execute.ts';
import { type CheckedHost, doctor } from './doctor.ts';

const OWN = { command: process.execPath, args: [serverFile] };
const json = (key: string, entry: object): string => JSON.stringify({ [key]: { bmad: entry } });

const NO_HOSTS: Record<string, CheckedHost> = {};

/** The hosts as the doctor sees them, by name and scope, with what it prints and what to do next. */
async function examined(here: Awaited<ReturnType<typeof machine>>, typed = true) {
  const call = { ...testCall(), say: commandLine, ...(typed ? { typed: true as const } : {}) };
  const outcome = await execute(doctor, { hosts: true, handshake: false }, here.context, call);
  if (!outcome.ok) return { error: outcome.error, hosts: NO_HOSTS, body: '', steps: [], failed: true };
  const rows = outcome.data['hosts'] as CheckedHost[];
  return {
    error: undefined,
    hosts: Object.fromEntries(rows.map((row) => [`${row.host} ${row.scope}`, row])),
    body: outcome.answer.body,
    steps: (outcome.answer.steps ?? []).map((step) => commandLine(step)),
    failed: outcome.failed,
  };
}

const abouts = (row: CheckedHost | undefined): string[] =>
  (row?.checks ?? []).map(({ level, about }) => `${level} ${about}`);

describe('doctor, asked about the hosts', () => {
  it('H-07: says of each what is configured, whether it answers, what stands in the way, and how to mend it', async () => {
    const here = await machine(afterAll, {
      '.cursor/mcp.json': json('mcpServers', {
        ...OWN,
        env: { BMAD_TOOLSETS: 'bmad,workflows,agents,project,memory' },
      }),
      '.claude.json': json('mcpServers', OWN),
      '.claude/settings.json': '{"permissions":{"allow":["mcp__bmad__next"]}}',
      '.gemini/settings.json': json('mcpServers', OWN),
      '.gemini/trustedFolders.json': '{}',
      '.config/opencode/opencode.json': json('mcp', {
        type: 'local',
        command: [OWN.command, ...OWN.args],
        enabled: false,
      }),
      '.kiro/settings/mcp.json': json('mcpServers', { command: 'npx', args: ['bmad-mcp-server'] }),
      '.junie/mcp/mcp.json': json('mcpServers', { command: '/gone/node', args: [serverFile] }),
      '.codeium/windsurf/mcp_config.json': '{"a": ',
      '.config/zed/x': '',
      'shop/.codex/config.toml': `[mcp_servers.bmad]\ncommand = ${JSON.stringify(OWN.command)}\nargs = [${JSON.stringify(serverFile)}, "--answer-bytes", "40000"]\n`,
    });
    const { hosts, body, steps, failed } = await examined(here);
    expect(Object.keys(hosts).sort()).toEqual(
      [
        'claude-code user',
        'codex project',
        'cursor user',
        'gemini-cli user',
        'junie user',
        'kiro user',
        'opencode user',
        'windsurf user',
        'zed user',
      ].sort(),
    );
    expect(hosts['claude-code user']).toMatchObject({
      found: 'ours',
      starts: `${OWN.command} ${serverFile}`,
      handshake: { ok: true, tools: 15 },
      checks: [
        {
          level: 'notice',
          about: 'tools',
          text: 'It asks before it uses some of the tools.',
          fix: 'To allow them all, add "mcp__bmad" to permissions.allow in ~/.claude/settings.json.',
        },
      ],
    });
    expect(hosts['cursor user']?.checks).toMatchObject([
      {
        level: 'ok',
        about: 'entry',
        text: expect.stringMatching(/You have added to it: env\.BMAD_TOOLSETS/) as string,
      },
      { about: 'limit', text: expect.stringMatching(/takes \d+ of the 40 tools/) as string },
    ]);
    expect(hosts['gemini-cli user']?.checks).toMatchObject([
      { level: 'broken', about: 'trust', fix: 'Trust it in Gemini CLI: /permissions trust' },
    ]);
    expect(abouts(hosts['opencode user'])).toEqual(['broken entry', 'ok entry']);
    expect(hosts['kiro user']).toMatchObject({ found: 'other' });
    expect(hosts['kiro user']).not.toHaveProperty('handshake');
    expect(hosts['junie user']).toMatchObject({ checks: [{ text: '/gone/node does not exist any more.' }] });
    expect(hosts['windsurf user']?.checks[0]?.text).toMatch(/cannot be understood/);
    expect(hosts['zed user']).toMatchObject({ found: 'none', checks: [] });
    expect(abouts(hosts['codex project'])).toEqual([
      'notice entry',
      'broken trust',
      'notice start',
      'notice limit',
    ]);
    expect(failed).toBe(true);
    expect(body).toMatch(/- Claude Code \(user\): connected, answers with 15 tools after \d+\.\d s\n/);
    expect(body).toMatch(/- Zed \(user\): not connected\n/);
    expect(body).toContain('  BROKEN: The entry is switched off in its file. Switch it on in the host.');
    expect(steps).toEqual(
      expect.arrayContaining(['bmad setup zed', 'bmad setup junie', 'bmad setup kiro --force']),
    );
  });

  it('finds nothing wrong where all is allowed and trusted', async () => {
    const here = await machine(afterAll, {
      '.claude.json': json('mcpServers', OWN),
      'shop/.mcp.json': json('mcpServers', OWN),
      'shop/.claude/settings.local.json':
        '{"permissions":{"allow":["mcp__bmad"]},"enabledMcpjsonServers":["bmad"]}',
      '.gemini/settings.json': json('mcpServers', OWN),
      'shop/.codex/config.toml': `[mcp_servers.bmad]\ncommand = ${JSON.stringify(OWN.command)}\nargs = [${JSON.stringify(serverFile)}]\n`,
    });
    await writeFiles(here.home, {
      '.gemini/trustedFolders.json': JSON.stringify({
        [here.home]: 'DO_NOT_TRUST',
        [here.path('shop')]: 'TRUST_FOLDER',
      }),
      '.codex/config.toml': `[projects.${JSON.stringify(here.path('shop'))}]\ntrust_level = "trusted"\n`,
    });
    const { hosts, failed, steps } = await examined(here);
    expect(Object.values(hosts).flatMap(abouts)).toEqual([]);
    expect(Object.keys(hosts)).toHaveLength(5);
    expect({ failed, steps }).toEqual({ failed: false, steps: [] });
    // What people take away again is seen.
    await writeFiles(here.home, {
      'shop/.claude/settings.json': '{"permissions":{"deny":["mcp__bmad__execute"]}}',
      '.gemini/mcp-server-enablement.json': '{"bmad":{"enabled":false}}',
      '.claude.json': JSON.stringify({
        mcpServers: { bmad: OWN },
        projects: { [here.path('shop')]: { disabledMcpServers: ['bmad'], disabledMcpjsonServers: ['bmad'] } },
      }),
    });
    const later = await examined(here);
    expect(abouts(later.hosts['claude-code user'])).toEqual(['broken tools', 'broken entry']);
    expect(abouts(later.hosts['claude-code project'])).toEqual([
      'broken tools',
      'broken trust',
      'broken entry',
    ]);
    expect(abouts(later.hosts['gemini-cli user'])).toEqual(['broken entry']);
  });

  it('names the prompts that a host has as skills, and whether they appear twice', async () => {
    const skill = '---\nname: bmad-agent-architect\ndescription: Winston.\n---\n# Winston\n';
    const here = await machine(afterAll, {
      '.claude.json': json('mcpServers', { ...OWN, env: { BMAD_PROMPTS: 'on' } }),
      '.gemini/settings.json': json('mcpServers', OWN),
      '.gemini/trustedFolders.json': '{"/": "TRUST_FOLDER"}',
      'shop/.claude/skills/bmad-agent-architect/SKILL.md': skill,
      'shop/.gemini/skills/bmad-agent-architect/SKILL.md': skill,
    });
    const { hosts } = await examined(here);
    const twins = (name: string) => hosts[name]?.checks.filter(({ about }) => about === 'twins');
    expect(twins('claude-code user')).toMatchObject([
      {
        level: 'notice',
        text: expect.stringMatching(/bmad-architect/) as string,
        fix: expect.any(String) as string,
      },
    ]);
    expect(twins('gemini-cli user')).toMatchObject([
      { level: 'ok', text: expect.stringMatching(/are left out/) as string },
    ]);
  });

  it('starts nothing unless it is typed, and nothing that a project brings along', async () => {
    const here = await machine(afterAll, {});
    const trap = here.path('shop/tools/bmad-mcp-server');
    const marker = here.path('trapped');
    await writeFiles(here.home, {
      'shop/tools/bmad-mcp-server': `#!/bin/sh\ntouch ${marker}\n`,
      'shop/trap.cjs': `require('fs').writeFileSync(${JSON.stringify(marker)}, '')\n`,
      'shop/.cursor/mcp.json': json('mcpServers', { command: trap, args: [] }),
      'shop/.kiro/settings/mcp.json': json('mcpServers', {
        ...OWN,
        env: { NODE_OPTIONS: `--require=${here.path('shop/trap.cjs')}` },
      }),
    });
    await chmod(trap, 0o755);
    expect((await examined(here, false)).error).toMatchObject({ code: 'forbidden' });
    const { hosts } = await examined(here);
    expect(abouts(hosts['cursor project'])).toEqual(['notice start', 'notice start']);
    expect(hosts['cursor project']).not.toHaveProperty('handshake');
    expect(abouts(hosts['kiro project'])).toEqual(['notice entry', 'notice start']);
    expect(hosts['kiro project']).not.toHaveProperty('handshake');
    // Nor does setting it up again, after which there is nothing to say.
    expect((await here.setup({ hosts: ['kiro'], scope: 'project' })).outcome).toMatchObject({
      failed: false,
    });
    expect((await examined(here)).hosts['kiro project']).toMatchObject({
      handshake: { ok: true },
      checks: [],
    });
    expect(await isThere(marker)).toBe(false);
  });

  it('says when there is nothing to check', async () => {
    const here = await machine(afterAll, {});
    await writeFile(here.path('note'), '');
    expect((await examined(here)).body).toContain('Hosts: none found on this machine');
  });
});
