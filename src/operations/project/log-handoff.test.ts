import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { memorySession } from '../../../tests/support/memory-session.ts';
import { saidIn } from '../../../tests/support/operations.ts';
import { inbox } from '../inbox/inbox.ts';
import { type ContextData, getProjectContext } from './project-context.ts';
import { completeHandoff, logHandoff } from './logs.ts';
import { next } from './next.ts';

describe('log_handoff and complete_handoff', () => {
  it('log a row, put a request into the inbox under the tag of the agent, and tick both off', async () => {
    const session = await memorySession(onTestFinished);
    const given = { from: 'Stack', to: 'Atlas', summary: 'Map the cart', inbox: true };
    const { data, answer } = await session.ok(logHandoff, given);
    const [id, request] = [String(data['id']), String(data['request'])];
    expect(answer.steps?.filter(({ operation }) => operation === 'complete_handoff')).toEqual([
      { operation: 'complete_handoff', args: { id }, why: 'When it is done' },
    ]);
    expect(data).toMatchObject({
      outcome: 'created',
      id: expect.stringMatching(/^H-/),
      request: expect.stringMatching(/^R-/),
    });
    expect((await session.ok(logHandoff, given)).data['outcome']).toBe('unchanged');
    const read = (name: string): Promise<string> =>
      readFile(join(session.folder, '_bmad/_memory', name), 'utf8');
    expect(await read('handoff-log.md')).toMatch(
      /^\| [\d-]+ [\d:]+ \| fullstack-dev → project-navigator \| Map the cart \| ⏳ \|\n$/,
    );
    expect(await read('shared-context.md')).toContain('- [ ] [stack→atlas] Map the cart\n');
    expect((await session.ok(completeHandoff, { id: request })).data['outcome']).toBe('updated');
    expect((await session.ok(completeHandoff, { id })).data['outcome']).toBe('unchanged');
    const { agents } = (await session.ok(getProjectContext, { section: 'agents' })).data as ContextData;
    expect([...(agents?.requests ?? []), ...(agents?.handoffs ?? [])].map(({ done }) => done)).toEqual([
      true,
    ]);
  });

  it('show once what is in both files, until only one of them is ticked off (W3-C4)', async () => {
    const session = await memorySession(onTestFinished);
    const given = { from: 'Stack', to: 'Atlas', summary: 'Map the cart', inbox: true };
    const { id, request } = (await session.ok(logHandoff, given)).data as Record<string, string>;
    const bodies = async (): Promise<string[]> =>
      Promise.all([next, inbox, getProjectContext].map(async (each) => (await session.ok(each)).answer.body));
    for (const body of await bodies()) {
      expect(body).toContain(id);
      expect(body).not.toContain(request);
      expect(body.split('Map the cart')).toHaveLength(2);
    }
    const log = join(session.folder, '_bmad/_memory/handoff-log.md');
    await writeFile(log, (await readFile(log, 'utf8')).replace('⏳', '✅'));
    for (const body of await bodies()) expect(body).toContain(request);
  });

  it('are kept with the user where the project has no BMAD, and found again', async () => {
    const session = await memorySession(onTestFinished, { files: { 'src/a.ts': '' } });
    const given = { from: 'dev', to: 'qa', summary: 'Check it', inbox: true };
    const { data, answer } = await session.ok(logHandoff, given);
    expect(data).toMatchObject({ outcome: 'created', notes: [] });
    for (const file of data['files'] as string[]) expect(await readFile(file, 'utf8')).toContain('Check it');
    expect(saidIn(answer)).toContain('for you alone on this machine');
    expect((await session.ok(logHandoff, given)).data['outcome']).toBe('unchanged');
    expect(await readdir(session.folder)).toEqual(['src']);
    const open = async (): Promise<boolean[]> => {
      const { agents } = (await session.ok(getProjectContext, { section: 'agents' })).data as ContextData;
      return [...(agents?.requests ?? []), ...(agents?.handoffs ?? [])].map(({ done }) => done);
    };
    expect(await open()).toEqual([false]);
    await session.ok(completeHandoff, { id: data['id'] });
    expect(await open()).toEqual([true]);
  });

  it('refuse ids that are none, offer none where there is none, and refuse names that lead away', async () => {
    const session = await memorySession(onTestFinished);
    for (const id of ['H-1', '../H-12345678', 'H-1234567g'])
      expect((await session.fail(completeHandoff, { id })).code).toBe('invalid_input');
    expect((await session.fail(completeHandoff, { id: 'H-12345678' })).code).toBe('not_found');
    const bare = { outcome: 'created' as const, id: '', text: 'x', files: [], notes: [] };
    expect(logHandoff.render(bare, () => '').steps).toEqual([]);
    expect((await session.fail(logHandoff, { from: 'a|b', to: 'qa', summary: 'x' })).code).toBe(
      'invalid_input',
    );
  });
});
