import { describe, expect, it } from 'vitest';
import { conflictReason, conflictsIn, conflictText, tellsConflict } from './diff.ts';

const PLAIN = '# Title\n<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> other\nend\n';
const DIFF3 = 'a\n<<<<<<< HEAD\nours\n||||||| 1f2e3d\nbefore\n=======\ntheirs\n>>>>>>> other\n';

describe('conflictsIn', () => {
  it.each([
    ['no text', ''],
    ['a heading with a line under it', 'Title\n=======\n\ntext\n'],
    ['rows and quotes that begin with such signs', '||||||| a\n>>>>>>> b\n<<<<<<<c\n <<<<<<< HEAD\n'],
  ])('finds none in %s', (_what, text) => {
    expect(conflictsIn(text)).toBeUndefined();
  });

  it('gives both sides, each alone, and where it begins; every line stays at its place', () => {
    const found = conflictsIn(PLAIN);
    expect(found?.lines).toEqual([2]);
    const said = (text = ''): string[] => text.split('\n').filter((line) => line.trim() !== '');
    expect(said(found?.both)).toEqual(['# Title', 'ours', 'theirs', 'end']);
    expect(found?.sides.map(said)).toEqual([
      ['# Title', 'ours', 'end'],
      ['# Title', 'theirs', 'end'],
    ]);
    for (const text of [found?.both, ...(found?.sides ?? [])]) expect(text).toHaveLength(PLAIN.length);
    expect(found?.both.indexOf('theirs')).toBe(PLAIN.indexOf('theirs'));
  });

  it('leaves out what both sides came from, keeps the line ends of Windows, and finds one that has no end', () => {
    expect(conflictsIn(DIFF3)?.both.replace(/ +/g, '')).toBe('a\n\nours\n\n\n\ntheirs\n\n');
    expect(conflictsIn(DIFF3.replaceAll('\n', '\r\n'))?.both.replace(/ +/g, '')).toBe(
      'a\r\n\r\nours\r\n\r\n\r\n\r\ntheirs\r\n\r\n',
    );
    expect(conflictsIn('<<<<<<< HEAD\nours\n=======\ntheirs')).toMatchObject({ lines: [1] });
    expect(conflictsIn('<<<<<<< HEAD\nours\n=======\ntheirs')?.both.replace(/ +/g, '')).toBe(
      '\nours\n\ntheirs',
    );
  });

  it('is told with its lines', () => {
    const many = conflictsIn(PLAIN.repeat(7)) ?? { lines: [] };
    expect(conflictText('x.md', many)).toBe(
      'x.md has unresolved conflict markers of git (lines 2, 9, 16, 23, 30, …)',
    );
    expect(tellsConflict(conflictReason({ lines: [2] }))).toBe(true);
  });
});
