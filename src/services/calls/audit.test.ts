import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { type Audit, openAudit } from './audit.ts';

const DAY_MS = 24 * 60 * 60_000;
const NOON = Date.parse('2026-11-19T12:00:00Z');
const LINE = { by: { kind: 'token', name: 'ada' }, operation: 'log_decision', outcome: 'ok', ms: 1 };
const EVERYTHING = { since: -Infinity, limit: 1_000 };

async function audited(): Promise<{
  audit: Audit;
  folder: string;
  at: { now: number };
  told: string[];
  /** What another process reads. */
  again(): Audit;
}> {
  const state = await temporaryFolder(onTestFinished);
  const at = { now: NOON };
  const told: string[] = [];
  const tell = (message: string): void => void told.push(message);
  const log = { error: tell, warn: tell, info: tell, debug: () => undefined };
  const again = (): Audit => openAudit(state, { log, now: () => at.now });
  return { audit: again(), folder: join(state, 'audit'), at, told, again };
}

describe('the audit of calls', () => {
  it('keeps lines of calls at once in one file a day, and reads what is wanted of them', async () => {
    const { audit, folder, at, again } = await audited();
    await Promise.all(Array.from({ length: 50 }, (_, ms) => audit.note({ ...LINE, ms })));
    at.now += DAY_MS;
    await audit.note({ ...LINE, by: { kind: 'oauth', name: 'Bob' }, outcome: 'forbidden' });
    expect((await readdir(folder)).sort()).toEqual(['2026-11-19.jsonl', '2026-11-20.jsonl']);
    const read = await again().read({ ...EVERYTHING, limit: 3 });
    expect([read.lines.length, read.more, read.bad]).toEqual([3, 48, 0]);
    const bobs = { ...EVERYTHING, caller: 'bob' };
    expect((await again().read(bobs)).lines.map(({ outcome }) => outcome)).toEqual(['forbidden']);
    expect((await again().read({ ...EVERYTHING, since: at.now })).lines).toHaveLength(1);
    expect((await again().read({ ...EVERYTHING, outcome: 'ok' })).lines).toHaveLength(50);
  });

  it('is kept for 90 days, and a clock that is wrong for a day takes nothing away', async () => {
    const { audit, folder, at } = await audited();
    const noted = async (days: number): Promise<string[]> => {
      at.now = NOON + days * DAY_MS;
      expect(await audit.note(LINE)).toBeUndefined();
      return (await readdir(folder)).sort();
    };
    for (const days of [-100, -92, -3]) await noted(days);
    expect(await noted(0)).toHaveLength(3);
    // Set back, and forward: what was written by a right clock is there afterwards.
    expect(await noted(-2_000)).toHaveLength(4);
    expect(await noted(3_000)).toHaveLength(3);
    const years = (await audit.read(EVERYTHING)).lines.map(({ at: when }) => when.slice(0, 4));
    expect(years).toEqual(['2026', '2026', '2035']);
  });

  it('goes on when it can be written again, and says so only while it cannot', async () => {
    const { audit, folder, told } = await audited();
    await mkdir(dirname(folder), { recursive: true });
    await writeFile(folder, 'in the way');
    const errors = await Promise.all([audit.note(LINE), audit.note(LINE)]);
    expect(errors.map((error) => error?.code)).toEqual(['unavailable', 'unavailable']);
    expect(audit.trouble()).toContain('Calls cannot be audited.');
    expect(told).toEqual(['calls could not be audited']);
    await rm(folder);
    expect(await audit.note(LINE)).toBeUndefined();
    expect(audit.trouble()).toBeUndefined();
  });

  it.skipIf(process.getuid?.() === 0)('says that its folder is read-only', async () => {
    const { audit, folder } = await audited();
    await audit.note(LINE);
    await chmod(folder, 0o500);
    await rm(join(folder, '2026-11-19.jsonl'), { force: true }).catch(() => undefined);
    await chmod(join(folder, '2026-11-19.jsonl'), 0o400);
    expect((await audit.note(LINE))?.code).toBe('unavailable');
    await chmod(folder, 0o700);
  });

  it('reads over what others have put there', async () => {
    const { audit, folder } = await audited();
    await audit.note(LINE);
    const file = join(folder, '2026-11-19.jsonl');
    const long = JSON.stringify({
      at: '2026-11-19T12:00:00Z',
      ...LINE,
      by: { kind: 'x', name: 'n'.repeat(999) },
    });
    await writeFile(file, `${await readFile(file, 'utf8')}no line\n{"at":1}\n${long}\n`);
    await writeFile(join(folder, 'notes.txt'), 'mine');
    const { lines, bad } = await audit.read(EVERYTHING);
    expect([lines.length, bad]).toEqual([1, 3]);
  });
});
