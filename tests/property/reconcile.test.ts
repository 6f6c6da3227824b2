import fc from 'fast-check';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { reconcile } from '../../src/services/progress/reconcile.ts';
import { isBroken, readSprintLedger, type Row } from '../../src/services/progress/ledgers.ts';
import { rankOf } from '../../src/services/progress/rules.ts';
import { temporaryFolder } from '../support/app.ts';
import { writeFiles } from '../support/folders.ts';
import { TEXT } from '../support/progress-trees/pieces.ts';
import { cases } from '../support/how-much.ts';

const LEDGER = '_bmad-output/implementation-artifacts/sprint-status.yaml';

const WORDS = [
  'backlog',
  'drafted',
  'ready-for-dev',
  'in-progress',
  'review',
  'done',
  'contexted',
  'optional',
  'completed',
  'Done',
  'in_progress',
  'IN PROGRESS',
  'shipped',
  '',
  '7',
  '~',
];
const word = fc.constantFrom(...WORDS);
const quote = fc.constantFrom('', '', '"', "'");
const tail = fc.constantFrom('', '', '  # a note: done', ' # 1-1-a: done');
const key = fc.oneof(
  fc
    .tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 4 }), fc.constantFrom('', 'a'))
    .map(([epic, number, split]) => `${epic}-${number}${split}-story`),
  fc.integer({ min: 1, max: 3 }).map((epic) => `epic-${epic}`),
  fc.integer({ min: 1, max: 3 }).map((epic) => `epic-${epic}-retrospective`),
  fc.constantFrom('notes', 'x-1'),
);
const row = fc
  .tuple(key, word, quote, tail)
  .map(([name, value, mark, rest]) => ({ name, line: `${name}: ${mark}${value}${mark}${rest}` }));
const rows = fc.uniqueArray(row, { selector: ({ name }) => name, minLength: 1, maxLength: 14 });
const extra = fc.array(row, { maxLength: 1 });
const storyFile = fc
  .tuple(key, fc.constantFrom(...WORDS, 'Ready for Review', 'Approved', 'terminé'), fc.boolean())
  .map(([name, value, french]) => ({
    path: `_bmad-output/implementation-artifacts/${name}.md`,
    text: `# Story 1.1: T\n\n${french ? 'Statut :' : 'Status:'} ${value}\n\n## Story\n\n${TEXT}`,
  }));
const retro = fc.integer({ min: 1, max: 3 }).map((epic) => ({
  path: `_bmad-output/implementation-artifacts/epic-${epic}-retro-2026-01-01.md`,
  text: `# R\n\n${TEXT}`,
}));

interface Case {
  ledger: string;
  files: { path: string; text: string }[];
}

const trees: fc.Arbitrary<Case> = fc
  .record({
    rows,
    extra,
    indent: fc.constantFrom('  ', '    ', '\t'.replace('\t', '   ')),
    end: fc.constantFrom('\n', '\r\n'),
    mark: fc.constantFrom('', '\uFEFF'),
    head: fc.constantFrom(
      '',
      '# drafted and contexted\n',
      'last_updated: 05-06-2025 21:30\nproject: "Shop"\n',
    ),
    foot: fc.constantFrom(
      '',
      'action_items:\n  - epic: 1\n    action: "x: y"\n    status: open\n',
      'owner: Ada',
    ),
    files: fc.array(fc.oneof(storyFile, storyFile, retro), { maxLength: 8 }),
  })
  .map(({ rows: main, extra: more, indent, end, mark, head, foot, files }) => {
    const lines = [...main, ...more].map(({ line }) => `${indent}${line}\n`).join('');
    return { ledger: mark + `${head}development_status:\n${lines}${foot}`.replaceAll('\n', end), files };
  });

const rowsOf = (text: string): Row[] => {
  const read = readSprintLedger(LEDGER, text);
  return isBroken(read) ? [] : read.rows;
};

/** Everything but the words that may change: keys, quotation marks, comments, line ends, and lines of other kinds. */
function skeleton(text: string): string {
  return text.replace(
    /^(\uFEFF?\s*[\w-]+:)([^#\r\n]*)/gm,
    (_, name: string, value: string) => `${name}${value.replace(/[^"']/g, '')}`,
  );
}

/** The row that is added has a word of its own, further along than the word in the story's file. */
const ROW_ADDED_BESIDE_ITS_EPIC: Case = {
  ledger: 'development_status:\n  epic-2: backlog\n',
  files: [
    {
      path: '_bmad-output/implementation-artifacts/2-1-story.md',
      text: `# Story 2.1: T\n\nStatus: drafted\n\n## Story\n\n${'The shop sells plants to people who have no time for them. '.repeat(3)}\n`,
    },
  ],
};

describe('reconcile', () => {
  it('changes nothing on a second run, lowers no status, and keeps everything else', async () => {
    let written = 0;
    await fc.assert(
      fc.asyncProperty(trees, async ({ ledger, files }) => {
        const cleanUps: (() => Promise<void>)[] = [];
        const folder = await temporaryFolder((cleanUp) => cleanUps.push(cleanUp));
        try {
          await writeFiles(folder, {
            [LEDGER]: ledger,
            ...Object.fromEntries(files.map(({ path, text }) => [path, text])),
          });
          const options = { apply: true, proposal: undefined, now: new Date(2026, 0, 2, 3, 4) };
          const first = await reconcile(folder, options);
          const after = await readFile(join(folder, LEDGER), 'utf8');
          const added = first.ledgers.flatMap(({ changes }) =>
            changes.filter(({ from }) => from === undefined),
          );
          written += first.ledgers.length;
          for (const [index, before] of rowsOf(ledger).entries()) {
            const found = rowsOf(after).filter(({ key: name }) => name === before.key);
            const same = rowsOf(ledger)
              .slice(0, index)
              .filter(({ key: name }) => name === before.key).length;
            const now = found[same];
            expect(now).toBeDefined();
            const [was, is] = [rankOf(before.kind, before.word), rankOf(before.kind, now?.word ?? '')];
            if (was !== undefined) expect(is).toBeGreaterThanOrEqual(was);
          }
          const kept = after
            .split(/(?<=\n)/)
            .filter((line) => !added.some(({ key: name, to }) => line.trim() === `${name}: ${to}`))
            .join('');
          if (first.ledgers.length === 0) expect(after).toBe(ledger);
          else if (!ledger.endsWith('\n') && added.length > 0)
            expect(skeleton(kept).trimEnd()).toBe(skeleton(ledger).trimEnd());
          else expect(skeleton(kept)).toBe(skeleton(ledger));
          const second = await reconcile(folder, options);
          expect(second.ledgers).toEqual([]);
          expect(await readFile(join(folder, LEDGER), 'utf8')).toBe(after);
        } finally {
          await Promise.all(cleanUps.map((cleanUp) => cleanUp()));
        }
      }),
      { numRuns: cases(60), examples: [[ROW_ADDED_BESIDE_ITS_EPIC]] },
    );
    // A property that never saw a change would prove nothing.
    expect(written).toBeGreaterThan(cases(15));
  });
});
