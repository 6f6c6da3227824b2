import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { entryOf } from '../../src/hosts/entries.ts';
import { HOSTS, pathsOf, type Scope, type System } from '../../src/hosts/table.ts';
import { put } from '../../src/hosts/splice.ts';
import { repository } from '../support/app.ts';

const SYSTEMS: Record<System, { home: string; root: string; command: string; program: string }> = {
  linux: {
    home: '/home/ada',
    root: '/home/ada/shop',
    command: '/usr/bin/node',
    program: '/opt/bmad/dist/bmad-mcp-server.cjs',
  },
  darwin: {
    home: '/Users/ada',
    root: '/Users/ada/shop',
    command: '/usr/local/bin/node',
    program: '/Users/ada/bmad/dist/bmad-mcp-server.cjs',
  },
  win32: {
    home: 'C:\\Users\\Ada',
    root: 'C:\\shop',
    command: 'C:\\Program Files\\nodejs\\node.exe',
    program: 'C:\\bmad\\dist\\bmad-mcp-server.cjs',
  },
};

describe('hosts', () => {
  it('are written to these files in this form, on every system and in every scope', async () => {
    const parts: string[] = [];
    for (const host of HOSTS)
      for (const scope of ['user', 'project'] satisfies Scope[])
        for (const [system, { home, root, command, program }] of Object.entries(SYSTEMS)) {
          const [file, ...others] = pathsOf(host, scope, { env: {}, home, platform: system as System }, root);
          if (file === undefined) continue;
          const entry = entryOf(host, scope, { command, args: [program] });
          const { text } = put({ file, text: '', format: host.format, key: host.key }, entry);
          const read = others.length === 0 ? '' : `\n(or, if it exists: ${others.join(', ')})`;
          parts.push(`=== ${host.id}, ${scope}, ${system}\n${file}${read}\n${text}`);
        }
    await expect(parts.join('\n')).toMatchFileSnapshot(
      join(repository, 'tests/surface/__snapshots__/hosts.txt'),
    );
    expect(parts.length).toBeGreaterThan(70);
  });

  it('have names of their own', () => {
    const names = HOSTS.flatMap(({ id, name, aliases = [] }) => [
      ...new Set([id, name.toLowerCase()]),
      ...aliases,
    ]);
    expect(new Set(names).size).toBe(names.length);
  });
});
