import { describe, expect, it } from 'vitest';
import type { Caller } from '../../../base/http/http-route.ts';
import { type Held, makesRoom } from './sessions.ts';

const known = (subject: string): Caller => ({ known: 'oauth', subject, mayWrite: true });
const of = (subject: string, used: number, open = 0): Held => ({ owner: known(subject), used, open });

describe('the session that makes room', () => {
  it('is the one of the caller itself that was silent longest, where nobody has more', () => {
    const sessions = [of('ada', 1), of('eve', 5), of('eve', 3), of('eve', 2, 1)];
    expect(makesRoom(sessions, known('eve'))).toBe(sessions[2]);
  });

  it('is none, where the caller listens on all it has and nobody has more', () => {
    expect(makesRoom([of('ada', 1), of('eve', 2, 1), of('eve', 3, 1)], known('eve'))).toBeUndefined();
  });

  it('is one of whoever has the most, for a caller who has less', () => {
    const sessions = [of('ada', 1), of('eve', 4), of('eve', 3), of('bob', 2)];
    expect(makesRoom(sessions, known('new'))).toBe(sessions[2]);
    expect(makesRoom(sessions, known('ada'))).toBe(sessions[2]);
  });

  it('is one that still listens only for a caller who has clearly less', () => {
    const sessions = [of('eve', 4, 1), of('eve', 3, 1), of('ada', 1, 1)];
    expect(makesRoom(sessions, known('new'))).toBe(sessions[1]);
    expect(makesRoom(sessions, known('ada'))).toBeUndefined();
  });

  it('is an idle one of the caller itself, before one of another that listens', () => {
    const sessions = [of('eve', 1, 1), of('eve', 2, 1), of('eve', 3, 1), of('ada', 9), of('ada', 4, 1)];
    expect(makesRoom(sessions, known('ada'))).toBe(sessions[3]);
    expect(makesRoom([...sessions, of('eve', 8)], known('ada'))).toMatchObject({ used: 8 });
  });

  it('is the oldest silent one, where nobody knows who comes', () => {
    const nobody: Caller = { known: 'anonymous', mayWrite: true };
    const sessions: Held[] = [
      { owner: nobody, used: 2, open: 0 },
      { owner: nobody, used: 1, open: 1 },
    ];
    expect(makesRoom(sessions, nobody)).toBe(sessions[0]);
  });
});
