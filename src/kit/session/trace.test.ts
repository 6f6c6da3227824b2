import { readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { writeFiles } from '../../../tests/support/kit-project.ts';
import { kitIn } from '../../../tests/support/kit.ts';
import { appendTrace, traceIn } from '../memories/decisions.ts';

describe('traceIn', () => {
  it('reads the type before and behind the agent, and passes over commits', () => {
    const text =
      '# BMAD_TRACE\n[2026-02-27T14:32:15Z] [dev/Amelia] [DECISION] JWT\n[2026-02-28 10:00] [DECISION] [dev] cache\n' +
      '## 2026-02-27 14:30 | git-commit | system\n[GIT-COMMIT] hash:abc\n[2026-02-28T10:00:00Z] [dev] [HANDOFF→qa] US-1\n';
    expect(traceIn(text)).toEqual([
      { date: '2026-02-27T14:32:15Z', agent: 'dev/Amelia', type: 'DECISION', text: 'JWT', line: 2 },
      { date: '2026-02-28 10:00', agent: 'dev', type: 'DECISION', text: 'cache', line: 3 },
      { date: '2026-02-28T10:00:00Z', agent: 'dev', type: 'HANDOFF→qa', text: 'US-1', line: 6 },
    ]);
  });
});

describe('appendTrace', () => {
  it('adds to the trace of a project that keeps one, and to no other', async () => {
    const root = await temporaryFolder(onTestFinished);
    await writeFiles(root, { '_bmad/_memory/memories.json': '[]' });
    const kit = await kitIn(root);
    const line = { agent: 'dev', type: 'DECISION', text: 'one\ntwo' };
    expect(await appendTrace(kit, line, new Date())).toBeUndefined();
    await writeFiles(root, { '_bmad-output/BMAD_TRACE.md': '# Trace' });
    expect(await appendTrace(kit, line, new Date('2026-11-15T08:00:00.123Z'))).toBe(
      '_bmad-output/BMAD_TRACE.md',
    );
    expect(await readFile(join(root, '_bmad-output/BMAD_TRACE.md'), 'utf8')).toBe(
      '# Trace\n[2026-11-15T08:00:00Z] [dev] [DECISION] one two\n',
    );
  });
});

it.skipIf(process.platform === 'win32')(
  'is not written through a link, wherever that leads (S-01)',
  async () => {
    const root = await temporaryFolder(onTestFinished);
    await writeFiles(root, { '_bmad/_memory/.keep': '', '.git/config': '[core]\n' });
    await symlink('.git/config', join(root, 'BMAD_TRACE.md'));
    const kit = await kitIn(root);
    await expect(
      appendTrace(kit, { agent: 'dev', type: 'DECISION', text: '$(id)' }, new Date()),
    ).rejects.toMatchObject({ code: 'forbidden' });
    expect(await readFile(join(root, '.git/config'), 'utf8')).toBe('[core]\n');
  },
);
