import { describe, expect, it } from 'vitest';
import { CLIENT_INFO_META_KEY } from '@modelcontextprotocol/server';
import { createSeen } from './route.ts';

const from = (name: unknown, version?: unknown) => ({
  method: 'tools/call',
  params: { _meta: { [CLIENT_INFO_META_KEY]: { name, version } } },
});

describe('clients without a session', () => {
  it('are there for a while after they have called, and as long as they listen', () => {
    let now = 1_000_000;
    const seen = createSeen(() => now);
    const listening = new AbortController();
    seen.heard(from('desk', '1.0'));
    seen.heard(from('ear', '2'), listening.signal);
    seen.heard(from(7));
    seen.heard(undefined);
    now += 60_000;
    expect(seen.clients()).toEqual([
      { name: 'desk 1.0', last: 1_000_000 },
      { name: 'ear 2', last: now },
    ]);
    now += 600_000;
    expect(seen.clients()).toEqual([{ name: 'ear 2', last: now }]);
    listening.abort();
    now += 600_000;
    expect(seen.clients()).toEqual([]);
  });

  it('are not more than fit, whatever names are sent', () => {
    const seen = createSeen(() => 0);
    for (let at = 0; at < 300; at += 1) seen.heard(from(`client ${at} ${'x'.repeat(500)}`));
    expect(seen.clients()).toHaveLength(100);
    expect(seen.clients()[0]?.name.length).toBeLessThan(130);
  });
});
