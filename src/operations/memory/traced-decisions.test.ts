import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { memorySession } from '../../../tests/support/memory-session.ts';
import { getProjectContext } from '../project/project-context.ts';
import { logDecision } from './remember.ts';
import { memoryForget, memorySupersede } from './memory-operations.ts';
import { memoryPurge } from './memory-upkeep.ts';

const TRACE = '_bmad-output/BMAD_TRACE.md';
const trace =
  '# BMAD_TRACE — Audit Trail\n\n' +
  '[2026-02-27T14:32:15Z] [dev/Amelia] [DECISION] Les jetons expirent après une heure\n' +
  '[2026-02-28 10:00] [DECISION] [architect] Le cache tourne sous Redis\n' +
  '[2026-02-28T11:00:00Z] [dev] [CHECKPOINT] Les jetons sont écrits\n' +
  '## 2026-02-27 14:30 | git-commit | system\n[GIT-COMMIT] hash:abc branch:main\n';

describe('a decision that only the trace has', () => {
  it.each([
    ['of a project with a memory folder', { '_bmad/_memory/memories.json': '[]' }],
    ['of a project without one', {}],
  ])('is recalled with its agent and date, and can be superseded: %s', async (_, more) => {
    const session = await memorySession(onTestFinished, {
      files: { [TRACE]: trace, 'project-context.yaml': 'project:\n  name: Shop\n', ...more },
    });
    const [hit] = await session.recall('jetons expirent', { type: 'decisions' });
    expect(hit).toMatchObject({ agent: 'dev', stored: false, sources: [`${TRACE}:3`] });
    for (const agent of ['dev', 'Amelia'])
      expect((await session.recall('jetons', { agent }))[0]?.id).toBe(hit?.id);
    const [cache] = await session.recall('cache Redis', { until: '2026-02-28' });
    expect(cache).toMatchObject({ agent: 'architect' });
    const by = await session.remember('decisions', 'dev', 'Les jetons expirent après un jour');
    await session.ok(memorySupersede, { id: hit?.id, by });
    expect((await session.recall('jetons expirent')).map(({ id }) => id)).toEqual([by]);
    expect(await readFile(join(session.folder, TRACE), 'utf8')).toBe(trace);
    const { data } = await session.ok(getProjectContext, { section: 'decisions' });
    expect(JSON.stringify(data['decisions']).match(/jetons expirent/g)).toHaveLength(1);
  });

  it('is one with its copy in the log, and is read again when the trace has grown', async () => {
    const session = await memorySession(onTestFinished, {
      files: { [TRACE]: trace, '_bmad/_memory/memories.json': '[]' },
    });
    const { data } = await session.ok(logDecision, { text: 'Le panier vit dans PostgreSQL', agent: 'pm' });
    expect(data['files']).toContain(TRACE);
    const hits = await session.recall('panier PostgreSQL');
    expect(hits).toMatchObject([{ id: data['id'], stored: true }]);
    expect(hits[0]?.sources.some((source) => source.startsWith(TRACE))).toBe(true);
    await appendFile(
      join(session.folder, TRACE),
      '[2026-03-01T09:00:00Z] [qa] [DECISION] On teste avec Vitest\n',
    );
    expect(await session.recall('tester Vitest')).toMatchObject([{ agent: 'qa' }]);
  });

  it('goes with a memory that is removed for good, and stays hidden while it is forgotten', async () => {
    const session = await memorySession(onTestFinished, {
      files: { [TRACE]: trace, '_bmad/_memory/memories.json': '[]' },
    });
    const { data } = await session.ok(logDecision, { text: 'The xylophone is tuned at dawn', agent: 'pm' });
    const ids = [String(data['id'])];
    await session.ok(memoryForget, { id: ids[0] });
    expect(await session.recall('xylophone')).toEqual([]);
    await session.ok(memoryPurge, { ids, apply: true });
    expect(await session.recall('xylophone')).toEqual([]);
    expect(await readFile(join(session.folder, TRACE), 'utf8')).toBe(trace);
  });
});
