import { ParseError } from '../errors.ts';
import { describe, expect, it } from 'vitest';
import { yamlPairs } from './yaml-document.ts';

const TEXT =
  '\uFEFF# head\r\na: 1\r\nd:\r\n  x-1: "done" # c\r\n  y:   # none\r\n  z: &q plain words\r\n  y: \'it\'\r\n  l:\r\n    - id: a\r\n      status: b\r\n    - c\r\n  t: |\r\n    two\r\n    lines\r\n';

describe('yamlPairs', () => {
  it('knows the line of each key and the place of each value, also of keys that come twice', () => {
    const [, d] = yamlPairs('f.yaml', TEXT) ?? [];
    const found = (d?.pairs ?? []).map(({ key, line, value, place }) => [
      key,
      line,
      value,
      place === undefined ? undefined : TEXT.slice(place.start, place.end),
    ]);
    expect(found).toEqual([
      ['x-1', 4, 'done', '"done"'],
      ['y', 5, null, ''],
      ['z', 6, 'plain words', undefined],
      ['y', 7, 'it', "'it'"],
      ['l', 8, undefined, undefined],
      ['t', 12, 'two\nlines\n', undefined],
    ]);
  });

  it('says where a value can be put that is not there', () => {
    const [, d] = yamlPairs('f.yaml', TEXT) ?? [];
    const { place } = d?.pairs[1] ?? {};
    expect(place).toMatchObject({ quote: '', gap: ' ' });
    expect(TEXT.slice(0, place?.start).endsWith('y:')).toBe(true);
  });

  it('looks into lists', () => {
    const list = yamlPairs('f.yaml', TEXT)?.[1]?.pairs.find(({ key }) => key === 'l');
    expect(
      list?.items.map((item) => item.map(({ key, line, value }) => `${key} ${line} ${String(value)}`)),
    ).toEqual([['id 9 a', 'status 10 b']]);
    expect(list?.list).toEqual(['c']);
  });

  it('is nothing for a text that is no mapping, and an error with its line for one that is broken', () => {
    expect(yamlPairs('f.yaml', '- a\n')).toBeUndefined();
    expect(yamlPairs('f.yaml', '')).toBeUndefined();
    const broken = (): unknown => yamlPairs('f.yaml', 'a: 1\nb: [1\nc: 2\n');
    expect(broken).toThrow(ParseError);
    expect(broken).toThrow(/^f\.yaml:3: /);
  });
});
