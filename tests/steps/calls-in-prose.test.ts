import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringsOf } from '../../scripts/english/find.ts';
import { OFFERED } from '../../src/operations/offered.ts';
import { repository } from '../support/app.ts';

// What a reader can do next is data, which each surface prints in its own way. A call inside of a sentence is right on one
// surface at most.

const firstWords = new Set(Object.values(OFFERED).flatMap((offer) => offer?.command?.split(' ', 1) ?? []));
const CALL = new RegExp(
  String.raw`\{"?(?:operation|action|command)"?: ?"|["'\u0060 ]bmad (?:${[...firstWords].join('|')})\b`,
);

/** The surfaces print calls, the page among them, and so do what they share and what they say in French. */
const PRINTERS = /^(?:surfaces|library|page|language)\//;

/** Calls that are right in their sentences, each with the reason. */
const EXCEPTIONS: readonly (readonly [file: string, part: string, why: string])[] = [
  ['config/settings.ts', 'bmad sources', 'settings are described to a person who edits a file'],
];

function callsIn(file: string): string[] {
  return stringsOf(readFileSync(join(repository, 'src', file), 'utf8'))
    .map(({ text }) => text)
    .filter((text) => CALL.test(text))
    .filter((text) => !EXCEPTIONS.some(([name, part]) => name === file && text.includes(part)))
    .map((text) => `${file}: ${text.slice(0, 160)}`);
}

describe('the code outside of the surfaces', () => {
  it('has no calls in its sentences', () => {
    const files = readdirSync(join(repository, 'src'), { recursive: true, encoding: 'utf8' })
      .map((file) => file.replaceAll('\\', '/'))
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !PRINTERS.test(file));
    expect(files.length).toBeGreaterThan(300);
    expect(files.flatMap(callsIn)).toEqual([]);
  });

  it.each([
    '{operation:"list", query:"agents"}',
    'bmad {"operation":"read"}',
    'Run "bmad sources update" first.',
    'See bmad doctor.',
  ])('would be found with %s', (text) => {
    expect(CALL.test(text)).toBe(true);
  });

  it.each(['The tool bmad is off.', 'bmad-mcp-server', 'the folder bmad'])('may say %s', (text) => {
    expect(CALL.test(text)).toBe(false);
  });
});
