import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringsOf } from '../scripts/english/find.ts';
import { HOLE } from '../scripts/english/tokens.ts';
import { repository } from './support/app.ts';

/** Guides with tables of messages: the first cell of a row quotes what the program prints. */
const GUIDES = ['troubleshooting.md', 'runs.md'];

/** `"…"` and `…` stand for what differs; a number is one of many. */
const VARIABLE = /"?…"?|\d+/;

function messagesIn(page: string): string[] {
  const tables = page.split(/\n\n+/).filter((part) => /^\| (?:message|symptom) \|/.test(part));
  const cells = tables.flatMap((table) => table.split('\n').slice(2)).map((row) => row.split(' | ')[0] ?? '');
  return cells.flatMap((cell) =>
    [...cell.matchAll(/`([^`]*[a-z] [a-z][^`]*)`/g)].map(([, text = '']) => text),
  );
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

/** Whether the program has the fixed parts of a message, or a template that makes the whole of it. */
function isPrinted(message: string, strings: readonly string[]): boolean {
  const parts = message.split(VARIABLE).filter((part) => part.trim().length > 6);
  if (parts.every((part) => strings.some((text) => text.includes(part.trim())))) return parts.length > 0;
  return strings.some((text) => {
    const fixed = text.split(new RegExp(`${HOLE}+`)).filter((part) => part.trim() !== '');
    const enough = fixed.join('').length > message.length / 3;
    return enough && fixed.length > 1 && new RegExp(fixed.map(escaped).join('.{1,60}')).test(message);
  });
}

const files = (await readdir(join(repository, 'src'), { recursive: true })).filter(
  (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
);
const sources = await Promise.all(files.map((file) => readFile(join(repository, 'src', file), 'utf8')));
const strings = sources.flatMap((source) => stringsOf(source).map(({ text }) => text));

describe.each(GUIDES)('%s', (guide) => {
  it('quotes messages that the program prints', async () => {
    const messages = messagesIn(await readFile(join(repository, 'docs/guide', guide), 'utf8'));
    expect(messages.length).toBeGreaterThan(3);
    expect(messages.filter((message) => !isPrinted(message, strings))).toEqual([]);
  });
});

describe('a message', () => {
  const program = ['The token is not valid.', `There is no ${HOLE} ${HOLE}.`, `${HOLE} is ${HOLE} already.`];

  it.each(['The token is not valid.', 'There is no agent or workflow "…".', '… is accepted already.'])(
    '%s is printed',
    (message) => {
      expect(isPrinted(message, program)).toBe(true);
    },
  );

  it.each(['The token is wrong.', 'No agent or workflow "…".', '… was accepted before.'])(
    '%s is not',
    (message) => {
      expect(isPrinted(message, program)).toBe(false);
    },
  );
});
