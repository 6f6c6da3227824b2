import { afterEach, expect, it, vi } from 'vitest';
import { dayOf, momentOf } from './discovery.ts';

afterEach(() => void vi.unstubAllEnvs());

it.each(['America/New_York', 'Pacific/Kiritimati', 'UTC'])('a day is meant where the user is: %s', (zone) => {
  vi.stubEnv('TZ', zone);
  for (const date of ['2026-02-27', '2026-02-27 10:00'])
    expect(dayOf(momentOf(date) ?? 0)).toBe('2026-02-27');
  expect(momentOf('soon')).toBeUndefined();
  expect(momentOf(undefined)).toBeUndefined();
});
