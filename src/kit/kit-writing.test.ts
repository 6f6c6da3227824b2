import { readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../tests/support/app.ts';
import { KIT_FILES, writeFiles } from '../../tests/support/kit-project.ts';
import { entry, living } from '../../tests/support/kit-entries.ts';
import { readKitAgents } from './agents.ts';
import { kitIn } from '../../tests/support/kit.ts';
import { removeFromKitFiles, writeKitFiles } from './memories/write.ts';

async function project(files: Readonly<Record<string, string>> = KIT_FILES): Promise<string> {
  const folder = await temporaryFolder(afterAll);
  await writeFiles(folder, files);
  return folder;
}

describe('what is written into them', () => {
  it('stands where the kit looks for it, once', async () => {
    const folder = await project();
    const kit = await kitIn(folder);
    const writing = { kit, agents: await readKitAgents(kit), locks: join(folder, 'locks'), living };
    const { mode } = await stat(join(folder, '_bmad/_memory/memories.json'));
    for (let time = 0; time < 2; time++)
      expect(await writeKitFiles(writing, entry({ tags: ['db'] }), { mode: 'semantic' })).toEqual({
        files: ['_bmad/_memory/agent-learnings/fullstack-dev.md', '_bmad/_memory/memories.json'],
        problems: [],
        complete: true,
      });
    const learnings = await readFile(join(folder, '_bmad/_memory/agent-learnings/fullstack-dev.md'), 'utf8');
    expect(learnings).toBe(
      `${KIT_FILES['_bmad/_memory/agent-learnings/fullstack-dev.md'] ?? ''}\n- [2026-05-04] Lancer les migrations avant les tests\n`,
    );
    const text = await readFile(join(folder, '_bmad/_memory/memories.json'), 'utf8');
    expect(text.endsWith(']')).toBe(true);
    const list = JSON.parse(text) as unknown[];
    expect(list).toHaveLength(4);
    expect(list[3]).toMatchObject({
      id: 4,
      memory: 'Lancer les migrations avant les tests',
      user_id: 'ada-field',
      metadata: { agent: 'stack', type: 'agent-learnings', tags: ['db'], uuid: entry({}).id },
      created_at: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}$/) as unknown,
    });
    expect((await stat(join(folder, '_bmad/_memory/memories.json'))).mode).toBe(mode);
    const activity = (await readFile(join(folder, '_bmad/_memory/activity.jsonl'), 'utf8'))
      .trim()
      .split('\n');
    expect(JSON.parse(activity[1] ?? '')).toMatchObject({
      cmd: 'remember',
      agent: 'stack',
      mode: 'semantic',
      type: 'agent-learnings',
    });
  });

  it('begins the file that an agent is told to write to', async () => {
    const folder = await project();
    const kit = await kitIn(folder);
    const writing = { kit, agents: await readKitAgents(kit), locks: join(folder, 'locks'), living };
    await writeKitFiles(writing, entry({ agent: 'atlas' }), { mode: 'local' });
    const text = await readFile(join(folder, '_bmad/_memory/agent-learnings/project-knowledge.md'), 'utf8');
    expect(text).toMatch(
      /^# Learnings — project-navigator\n\n> .*\n\n- \[2026-05-04\] Lancer les migrations/,
    );
  });

  it('replaces an earlier wording, and is gone when forgotten', async () => {
    const folder = await project();
    const kit = await kitIn(folder);
    const writing = { kit, agents: [], locks: join(folder, 'locks'), living };
    const first = entry({ type: 'decisions', text: 'Kafka for the events\nof all shops' });
    const second = { ...first, text: 'NATS for the events of all shops' };
    const log = (): Promise<string> => readFile(join(folder, '_bmad/_memory/decisions-log.md'), 'utf8');
    await writeKitFiles(writing, first, { mode: 'local' });
    expect(await log()).toContain('- [2026-05-04] Kafka for the events of all shops\n');
    await writeKitFiles(writing, second, { earlier: [first], mode: 'local' });
    expect(await log()).not.toContain('Kafka');
    expect(await log()).toContain('- [2026-05-04] NATS for');
    await removeFromKitFiles(writing, second);
    expect(await log()).toBe(KIT_FILES['_bmad/_memory/decisions-log.md']);
    expect(JSON.parse(await readFile(join(folder, '_bmad/_memory/memories.json'), 'utf8'))).toHaveLength(3);
  });

  it('leaves the lines of people, and of other memories with the same text', async () => {
    const text = 'Kafka for the events of all shops';
    const people = `- [2026-05-03] ${text}\n- ${text}\n`;
    const folder = await project({ '_bmad/_memory/decisions-log.md': people });
    const kit = await kitIn(folder);
    const writing = { kit, agents: [], locks: join(folder, 'locks'), living };
    const log = (): Promise<string> => readFile(join(folder, '_bmad/_memory/decisions-log.md'), 'utf8');
    const ours = entry({ type: 'decisions', text });
    await writeKitFiles(writing, ours, { mode: 'local' });
    await removeFromKitFiles(writing, ours);
    await writeKitFiles(writing, { ...ours, text: 'NATS' }, { earlier: [ours], mode: 'local' });
    expect(await log()).toBe(`${people}- [2026-05-04] NATS\n`);
    const nats = { ...ours, text: 'NATS' };
    const twin = { ...nats, id: '00000000-0000-5000-8000-000000000002', agent: 'other' };
    await removeFromKitFiles({ ...writing, living: () => Promise.resolve([nats, twin]) }, nats);
    expect(await log()).toContain('NATS');
    await removeFromKitFiles(writing, nats, { keepLine: true });
    expect(await log()).toContain('NATS');
    await removeFromKitFiles({ ...writing, living: () => Promise.resolve([nats]) }, nats);
    expect(await log()).toBe(people);
  });

  it('never goes where a link leads', async () => {
    const [folder, elsewhere] = [await project(), await temporaryFolder(afterAll)];
    await writeFile(join(elsewhere, 'log.md'), 'mine\n');
    const kit = await kitIn(folder);
    const log = join(kit.memory ?? '', 'linked.md');
    await symlink(join(elsewhere, 'log.md'), log);
    await symlink(elsewhere, join(kit.memory ?? '', 'agent-learnings-elsewhere'));
    const { appendLine } = await import('../base/files/file-shared.ts');
    for (const path of ['linked.md', 'agent-learnings-elsewhere/new.md', '../../outside.md'])
      await expect(appendLine(kit.memory ?? '', path, 'x')).rejects.toMatchObject({ code: 'forbidden' });
    expect(await readFile(join(elsewhere, 'log.md'), 'utf8')).toBe('mine\n');
  });
});
