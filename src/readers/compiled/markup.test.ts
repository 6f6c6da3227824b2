import { describe, expect, it } from 'vitest';
import { growth } from '../../../tests/support/work.ts';
import { firstTag } from '../reader.ts';

const attributes = (text: string): Record<string, string> | undefined => {
  const tag = firstTag(text, 'agent');
  return tag === undefined ? undefined : Object.fromEntries(tag);
};

describe('the tag of an agent', () => {
  it('is found in a text, with attributes in any quotes and on any line', () => {
    expect(attributes('x\n```xml\n<agent\n  id = "a.md" name=\'Jo\'\n icon="📋" hidden>\n<b c="d">')).toEqual(
      {
        id: 'a.md',
        name: 'Jo',
        icon: '📋',
      },
    );
  });

  it('is not a longer word, nor one that is only mentioned', () => {
    expect(attributes('<agents name="x"> <agent-config name="y">')).toBeUndefined();
    expect(attributes('about <agent> … <agent name="Z">')).toEqual({ name: 'Z' });
    expect(attributes('only <agent>')).toEqual({});
  });

  it('keeps quotation marks inside values, and ends when nothing else does', () => {
    expect(attributes('<agent title="Says "hi" to all" name="A > B">')).toEqual({
      title: 'Says "hi" to all',
      name: 'A > B',
    });
    expect(attributes('<agent name="open')).toEqual({ name: 'open' });
    expect(attributes('<agent junk" "" = name="x" <b c="d">')).toEqual({ name: 'x' });
  });

  it('is looked for in linear time', () => {
    const hostile = [
      '<agent a="',
      '<agent  ',
      '<agent',
      '<agent "',
      `<agent ${' '.repeat(9_000)}`,
      '<agent a=',
    ];
    for (const text of hostile)
      expect(
        growth((size) => firstTag(text.repeat(size / text.length), 'agent'), 100_000),
        text.slice(0, 10),
      ).toBeLessThan(40);
  });
});
