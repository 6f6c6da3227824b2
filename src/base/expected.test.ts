import { describe, expect, it } from 'vitest';
import { attempt, BmadError, broken, expected, noted, ours, ParseError, unlessMissing } from './errors.ts';

const missing = new BmadError('not_found', 'There is no file.');
const closed = new BmadError('forbidden', 'It is closed.');
const garbled = new ParseError('a.yaml', 3, 'bad indentation');
const fault = new TypeError('x is not a function');

const thrower = (error: Error) => () => {
  throw error;
};

describe('handlers of errors', () => {
  it.each([
    ['ours', ours(() => 'handled'), [missing, closed], [garbled, fault]],
    ['ours of a code', ours(() => 'handled', 'forbidden'), [closed], [missing, garbled, fault]],
    ['broken', broken(() => 'handled'), [garbled], [missing, closed, fault]],
    ['expected', expected(() => 'handled'), [missing, closed, garbled], [fault]],
  ])('%s handle their own and throw the others on', (_, handler, own, others) => {
    for (const error of own) expect(attempt(thrower(error), handler)).toBe('handled');
    for (const error of others) expect(() => attempt(thrower(error), handler)).toThrow(error);
  });

  it('answer nothing for what is missing', async () => {
    await expect(Promise.reject(missing).catch(unlessMissing)).resolves.toBeUndefined();
    await expect(Promise.reject(closed).catch(unlessMissing)).rejects.toBe(closed);
  });

  it('note problems with the line where there is one', () => {
    const problems: { file: string; line?: number; message: string }[] = [];
    expect(attempt(thrower(garbled), noted(problems, 'a.yaml', 1))).toBe(1);
    expect(attempt(thrower(closed), noted(problems, 'b.yaml', 2))).toBe(2);
    expect(attempt(() => 3, noted(problems, 'c.yaml', 4))).toBe(3);
    expect(problems).toEqual([
      { file: 'a.yaml', line: 3, message: 'a.yaml:3: bad indentation' },
      { file: 'b.yaml', message: 'It is closed.' },
    ]);
  });
});
