import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { memorySession } from '../../../tests/support/memory-session.ts';

it('masks what files of the project have and should not', async () => {
  const session = await memorySession(afterAll);
  const file = join(session.folder, '_bmad/_memory/atlas-learnings.md');
  await writeFile(
    file,
    '- [2026-01-02] The staging zebra has DB_PASSWORD=hunter2hunter2 and ghp_abcdefghijklmnopqrstuvwxyz0123\n',
  );
  const hits = await session.recall('staging zebra');
  expect(hits.length).toBeGreaterThan(0);
  expect(JSON.stringify(hits)).toContain('DB_PASSWORD=***');
  expect(JSON.stringify(hits)).not.toMatch(/hunter2|abcdefghij/);
});
