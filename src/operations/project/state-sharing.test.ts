import { describe, expect, it, onTestFinished } from 'vitest';
import { memorySession } from '../../../tests/support/memory-session.ts';
import { stateCheck, stateMigrate, stateMove, stateShow } from './state-sharing.ts';

// What they do with a database is in tests/postgres/team.test.ts.
describe('commands about the database of a team, where there is none', () => {
  it('say that the lines are in files, and where', async () => {
    const session = await memorySession(onTestFinished);
    const { data, answer } = await session.ok(stateShow);
    expect(data).toEqual({ where: 'files', place: '_bmad/_memory/.bmad-memory' });
    expect(answer.body).toContain('_bmad/_memory/.bmad-memory');
    for (const operation of [stateCheck, stateMigrate])
      expect((await session.fail(operation)).hint).toContain('BMAD_STATE');
    expect((await session.fail(stateMove, { to: 'files' })).hint).toContain('BMAD_STATE');
  });

  it('say what is wrong with an address, and never its password', async () => {
    const session = await memorySession(onTestFinished);
    const away = 'postgres://ada:s3cret-word@127.0.0.1:1/shop';
    for (const [to, code] of [
      [away, 'unavailable'],
      ['postgres://ada:s3cret-word@nowhere.invalid/shop', 'unavailable'],
      ['postgres://ada:s3cret-word@h:x/shop', 'invalid_input'],
      ['/no/such/file', 'invalid_input'],
    ] as const) {
      const error = await session.fail(stateMove, { to });
      expect(error.code).toBe(code);
      expect(error.text).not.toContain('s3cret-word');
    }
    expect((await session.fail(stateMigrate, { address: away })).code).toBe('unavailable');
  });
});
