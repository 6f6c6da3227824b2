import { describe, expect, it } from 'vitest';
import { inUrl, isLoopback, servedUnder } from './names.ts';

describe('an address of version 6', () => {
  it.each(['::1', '0:0:0:0:0:0:0:1', '0000:0000:0000:0000:0000:0000:0000:0001', '::0001'])(
    'is this machine in all its spellings: %s',
    (host) => {
      expect(isLoopback(host)).toBe(true);
      expect(inUrl(host)).toBe('[::1]');
    },
  );

  it.each(['::', '0:0:0:0:0:0:0:0', '0::0'])('is all addresses in all its spellings: %s', (host) => {
    expect(inUrl(host)).toBe('[::]');
    expect(isLoopback(host)).toBe(false);
    expect(servedUnder('192.0.2.1:80', { host })).toBe(true);
    expect(servedUnder('evil.example', { host })).toBe(false);
  });

  it('is found however the client and the setting write it', () => {
    expect(servedUnder('[2001:DB8::7]:2623', { host: '2001:db8:0:0:0:0:0:7' })).toBe(true);
    expect(servedUnder('[2001:db8::8]', { host: '2001:db8::7' })).toBe(false);
  });
});
