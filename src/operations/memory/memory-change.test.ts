import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { KIT_FILES } from '../../../tests/support/kit-project.ts';
import { memorySession } from '../../../tests/support/memory-session.ts';
import {
  memoryForget,
  memoryGet,
  memoryRestore,
  memorySupersede,
  memoryUpdate,
} from './memory-operations.ts';

const session = await memorySession(afterAll);
const log = (): Promise<string> => readFile(join(session.folder, '_bmad/_memory/decisions-log.md'), 'utf8');

describe('memory_update', () => {
  it('changes a memory under its id and keeps what it said', async () => {
    const id = await session.remember('decisions', 'dev', 'Deploy on Mondays, in the morning');
    const { data } = await session.ok(memoryUpdate, { id, text: 'Deploy on Tuesdays, in the morning' });
    expect(data).toMatchObject({ memory: { id, revision: 2 } });
    const shown = await session.ok(memoryGet, { id });
    expect(shown.data['revisions']).toMatchObject([
      { revision: 1, text: 'Deploy on Mondays, in the morning' },
    ]);
    expect(await log()).toContain('Tuesdays');
    expect(await log()).not.toContain('Mondays');
    expect((await session.recall('deploy mondays'))[0]?.snippet).toBe('Deploy on Tuesdays, in the morning');
  });

  it('changes tags alone, and wants something to change', async () => {
    const id = await session.remember('stories', 'dev', 'A story that gets a tag');
    expect((await session.ok(memoryUpdate, { id, tags: ['new'] })).data).toMatchObject({
      memory: { tags: ['new'] },
    });
    expect((await session.fail(memoryUpdate, { id })).code).toBe('invalid_input');
    expect((await session.fail(memoryUpdate, { id, text: 'short' })).code).toBe('invalid_input');
    expect((await session.fail(memoryUpdate, { id, agent: '../x' })).code).toBe('invalid_input');
  });
});

describe('memory_forget and memory_restore', () => {
  it('take it out of every answer and file, and bring it back', async () => {
    const id = await session.remember('decisions', 'dev', 'Feature flags live in Unleash');
    expect(await log()).toContain('Unleash');
    const { data, answer } = await session.ok(memoryForget, { id });
    expect(data['files']).toHaveLength(2);
    expect(answer.steps).toEqual([{ operation: 'memory_restore', args: { id }, why: 'Undo it' }]);
    expect(await session.recall('unleash')).toEqual([]);
    expect(await log()).not.toContain('Unleash');
    expect((await session.ok(memoryRestore, { id })).data['files']).toHaveLength(2);
    expect(await session.recall('unleash')).toHaveLength(1);
    expect((await log()).match(/Unleash/g)).toHaveLength(1);
    expect((await session.ok(memoryRestore, { id })).data['notes']).toEqual(['It was not forgotten.']);
  });

  it('hides copies that somebody has written elsewhere', async () => {
    const text = 'Vider le cache Redis entre les tests du panier';
    const id = await session.remember('agent-learnings', 'somebody', text);
    await session.ok(memoryForget, { id });
    expect((await session.recall('vider cache redis')).map(({ snippet }) => snippet)).not.toContain(text);
    // The file belongs to another agent and is left as it is.
    const file = '_bmad/_memory/agent-learnings/fullstack-dev.md';
    expect(await readFile(join(session.folder, file), 'utf8')).toBe(KIT_FILES[file]);
  });

  it('take what only a file has out of every answer, and leave alone what people wrote there', async () => {
    const file = '_bmad/_memory/atlas-learnings.md';
    const [hit] = await session.recall('monorepo');
    const { data } = await session.ok(memoryForget, { id: hit?.id });
    expect(data['notes']).toEqual([`Still written in ${file}:1; answers leave it out.`]);
    expect(await session.recall('monorepo')).toEqual([]);
    expect(await readFile(join(session.folder, file), 'utf8')).toBe(KIT_FILES[file]);
    await session.ok(memoryRestore, { id: hit?.id });
    expect((await session.recall('monorepo')).map(({ id }) => id)).toEqual([hit?.id]);
  });

  it('want an exact id', async () => {
    expect((await session.fail(memoryForget, { id: 'unleash' })).code).toBe('invalid_input');
    expect((await session.fail(memoryForget, { id: '00000000-0000-5000-8000-000000000000' })).code).toBe(
      'not_found',
    );
  });
});

describe('memory_supersede', () => {
  it('leaves the old one out, and says what replaced it', async () => {
    const old = await session.remember('decisions', 'dev', 'Timeouts are ten seconds everywhere');
    const fresh = await session.remember('decisions', 'dev', 'Timeouts are three seconds everywhere');
    await session.ok(memorySupersede, { id: old, by: fresh });
    expect((await session.recall('timeouts')).map(({ id }) => id)).toEqual([fresh]);
    expect((await session.ok(memoryGet, { id: old })).answer.body).toContain(`Superseded by ${fresh}`);
    await session.remember('decisions', 'dev', 'Timeouts are ten seconds everywhere');
    expect(await session.recall('timeouts')).toHaveLength(2);
  });

  it('strikes its line through in the log, until it is remembered again or forgotten', async () => {
    const text = 'The queue is emptied at midnight';
    const old = await session.remember('decisions', 'dev', text);
    const fresh = await session.remember('decisions', 'dev', 'Queues are emptied at noon');
    await session.ok(memorySupersede, { id: old, by: fresh });
    expect(await log()).toMatch(/^- \[[\d-]{10}\] ~~The queue is emptied at midnight~~$/m);
    expect((await session.recall('queue emptied')).map(({ id }) => id)).toEqual([fresh]);
    await session.remember('decisions', 'dev', text);
    expect(await log()).toMatch(/^- \[[\d-]{10}\] The queue is emptied at midnight$/m);
    expect((await log()).match(/midnight/g)).toHaveLength(1);
    await session.ok(memorySupersede, { id: old, by: fresh });
    await session.ok(memoryForget, { id: old });
    expect(await log()).not.toContain('midnight');
  });

  it('refuses itself and what does not exist', async () => {
    const id = await session.remember('decisions', 'dev', 'One more decision about it');
    expect((await session.fail(memorySupersede, { id, by: id })).code).toBe('invalid_input');
    const none = '00000000-0000-5000-8000-000000000000';
    expect((await session.fail(memorySupersede, { id, by: none })).code).toBe('not_found');
  });
});
