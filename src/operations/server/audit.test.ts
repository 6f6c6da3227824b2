import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { contextIn, homeBeside, testCall } from '../../../tests/support/app.ts';
import { openSession, type OpenSession } from '../../../tests/support/operations.ts';
import { userStateFolder } from '../../config/locations.ts';
import { execute } from '../execute.ts';
import { auditShow } from './audit.ts';

const AT = '2026-11-19T10:00:00.000Z';
const LINE = {
  at: AT,
  by: { kind: 'token', name: 'ada', token: '0123abcd' },
  operation: 'task_claim',
  outcome: 'ok',
  ms: 3.4,
};

async function withLines(...lines: readonly object[]): Promise<OpenSession> {
  const session = await openSession(onTestFinished);
  const home = homeBeside(session.folder);
  const folder = join(userStateFolder({ env: {}, home, platform: process.platform }), 'audit');
  await mkdir(folder, { recursive: true });
  await writeFile(
    join(folder, '2026-11-19.jsonl'),
    lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
  );
  return session;
}

describe('audit_show', () => {
  it('shows what is hidden in names, and each call on one line', async () => {
    const name = 'eve\u202e\u0007\n2026-11-19 forged';
    const session = await withLines(LINE, { ...LINE, by: { kind: 'oauth', name }, target: 'task-1' });
    const { answer, data } = await session.ok(auditShow, { since: AT });
    expect(answer.body.split('\n')).toEqual([
      `${AT} token ada 0123abcd | task_claim | ok 3 ms`,
      `${AT} oauth eve\\u202e\\u0007 2026-11-19 forged | task_claim task-1 | ok 3 ms`,
    ]);
    expect(data).toMatchObject({ since: AT, more: 0, bad: 0 });
  });

  it('says how many lines it leaves out, and how many are none', async () => {
    const session = await withLines(LINE, LINE, { nothing: 1 });
    const { answer } = await session.ok(auditShow, { since: '2026-11-18', limit: 1 });
    expect(answer.note).toContain('1 earlier line not shown; --limit shows more. 1 line cannot be read.');
  });

  it('finds calls by their operation', async () => {
    const session = await withLines(LINE, { ...LINE, operation: 'task_approve', target: 'task-1' });
    const { answer } = await session.ok(auditShow, { since: AT, operation: 'task_approve' });
    expect(answer.body).toBe(`${AT} token ada 0123abcd | task_approve task-1 | ok 3 ms`);
  });

  it('is for the command line and for people who came in by a link, and for no login', async () => {
    const session = await withLines(LINE);
    const context = await contextIn(session.folder);
    onTestFinished(() => context.close());
    const overHttp = { ...testCall(), overHttp: true, person: true };
    const asked = (caller: string) => execute(auditShow, { since: AT }, context, { ...overHttp, caller });
    expect(await asked('person 12345678')).toMatchObject({ ok: true });
    expect(await asked('oauth ["issuer","ada"]')).toMatchObject({ ok: false, error: { code: 'forbidden' } });
  });

  it.each(['yesterday', '99x', '-1d'])('refuses a time that is none: %s', async (since) => {
    const session = await withLines();
    expect(await session.fail(auditShow, { since })).toMatchObject({ code: 'invalid_input' });
  });
});
