import { describe, expect, it } from 'vitest';
import { testCall } from '../../tests/support/app.ts';
import { BmadError } from '../base/errors.ts';
import { withoutPlaces } from './observed.ts';

const LOCKED = new BmadError('unavailable', '/srv/shop/.lines.lock is a lock, which names process 9704.', {
  reason: 'locked',
});

describe('what is said of a lock', () => {
  it('names neither a path nor a process to who comes over HTTP', () => {
    const told = withoutPlaces(LOCKED, { ...testCall(), overHttp: true });
    expect(told.text).not.toMatch(/9704|srv/);
    expect([told.code, told.seconds]).toEqual(['unavailable', 2]);
  });

  it('names both to the user of this machine', () => {
    expect(withoutPlaces(LOCKED, testCall())).toBe(LOCKED);
  });
});
