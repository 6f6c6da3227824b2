import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LAST_STEP } from '../../src/services/progress/document.ts';
import { QUOTES } from '../support/rule-quotes.ts';
import { RULES } from '../../src/services/progress/workers.ts';
import { repository } from '../support/app.ts';
import { installOf, type Version } from '../support/installs.ts';

const rules = Object.entries(RULES).map(([id, { when }]) => ({
  id,
  when,
  quotes: QUOTES[id as keyof typeof RULES],
}));

describe("BMAD's own rules", () => {
  it('are each a line of BMAD, in the install that is named (M-50)', async () => {
    const wrong: string[] = [];
    for (const { id, quotes } of rules)
      for (const { version, file, line, says } of quotes) {
        const path = join(await installOf(version as Version), file);
        const there = (await readFile(path, 'utf8')).split(/\r?\n/)[line - 1] ?? '';
        if (!there.includes(says)) wrong.push(`${id}: ${version} ${file}:${line} says ${there.trim()}`);
      }
    expect(wrong).toEqual([]);
  });

  it('are in the reference, with every line that states them', async () => {
    const page = await readFile(join(repository, 'docs/reference/next-rules.md'), 'utf8');
    const rows = page.split('\n').filter((line) => line.startsWith('|'));
    const missing = rules.flatMap(({ id, when, quotes }) => {
      const row = rows.find((line) => line.startsWith(`| ${when} |`)) ?? '';
      const places = quotes.map(({ version, file, line }) => `${version} \`${shortened(file)}:${line}\``);
      return places.filter((place) => !row.includes(place)).map((place) => `${id}: ${place}`);
    });
    expect(missing).toEqual([]);
  });
});

/** The workflows whose documents keep `stepsCompleted`, by what they make. */
const MAKERS = {
  brief: ['create-product-brief'],
  prd: ['create-prd', 'prd'],
  ux: ['create-ux-design'],
  architecture: ['create-architecture'],
  spec: ['create-tech-spec', 'quick-spec'],
  epics: ['create-epics-and-stories'],
};

const STEPPED: Version[] = ['6.0.0-alpha.22', '6.0.0-Beta.5', '6.0.4', '6.2.0', '6.5.0', '6.8.0', '6.12.0'];
/** A line that has the document marked, as all versions write it. */
const MARKS =
  /stepsCompleted: ?\[|(?:add|adding|append|update)\b.{0,60}(?:stepsCompleted|frontmatter)|frontmatter.{0,20}stepsCompleted/i;

describe('the step that completes a document', () => {
  it('is the last that marks itself in the step files of every version; for epics the last of all', async () => {
    const found = new Map<string, Set<number>>();
    for (const version of STEPPED) {
      const folder = await installOf(version);
      const files = (await readdir(folder, { recursive: true })).filter((path) =>
        /(?:^|[\\/])steps(?:-c)?[\\/]step-\d+-[\w-]+\.md$/.test(path),
      );
      for (const [kind, names] of Object.entries(MAKERS)) {
        const own = files.filter((path) =>
          names.includes(basename(dirname(dirname(path))).replace(/^bmad-/, '')),
        );
        const marked: number[] = [];
        for (const path of own) {
          const number = Number(/step-(\d+)-/.exec(path)?.[1]);
          const marks = MARKS.test(await readFile(join(folder, path), 'utf8'));
          if (marks || kind === 'epics') marked.push(number);
        }
        if (own.length > 0) found.set(kind, (found.get(kind) ?? new Set()).add(Math.max(...marked)));
      }
    }
    const steps = Object.fromEntries([...found].map(([kind, last]) => [kind, [...last]]));
    const wanted = Object.keys(MAKERS).map((kind) => [kind, [LAST_STEP[kind as keyof typeof MAKERS]]]);
    expect(steps).toEqual(Object.fromEntries(wanted));
  });
});

/** The last two parts of a path, which are enough to find it. */
function shortened(file: string): string {
  return file.split('/').slice(-2).join('/');
}
