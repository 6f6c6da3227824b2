import { writeFile } from 'node:fs/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { isThere, machine, outcomes } from '../../../tests/support/host-machine.ts';

describe('remove', () => {
  it('takes away with its entry the file and the folders that it made', async () => {
    const here = await machine(afterAll, {});
    const { rows } = await here.setup({ hosts: ['vscode', 'kiro'], scope: 'project' });
    expect(outcomes(rows)).toEqual({ vscode: 'written', kiro: 'written' });
    expect(await here.text('shop/.vscode/mcp.json')).toContain('"servers"');
    await here.remove({ hosts: ['vscode', 'kiro'], scope: 'project' });
    expect(await isThere(here.path('shop/.vscode'))).toBe(false);
    expect(await isThere(here.path('shop/.kiro'))).toBe(false);
  });

  it('keeps what was written since, and does not mind what was removed by hand', async () => {
    const here = await machine(afterAll, { '.cursor/mcp.json': '{}\n', '.kiro/settings/mcp.json': '{}\n' });
    await here.setup({ hosts: ['cursor', 'kiro'] });
    const text = await here.text('.cursor/mcp.json');
    await writeFile(
      here.path('.cursor/mcp.json'),
      text.replace('"mcpServers"', '"later": 1,\n  "mcpServers"'),
    );
    await writeFile(here.path('.kiro/settings/mcp.json'), '{"mine": 1}');
    const { rows } = await here.remove({ hosts: ['cursor', 'kiro'] });
    expect(outcomes(rows)).toMatchObject({ cursor: 'removed' });
    expect(await here.text('.cursor/mcp.json')).toBe('{\n  "later": 1\n}\n');
    expect(await here.text('.kiro/settings/mcp.json')).toBe('{"mine": 1}');
    expect((await here.remove({ hosts: ['kiro'] })).rows[0]?.outcome).toBe('absent');
  });

  it('writes a file that two hosts share once, and keeps it until both are gone', async () => {
    const here = await machine(afterAll, {});
    await here.setup({ hosts: ['claude-code', 'copilot-cli'], scope: 'project' });
    const text = await here.text('shop/.mcp.json');
    expect(text.match(/"bmad"/g)).toHaveLength(1);
    expect((await here.remove({ hosts: ['claude-code'], scope: 'project' })).rows[0]?.outcome).toBe('shared');
    expect(await here.text('shop/.mcp.json')).toBe(text);
    expect((await here.remove({ hosts: ['copilot'], scope: 'project' })).rows[0]?.outcome).toBe('removed');
    expect(await isThere(here.path('shop/.mcp.json'))).toBe(false);
  });

  it('does not disconnect everything without being told to', async () => {
    const here = await machine(afterAll, { '.cursor/mcp.json': '{}' });
    await here.setup({ hosts: ['cursor'] });
    expect((await here.remove()).error?.text).toMatch(/cannot ask.*--yes: cursor/s);
    const { rows } = await here.remove({ dry_run: true });
    expect(rows[0]?.diff).toMatch(/^-.*"bmad"/m);
    expect(await here.text('.cursor/mcp.json')).toContain('"bmad"');
  });
});
