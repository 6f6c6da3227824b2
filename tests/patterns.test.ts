import { describe, expect, it } from 'vitest';
import { builtIn, complaint, patternsIn } from '../scripts/patterns/find.ts';
import { some } from './support/how-much.ts';

function complaints(...patterns: RegExp[]): (string | undefined)[] {
  return patterns.map(({ source, flags }) => complaint({ file: 'a.ts', line: 1, source, flags }));
}

describe('the check of regular expressions', () => {
  const SLOW = [
    [/^(#{1,6})(?:\s+(.*))?$/],
    [/\s+$/],
    [/^-+|-+$/g],
    [/\{\{[^}]*\}\}/],
    [/^(.*?)\s*(?:→|->)\s*(.*)$/],
    [/^\|\s*\**([^|*]+?)\**\s*\|\s*`?([^|`]*?)`?\s*\|/],
    [/^\s*(?:[-*]\s+)?(?:\[([ xX])\]\s*)?\[\s*([^\]→]*?)\s*(?:→|->)\s*([^\]]*?)\s*\]\s*(\S.*?)\s*$/],
    [/\beyJ[\w-]{8,2000}\.[\w-]{8,4000}\.[\w-]{5,2000}/g],
    [/(?<!\\)\s+$/],
    [/^(?:a+)+$/],
    [/checklist.*\.md$/i],
    [/CC (PASS|FAIL) — \[([^\]]*)\] —/],
  ];
  it.each(some(5, SLOW))('finds a text that %s takes long for', (pattern) => {
    expect(complaints(pattern)[0]).toMatch(/^a\.ts:1 {2}\/.*\n.* × n .* ms for \d+ characters\n$/);
  });

  it('has nothing to say about those that look at each character once', () => {
    const linear = [
      /^(#{1,6})(?:\s|$)/,
      /\s+/g,
      /\{\{[^{}]*\}\}/,
      /^[ \t]*[-*][ \t]+\*\*Stack\*\*[ \t]*:(.*)/im,
      /\bhf_[A-Za-z0-9]{20,255}/g,
      /[\w-]+(\.py\b)?/g,
      /(["'])((?:(?!\1)[^\n]){1,500})\1/y,
      /\p{Lu}[\p{L}\p{N}]*/gu,
    ];
    expect(complaints(...linear)).toEqual(linear.map(() => undefined));
  });

  it('reads the expressions of a file, and sees where one is put together', () => {
    const code = [
      '#!/usr/bin/env node',
      'const half = width / 2 / 3; // not /this/',
      "const text = '/nor/this/' + `${a.replace(/[/]x+$/gm, '')}/`;",
      'export const made = new RegExp(`^${text}$`);',
    ].join('\n');
    expect(patternsIn('a.ts', code)).toEqual([{ file: 'a.ts', line: 3, source: '[/]x+$', flags: 'gm' }]);
    expect(builtIn(code)).toEqual([4]);
  });
});
