import { describe, expect, it } from 'vitest';
import { HOSTS } from '../../src/hosts/table.ts';
import { KNOWN_DIFFERENCES, LEFT_OUT } from '../support/known-host-differences.ts';
import { addMcpTable, gleanTable, hostOf, ownTable } from '../support/other-host-tables.ts';

// Hosts move their files. Two packages keep tables of them as well, and are updated with our other dependencies.

const TABLES = { 'add-mcp': await addMcpTable(), glean: await gleanTable() };

describe('our table of hosts, and those of others', () => {
  it('differ only where it is written down why', () => {
    const found: Record<string, { theirs: string; ours: string }> = {};
    let compared = 0;
    for (const [source, table] of Object.entries(TABLES))
      for (const [id, said] of Object.entries(table)) {
        const host = hostOf(id);
        if (host === undefined) continue;
        const own = ownTable(host);
        for (const [what, theirs] of Object.entries(said)) {
          compared += 1;
          const ours = own[what] ?? '';
          if (ours !== theirs) found[`${source} ${id}: ${what}`] = { theirs, ours };
        }
      }
    const known = Object.entries(KNOWN_DIFFERENCES).map(([key, { theirs, ours }]) => [key, { theirs, ours }]);
    expect(found).toEqual(Object.fromEntries(known));
    expect(compared).toBeGreaterThan(150);
  });

  it('have the same hosts, but for those that are named', () => {
    const theirs = Object.entries(TABLES).flatMap(([source, table]) =>
      Object.keys(table).map((id) => ({ source, id })),
    );
    const missing = theirs
      .filter(({ id }) => hostOf(id) === undefined)
      .map(({ source, id }) => `${source} ${id}`);
    expect(missing.sort()).toEqual(Object.keys(LEFT_OUT).sort());
    const covered = new Set(theirs.map(({ id }) => hostOf(id)?.id));
    expect(HOSTS.map(({ id }) => id).filter((id) => !covered.has(id))).toEqual([]);
  });
});
