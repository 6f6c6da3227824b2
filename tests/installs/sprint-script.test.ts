import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { planSprint } from '../../src/services/progress/sprint-plan.ts';
import { writeMemlog } from '../../src/services/progress/writes.ts';
import { contextIn, temporaryFolder } from '../support/app.ts';
import { writeFiles } from '../support/folders.ts';
import { installOf } from '../support/installs.ts';
import { impl, out } from '../support/progress-trees/pieces.ts';

const run = promisify(execFile);
/** A Python with ruamel.yaml, which the script of sprint planning needs; memlog needs none but Python itself. */
const PYTHON = process.env['BMAD_TEST_PYTHON'] ?? 'python3';
const canRun = async (code: string): Promise<boolean> =>
  run(PYTHON, ['-c', code]).then(
    () => true,
    () => false,
  );
const hasYaml = await canRun('import ruamel.yaml');
const hasPython = await canRun('pass');

const NOW = new Date(2026, 7, 1, 14, 30);
const LEDGER = `${impl}/sprint-status.yaml`;
const kept = (name: string): string => join(import.meta.dirname, '../fixtures/sprint-plan', `${name}.txt`);
const NAME = 'My Project: a #1';

const EPICS = `# Project Epics

## Epic 1: Foundation
Some prose.

### Story 1.1: User Authentication
Acceptance criteria...

### Story 1.2: Account Management ##

## Epic 2: Chat
### Story 2.1: Personality System
### Story 2.6a: Split Story, With Punctuation!
### Story 2.7: Été à l’École — 東京
### Story 2.8: !!!
### Story 2.9: A title that is far longer than sixty characters, so that the key of it has to end in the middle of a word
`;
const MORE = `${EPICS.replace('## Epic 2', '### Story 1.3: New One\n\n```md\n## Epic 9: In a fence\n```\n\n## Epic 2')}\n## Epic 3: Later\n### Story 3.1: Last\n`;

interface Case {
  name: string;
  epics: string;
  /** The case whose result the ledger is, and what was changed in it since. */
  after?: { name: string; change: (text: string) => string };
  stories?: readonly string[];
  drop?: true;
}

const CASES: readonly Case[] = [
  { name: 'new', epics: EPICS },
  { name: 'new-with-files', epics: EPICS, stories: ['1-2-account-management', '2-8-e84c538e'] },
  {
    name: 'kept',
    epics: EPICS,
    after: {
      name: 'new',
      change: (text) =>
        text
          .replace('epic-1: backlog', 'epic-1: in-progress')
          .replace('authentication: backlog', 'authentication: done'),
    },
    stories: ['1-1-user-authentication', '1-2-account-management'],
  },
  {
    name: 'longer',
    epics: MORE,
    after: {
      name: 'new',
      change: (text) => text.replace('2-1-personality-system: backlog', '2-1-personality-system: review'),
    },
  },
  {
    name: 'earlier-words',
    epics: EPICS,
    after: {
      name: 'new',
      change: (text) =>
        text
          .replace('epic-1: backlog', 'epic-1: contexted')
          .replace('management: backlog', 'management: drafted'),
    },
  },
  {
    name: 'shorter',
    epics: EPICS.replace('### Story 2.8: !!!\n', ''),
    after: { name: 'new', change: (text) => text.replace('2-8-e84c538e: backlog', '2-8-e84c538e: done') },
    drop: true,
  },
  {
    name: 'action-items',
    epics: MORE,
    after: {
      name: 'new',
      change: (text) =>
        `${text}action_items:\n  - id: "epic-1-retro-item-1-x"\n    epic: 1\n    action: "Add: a check"\n    owner: "Ada"\n    status: open\n    ref: ""\n`,
    },
  },
];

