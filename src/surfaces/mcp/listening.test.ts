import { describe, expect, it } from 'vitest';
import { inTurn } from './listening.ts';

describe('messages in turn', () => {
  it('are passed on at once where nothing has to be awaited', () => {
    const delivered: string[] = [];
    const pass = inTurn<string>(
      () => undefined,
      (message) => delivered.push(message),
    );
    pass('a');
    pass('b');
    expect(delivered).toEqual(['a', 'b']);
  });

  it('keep their order behind one that waits, also when what it waits for fails', async () => {
    const delivered: string[] = [];
    let open: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const waits = new Map<string, () => Promise<void>>([
      ['b', () => opened],
      ['d', () => Promise.reject(new Error('it fails'))],
    ]);
    let pass: (message: string) => void = () => undefined;
    const all = new Promise<void>((resolve) => {
      pass = inTurn<string>(
        (message) => waits.get(message)?.(),
        (message) => {
          delivered.push(message);
          if (message === 'e') resolve();
        },
      );
    });
    for (const message of ['a', 'b', 'c', 'd', 'e']) pass(message);
    expect(delivered).toEqual(['a']);
    open();
    await all;
    expect(delivered.join('')).toBe('abcde');
    pass('f');
    expect(delivered.join('')).toBe('abcdef');
  });
});
