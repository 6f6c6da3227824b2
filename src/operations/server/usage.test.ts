import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder, testCall } from '../../../tests/support/app.ts';
import type { Outside } from '../../app/app.ts';
import { activate, executeWorkflow } from '../activation/activate.ts';
import { bmad } from '../unified/bmad.ts';
import type { Context } from '../context.ts';
import { type CallOutcome, execute } from '../execute.ts';
import type { AnyOperation } from '../operation.ts';
import { explain } from '../catalogue/explain.ts';
import { read } from '../catalogue/read.ts';
import { usageClear, usageShow } from './kept.ts';

interface Session {
  context: Context & { written: string[] };
  run(operation: AnyOperation, input?: Record<string, unknown>): Promise<CallOutcome>;
  /** What `usage show` tells, once everything is noted. */
  shown(): Promise<{
    items: { name: string; kind: string; uses: number }[];
    days: { day: string; starts: number; tokens: number }[];
    place: string;
    noting: boolean;
    problem?: string;
  }>;
}

async function session(flags: Outside['flags'] = {}): Promise<Session> {
  const folder = await temporaryFolder(afterAll);
  const context = await contextIn(folder, { flags: { usage: 'true', ...flags } });
  const run = (operation: AnyOperation, input = {}) => execute(operation, input, context, testCall());
  return {
    context,
    run,
    async shown() {
      await (await context.usage()).settled();
      const outcome = await run(usageShow);
      if (!outcome.ok) throw outcome.error;
      return outcome.data as Awaited<ReturnType<Session['shown']>>;
    },
  };
}

describe('usage', () => {
  it('is not moved by those who may only read', async () => {
    const { context, shown } = await session();
    const reader = { ...testCall(), overHttp: true, mayWrite: false };
    expect(await execute(activate, { name: 'architect' }, context, reader)).toMatchObject({ ok: true });
    expect(await execute(bmad, { operation: 'execute', agent: 'pm' }, context, reader)).toMatchObject({
      ok: true,
    });
    expect((await shown()).items).toEqual([]);
    await execute(activate, { name: 'architect' }, context, { ...reader, mayWrite: true });
    expect((await shown()).items).toMatchObject([{ kind: 'agent', uses: 1 }]);
  });

  it('counts what is started, under whatever name, and not what is read, looked for or continued', async () => {
    const { run, shown } = await session();
    const first = await run(activate, { name: 'prd', message: 'my secret plan' });
    await run(executeWorkflow, { workflow_name: 'bmm/prd' });
    await run(activate, { name: 'Winston' });
    await run(read, { target: 'analyst' });
    await run(explain, { target: 'dev' });
    await run(activate, { name: 'no-such-thing' });
    await run(activate, { name: 'analyst', detail: 'brief' });
    expect(first.ok).toBe(true);
    await run(activate, { name: 'prd', section: 'Finalize' });
    const { items, days, place, noting } = await shown();
    expect(days).toMatchObject([{ starts: 3 }]);
    expect(days[0]?.tokens).toBeGreaterThan(1_000);
    expect(noting).toBe(true);
    expect(items.map(({ name, kind, uses }) => `${kind} ${name} ${uses}`).toSorted()).toEqual([
      'agent bmm/bmad-agent-architect 1',
      'workflow bmm/bmad-prd 2',
    ]);
    expect(await readFile(place, 'utf8')).not.toContain('secret');
  });

  it('is forgotten on request', async () => {
    const { run, shown } = await session();
    await run(activate, { name: 'prd' });
    expect((await shown()).items).toHaveLength(1);
    expect(await run(usageClear)).toMatchObject({ ok: true, data: { existed: true, removed: 1 } });
    expect((await shown()).items).toEqual([]);
    expect(await run(usageClear)).toMatchObject({ ok: true, answer: { body: 'Nothing was recorded.' } });
  });

  it('has what was started last first, whatever a clock said', async () => {
    const { run, shown } = await session();
    await run(activate, { name: 'prd' });
    const { place } = await shown();
    const line = (what: string, at: number): string => `${JSON.stringify({ what, at })}\n`;
    const far = Date.UTC(12_000, 0, 1);
    await writeFile(
      place,
      '{"log":"bmad-usage","version":1}\n' +
        line('workflow a', Date.UTC(2026, 0, 1)) +
        line('workflow b', far),
    );
    expect((await shown()).items.map(({ name }) => name)).toEqual(['b', 'a']);
  });

  it('is not removed where it is a folder, and says to move that away', async () => {
    const { run, shown } = await session();
    const { place } = await shown();
    await rm(place, { force: true });
    await mkdir(place, { recursive: true });
    const outcome = await run(usageClear);
    if (outcome.ok) throw new Error('A folder was removed.');
    expect(outcome.error.hint).toContain('move it yourself');
    expect(outcome.error.hint).not.toContain('usage clear');
  });

  it.each([
    ['switched off', { usage: 'false' }],
    ['read-only', { readOnly: 'true' }],
  ])('is not noted when it is %s', async (_what, flags) => {
    const { run, shown, context } = await session(flags);
    await run(activate, { name: 'prd' });
    expect(await shown()).toMatchObject({ items: [], noting: false });
    await expect(readFile((await context.usage()).place)).rejects.toThrow('ENOENT');
  });

  it('is not cleared in read-only mode', async () => {
    const { run } = await session({ readOnly: 'true' });
    expect(await run(usageClear)).toMatchObject({ ok: false, error: { code: 'forbidden' } });
  });

  it('is reported and left alone when it cannot be read, and nothing else fails', async () => {
    const { run, shown, context } = await session();
    await run(activate, { name: 'prd' });
    const { place } = await shown();
    const newer = '{"log":"bmad-usage","version":9}\n';
    await writeFile(place, newer);
    expect(await run(activate, { name: 'prd' })).toMatchObject({ ok: true });
    const told = await shown();
    expect(told.problem).toContain('newer version');
    expect(await run(usageShow)).toMatchObject({ failed: true });
    expect(await run(explain, { target: 'prd' })).toMatchObject({
      ok: true,
      data: { ranking: { uses: 0, problem: told.problem } },
    });
    expect(await readFile(place, 'utf8')).toBe(newer);
    expect(context.written.join('')).toContain('newer version');
  });
});