describe('the ledger that sprint_plan writes', () => {
  it.each(CASES)(
    'is that of BMAD’s own script to the byte: $name',
    async ({ name, epics, after, stories = [], drop = false }) => {
      const folder = await temporaryFolder(afterAll);
      const before = after === undefined ? undefined : after.change(await readFile(kept(after.name), 'utf8'));
      const files = {
        '_bmad/bmm/config.yaml': `project_name: "${NAME}"\n`,
        [`${out}/epics.md`]: epics,
        [`${impl}/.keep`]: '',
        ...Object.fromEntries(stories.map((key) => [`${impl}/${key}.md`, 'story'])),
        ...(before === undefined ? {} : { [LEDGER]: before }),
      };
      await writeFiles(folder, files);
      const { catalogue } = await (await contextIn(folder)).workspace();
      const planned = await planSprint(folder, catalogue, {
        apply: true,
        proposal: undefined,
        epics: [],
        drop,
        now: NOW,
      });
      const ours = await readFile(join(folder, LEDGER), 'utf8');
      if (hasYaml) {
        const other = await temporaryFolder(afterAll);
        await writeFiles(other, files);
        const script = join(
          await installOf('6.12.0'),
          '.claude/skills/bmad-sprint-planning/scripts/sprint_plan.py',
        );
        const args = [
          'generate',
          '--epic-file',
          `${out}/epics.md`,
          '--status-file',
          LEDGER,
          '--stories-dir',
          impl,
        ];
        await run(PYTHON, [script, ...args, '--project', NAME, '--date', '08-01-2026 14:30'], { cwd: other });
        const theirs = await readFile(join(other, LEDGER), 'utf8');
        if (!existsSync(kept(name))) {
          await mkdir(dirname(kept(name)), { recursive: true });
          await writeFile(kept(name), theirs);
        }
        expect(await readFile(kept(name), 'utf8')).toBe(theirs);
      }
      expect(ours).toBe(await readFile(kept(name), 'utf8'));
      expect(planned.applied).toBe(true);
    },
  );
});

describe.skipIf(!hasPython)('the log that memlog writes', () => {
  const WORKSPACE = '_bmad-output/planning-artifacts/prds/prd-shop';
  const script = async (): Promise<string> => join(await installOf('6.12.0'), '_bmad/scripts/memlog.py');
  const withoutTime = (text: string): string => text.replace(/^updated: .*$/m, 'updated: now');
  const none = { text: undefined, type: undefined, by: undefined, fields: [] };

  it('is that of BMAD’s own script to the byte', async () => {
    const [ours, theirs] = [await temporaryFolder(afterAll), await temporaryFolder(afterAll)];
    const python = async (...args: string[]): Promise<unknown> =>
      run(PYTHON, [await script(), args[0] ?? '', '--workspace', WORKSPACE, ...args.slice(1)], {
        cwd: theirs,
      });
    const write = (entry: object): Promise<unknown> =>
      writeMemlog(ours, { workspace: WORKSPACE, ...none, now: NOW, ...entry });
    const same = async (): Promise<void> => {
      const [a = '', b = ''] = await Promise.all(
        [ours, theirs].map((folder) => readFile(join(folder, WORKSPACE, '.memlog.md'), 'utf8')),
      );
      expect(withoutTime(a)).toBe(withoutTime(b));
    };
    await python('init', '--field', 'topic=Onboarding: a flow', '--field', ' goal = lift\nretention ');
    await write({
      fields: [
        ['topic', 'Onboarding: a flow'],
        ['goal', 'lift\nretention'],
      ],
    });
    await same();
    await python('append', '--text', '  skip\n\nthe   wall ', '--type', 'idea', '--by', 'user');
    await write({ text: '  skip\n\nthe   wall ', type: 'idea', by: 'user' });
    await same();
    for (const [text, label] of [
      ['plain', {}],
      ['from the coach', { by: 'coach' }],
      ['été — 東京 “x”', { type: 'note' }],
    ] as const) {
      await python(
        'append',
        '--text',
        text,
        ...Object.entries(label).flatMap(([key, value]) => [`--${key}`, value]),
      );
      await write({ text, ...label });
    }
    await python('set', '--key', 'status', '--value', 'complete');
    await write({ fields: [['status', 'complete']] });
    await python('set', '--key', 'topic', '--value', 'another');
    await write({ fields: [['topic', 'another']] });
    await same();
  });

  it('is the same after what people have written into it', async () => {
    const [ours, theirs] = [await temporaryFolder(afterAll), await temporaryFolder(afterAll)];
    const text =
      '---\n topic :  a: b  \nno colon here\ntopic: c\nupdated: 2026-01-01T10:00\nlate: x\n---\n\n\n# By hand\n\n- (idea) one\n\nprose\n\n\n';
    for (const folder of [ours, theirs]) await writeFiles(folder, { [`${WORKSPACE}/.memlog.md`]: text });
    await run(PYTHON, [await script(), 'append', '--workspace', WORKSPACE, '--text', 'two'], { cwd: theirs });
    await writeMemlog(ours, { workspace: WORKSPACE, ...none, text: 'two', now: NOW });
    const [a = '', b = ''] = await Promise.all(
      [ours, theirs].map((folder) => readFile(join(folder, WORKSPACE, '.memlog.md'), 'utf8')),
    );
    expect(withoutTime(a)).toBe(withoutTime(b));
  });
});
