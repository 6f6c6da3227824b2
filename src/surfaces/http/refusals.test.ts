import { describe, expect, it, vi } from 'vitest';
import { logged, serve } from '../../../tests/support/front-door.ts';
import { sendRequest } from '../../../tests/support/raw-http.ts';
import { tokenGate, unauthorized } from './gate.ts';
import { createRefusals, type Refusal } from './refusals.ts';

const WRONG = unauthorized('The token is not valid.', 'invalid_token');

/** Someone who comes from an address, perhaps by way of proxies. */
const from = (remoteAddress: string, forwarded?: string) =>
  ({
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
    socket: { remoteAddress },
  }) as never;

function watched(proxies: readonly string[] = []) {
  const lines: object[] = [];
  const reasons: Refusal[] = [];
  let now = 0;
  const log = {
    error() {},
    info() {},
    debug() {},
    warn: (message: string, fields = {}) => void lines.push({ message, ...fields }),
  };
  const refusals = createRefusals({
    log,
    proxies,
    refused: (reason) => void reasons.push(reason),
    clock: () => now,
  });
  return {
    lines,
    reasons,
    pass: (ms: number) => (now += ms),
    tries: (count: number, who: never) =>
      Array.from({ length: count }, () => refusals.answer(WRONG, who)).map(({ status }) => status),
    retryAfter: (who: never) => refusals.answer(WRONG, who).headers['retry-after'],
  };
}

describe('wrong tokens', () => {
  it('of one address are answered twenty times a minute, then with the time to wait', () => {
    const { tries, pass, retryAfter } = watched();
    const somebody = from('192.0.2.7');
    expect(tries(20, somebody)).toEqual(Array.from({ length: 20 }, () => 401));
    expect(tries(3, somebody)).toEqual([429, 429, 429]);
    expect(tries(1, from('192.0.2.8'))).toEqual([401]);
    pass(45_000);
    expect(retryAfter(somebody)).toBe('15');
    pass(15_001);
    expect(tries(1, somebody)).toEqual([401]);
  });

  it('are counted where they come from, as far as a proxy that is named says so', () => {
    const believed = watched(['10.0.0.1']);
    const byProxy = (client: string) => from('10.0.0.1', `203.0.113.99, ${client}`);
    believed.tries(20, byProxy('198.51.100.1'));
    expect(believed.tries(1, byProxy('198.51.100.1'))).toEqual([429]);
    expect(believed.tries(1, byProxy('198.51.100.2'))).toEqual([401]);

    const unknown = watched();
    for (let index = 0; index < 20; index += 1) unknown.tries(1, from('10.0.0.1', `198.51.100.${index}`));
    expect(unknown.tries(1, from('10.0.0.1', '198.51.100.77'))).toEqual([429]);
  });

  it('of one network of IPv6 are those of one address', () => {
    const { tries } = watched();
    for (let index = 0; index < 20; index += 1) tries(1, from(`2001:db8:1:2::${index}`));
    expect(tries(1, from('2001:db8:1:2:ffff::1'))).toEqual([429]);
    expect(tries(1, from('2001:db8:1:3::1'))).toEqual([401]);
  });

  it('are one line in the log, then one a minute with their number', () => {
    vi.useFakeTimers();
    try {
      const { tries, pass, lines, reasons } = watched();
      tries(30, from('192.0.2.7'));
      expect(lines).toEqual([{ message: 'requests were refused', wrong_token: 1 }]);
      // A timer may come a little early.
      pass(59_999.5);
      vi.advanceTimersByTime(60_000);
      expect(lines[1]).toEqual({ message: 'requests were refused', wrong_token: 19, throttled: 10 });
      expect(reasons.filter((reason) => reason === 'throttled')).toHaveLength(10);
    } finally {
      vi.useRealTimers();
    }
  });

  it('never keep out the right one behind the same address', async () => {
    const token = 'a-token-of-this-test';
    const { origin } = await serve({ gate: tokenGate([{ token, mayWrite: true }]) });
    const ask = (sent: string) =>
      sendRequest(origin, { method: 'GET', path: '/who', headers: { authorization: `Bearer ${sent}` } });
    for (let index = 0; index < 20; index += 1) expect((await ask('a-wrong-one-of-this')).status).toBe(401);
    const throttled = await ask('a-wrong-one-of-this');
    expect(throttled.status).toBe(429);
    expect(throttled.headers['retry-after']).toMatch(/^\d+$/);
    // One whose token has expired learns here too how to get another.
    expect(throttled.headers['www-authenticate']).toContain('invalid_token');
    expect((await ask(token)).status).toBe(200);
    expect(logged.join('')).not.toContain('a-wrong-one-of-this');
  });
});
