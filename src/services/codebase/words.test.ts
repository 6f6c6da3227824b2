import { expect, it } from 'vitest';
import { WordList } from './words.ts';

it('numbers each word once, finds it again, and is the same when it is read from its bytes', () => {
  const list = new WordList();
  const words = Array.from(
    { length: 3_000 },
    (_, at) => `${['été', 'parse', 'x', '名前'][at % 4]}${at % 1_700}`,
  );
  const numbers = new Map<string, number>();
  for (const word of words) {
    const number = numbers.get(word) ?? numbers.size;
    expect(list.add(word)).toBe(number);
    numbers.set(word, number);
  }
  const again = new WordList(Buffer.from(list.from(0)));
  again.add('another');
  for (const one of [list, again]) {
    for (const [word, number] of numbers)
      expect([one.at(number), one.numberOf(word)]).toEqual([word, number]);
    expect(one.numberOf('none')).toBeUndefined();
    const having = one.having(['se12', '名前16']);
    for (const [word, number] of numbers) expect(having[number]).toBe(/se12|名前16/.test(word) ? 1 : 0);
  }
  expect(again.from(list.size).toString()).toBe('another\n');
  expect([new WordList().size, new WordList().numberOf('x')]).toEqual([0, undefined]);
});
