import { describe, expect, it } from 'vitest';
import { spoken as read } from './spoken.ts';

const spoken = (text: string, asked: string | null) => read(Buffer.from(text), asked);

const call = (method: string, params: object = {}): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 'a', method, params });

describe('what was said', () => {
  it.each([
    ['GetTask', null, '1.0'],
    ['tasks/get', null, '0.3'],
    ['tasks/get', '', '0.3'],
    ['GetTask', '1.0', '1.0'],
    ['GetTask', '1.0.2', '1.0'],
    ['GetTask', '0.3', '0.3'],
    ['tasks/get', '0.3.0', '0.3'],
  ])('%s with the version %s is of %s', (method, asked, version) => {
    expect(spoken(call(method), asked)).toMatchObject({ version, method, id: 'a' });
  });

  it.each(['1.1', '10.0', '0.2', '1', 'x'])('is not of the version %s', (asked) => {
    expect(spoken(call('GetTask'), asked)).toMatchObject({ id: 'a', code: -32_009 });
  });

  it('keeps what it does not know, and wants no parameters where none are needed', () => {
    expect(spoken(call('GetTask', { id: 'x', later: { a: 1 } }), '1.0')).toMatchObject({
      body: { params: { id: 'x', later: { a: 1 } } },
    });
    expect(spoken('{"jsonrpc":"2.0","id":1,"method":"GetExtendedAgentCard"}', '1.0')).toMatchObject({
      body: { params: {} },
    });
  });

  it('reads 64 levels and not one more', () => {
    // The call and its parameters are the first two.
    const nested = (levels: number): string =>
      call('GetTask').replace('"params":{}', `"params":{"x":${'['.repeat(levels)}${']'.repeat(levels)}}`);
    expect(spoken(nested(62), '1.0')).toMatchObject({ method: 'GetTask' });
    expect(spoken(nested(63), '1.0')).toMatchObject({ code: -32_600 });
  });

  it('is looked at before it is parsed', () => {
    // No parser gets to the end of this, so it would be answered as no JSON.
    expect(spoken('['.repeat(4_000_000), null)).toMatchObject({
      code: -32_600,
      message: expect.stringContaining('64 levels'),
    });
  });
});
