import { mkdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { execute } from '../../src/operations/execute.ts';
import type { Changes, Context } from '../../src/operations/context.ts';
import { namedOperation } from '../../src/operations/offers.ts';
import { contextIn, temporaryFolder, testCall, withWatch } from '../support/app.ts';
import { copyFolder, writeFiles } from '../support/folders.ts';
import { installOf } from '../support/installs.ts';
import { isDeep, rounds } from '../support/how-much.ts';

/** What clients see: every list, and what the edits below are about. */
const ASKED: readonly (readonly [operation: string, input: Record<string, unknown>])[] = [
  ['list', { what: 'agents', limit: 200 }],
  ['list', { what: 'workflows', limit: 200 }],
  ['list_prompts', {}],
  ['list_resources', {}],
  ['list_agent_tools', {}],
  ['search', { query: 'lighthouse keeper' }],
  ['search', { query: 'architecture' }],
  ['read', { target: 'architect' }],
  ['read', { target: 'keeper' }],
  ['execute', { name: 'architect' }],
  ['execute', { name: 'keeper' }],
  ['execute', { name: 'warden' }],
  ['get_skill', { uri: 'skill://bmm/bmad-agent-architect/SKILL.md' }],
  ['read', { target: 'bmad://config/current' }],
];

async function ask(context: Context, name: string, input: Record<string, unknown>): Promise<string> {
  const outcome = await execute(await namedOperation(name), input, context, testCall());
  return outcome.ok
    ? JSON.stringify([outcome.data, outcome.answer.body])
    : `${outcome.error.code} ${outcome.error.message} ${outcome.error.suggestions.join(' ')}`;
}

async function answers(context: Context): Promise<Record<string, string>> {
  const all: Record<string, string> = {};
  for (const [name, input] of ASKED)
    all[`${name} ${JSON.stringify(input)}`] = await ask(context, name, input);
  return all;
}

const SKILLS = '.claude/skills';
const ARCHITECT = `${SKILLS}/bmad-agent-architect`;
const keeper = (mark: string): string =>
  `---\nname: bmad-agent-keeper\ndescription: Lighthouse keeper. ${mark}\n---\n\n# Keeper\n\n${mark}\n`;

interface Edit {
  what: string;
  /** Part of the question whose answer has to be another one. */
  seen: string;
  make(folder: string): Promise<void>;
}

async function edited(path: string, from: string | RegExp, to: string): Promise<void> {
  const text = await readFile(path, 'utf8');
  expect(text.search(from), `${path} has no ${String(from)}`).not.toBe(-1);
  await writeFile(path, text.replace(from, to));
}

const EDITS: readonly Edit[] = [
  {
    what: 'the body of an agent',
    seen: 'read {"target":"architect"}',
    make: (folder) => edited(join(folder, ARCHITECT, 'SKILL.md'), '## Overview', '## A glance'),
  },
  {
    what: 'a description',
    seen: 'list {"what":"agents"',
    make: (folder) =>
      edited(join(folder, ARCHITECT, 'SKILL.md'), 'System architect and', 'Draws lighthouses and'),
  },
  {
    what: 'a title in config.toml',
    seen: 'list {"what":"agents"',
    make: (folder) => edited(join(folder, '_bmad/config.toml'), '"System Architect"', '"Master Builder"'),
  },
  {
    what: 'an override of name and menu',
    seen: 'execute {"name":"architect"}',
    make: (folder) =>
      writeFiles(folder, {
        '_bmad/custom/bmad-agent-architect.toml':
          '[agent]\nicon = "🗼"\n\n[[agent.menu]]\ncode = "LH"\ndescription = "Light the lamp"\nprompt = "Light it"\n',
      }),
  },
  {
    what: 'the menu in it',
    seen: 'list_agent_tools',
    make: (folder) =>
      edited(join(folder, '_bmad/custom/bmad-agent-architect.toml'), 'Light the lamp', 'Trim the wick'),
  },
  {
    what: 'a value in config.yaml of a module',
    seen: 'read {"target":"bmad://config/current"}',
    make: (folder) =>
      edited(join(folder, '_bmad/config.user.toml'), /^user_name = .*$/m, 'user_name = "Ada"'),
  },
  {
    what: 'what the project says of its user',
    seen: 'read {"target":"bmad://config/current"}',
    make: (folder) => writeFiles(folder, { 'project-context.yaml': 'user:\n  name: Grace\n' }),
  },
  {
    what: 'the same again, which an agent is told',
    seen: 'execute {"name":"architect"}',
    make: (folder) => edited(join(folder, 'project-context.yaml'), 'Grace', 'Barbara'),
  },
  {
    what: 'an agent that comes',
    seen: 'execute {"name":"keeper"}',
    make: (folder) =>
      writeFiles(folder, {
        [`${SKILLS}/bmad-agent-keeper/SKILL.md`]: keeper('one'),
        [`${SKILLS}/bmad-agent-keeper/customize.toml`]: '[agent]\nname = "Ida"\ntitle = "Keeper"\n',
      }),
  },
  {
    what: 'an agent that is saved as editors do, beside it and moved',
    seen: 'search {"query":"lighthouse keeper"}',
    async make(folder) {
      const file = join(folder, SKILLS, 'bmad-agent-keeper/SKILL.md');
      await writeFile(`${file}~`, keeper('Trims lamps'));
      await rename(`${file}~`, file);
    },
  },
  {
    what: 'an agent that gets another name',
    seen: 'execute {"name":"warden"}',
    async make(folder) {
      const place = join(folder, SKILLS);
      await rename(join(place, 'bmad-agent-keeper'), join(place, 'bmad-agent-warden'));
      await edited(join(place, 'bmad-agent-warden/SKILL.md'), 'bmad-agent-keeper', 'bmad-agent-warden');
    },
  },
  {
    what: 'an agent that goes',
    seen: 'execute {"name":"warden"}',
    make: (folder) => rm(join(folder, SKILLS, 'bmad-agent-warden'), { recursive: true }),
  },
  {
    what: 'an agent that goes and gives way to the built-in one (R-06)',
    seen: 'read {"target":"architect"}',
    make: (folder) => rm(join(folder, ARCHITECT), { recursive: true }),
  },
  {
    what: 'the folder of BMAD that goes',
    seen: 'list {"what":"workflows"',
    async make(folder) {
      await rename(join(folder, '_bmad'), join(folder, 'aside'));
      await rename(join(folder, SKILLS), join(folder, '.claude/aside'));
      await mkdir(join(folder, '.git'));
    },
  },
  {
    what: 'and comes again',
    seen: 'list {"what":"workflows"',
    async make(folder) {
      await rename(join(folder, 'aside'), join(folder, '_bmad'));
      await rename(join(folder, '.claude/aside'), join(folder, SKILLS));
    },
  },
];

/** More for a long trial: `BMAD_TEST_ROUNDS=100 npx vitest run tests/installs/live-content.test.ts`. */
const ROUNDS = Array.from({ length: Number(process.env['BMAD_TEST_ROUNDS'] ?? 1) }, (_, round) => round + 1);

describe('a running server', () => {
  it.each(ROUNDS)(
    'answers the next call as one that has just been started would, whatever was edited',
    async () => {
      const folder = await temporaryFolder(afterAll);
      copyFolder(await installOf('6.12.0'), folder);
      const outside = { flags: { toolsets: 'bmad,agents' } };
      const running = await contextIn(folder, outside);
      const watching = await withWatch(await contextIn(folder, outside), onTestFinished);
      const heard: Changes[] = [];
      running.onChange((changes) => heard.push(changes));
      let before = await answers(running);
      for (const [at, { what, seen, make }] of EDITS.entries()) {
        await make(folder);
        const told = await answers(watching);
        const now = await answers(running);
        // What stays behind after an edit still does after the next ones: a start after every third finds it.
        if (isDeep || at % 3 === 2)
          expect(now, what).toEqual(await answers(await contextIn(folder, outside)));
        expect(told, `${what}, with a watch`).toEqual(now);
        const question = Object.keys(now).find((key) => key.startsWith(seen)) ?? '';
        expect(now[question], `${what} is seen by ${seen}`).not.toBe(before[question]);
        expect(heard.splice(0).length, `${what} is told`).toBeGreaterThan(0);
        before = now;
      }
    },
  );

  it('notices an edit that leaves the size and the time of the file as they were', async () => {
    const folder = await temporaryFolder(afterAll);
    const path = join(folder, '_bmad/bmm/agents/pm.md');
    const agent = (mark: string): string =>
      `---\nname: pm\ndescription: ${mark}\n---\n<agent name="P" title="T">\n`;
    await writeFiles(folder, {
      '_bmad/_config/manifest.yaml': 'installation:\n  version: 6.0.4\nmodules:\n  - bmm\n',
      '_bmad/bmm/agents/pm.md': agent('Round 00'),
    });
    const local = { flags: { discovery: 'local' } };
    const servers = [
      await contextIn(folder, local),
      await withWatch(await contextIn(folder, local), onTestFinished),
    ];
    for (let round = 1; round <= rounds(10, 40); round += 1) {
      const mark = `Round ${String(round).padStart(2, '0')}`;
      const { atime, mtime } = statSync(path);
      // In the same tick of the clock, again and again.
      writeFileSync(path, agent(mark));
      if (round % 2 === 0) await utimes(path, atime, mtime);
      for (const context of servers) {
        const { catalogue } = await context.workspace();
        expect(catalogue.winners.find(({ name }) => name === 'pm')?.description).toBe(mark);
      }
    }
  });

  it('tells nobody and reads nothing again where nothing has changed', async () => {
    const folder = await temporaryFolder(afterAll);
    copyFolder(await installOf('6.12.0'), folder);
    const context = await withWatch(await contextIn(folder), onTestFinished);
    const heard: Changes[] = [];
    context.onChange((changes) => heard.push(changes));
    await answers(context);
    // What was made just now is read once more.
    await expect.poll(async () => (await context.workspace()) === (await context.workspace())).toBe(true);
    heard.length = 0;
    const workspace = await context.workspace();
    await answers(context);
    expect(await context.workspace()).toBe(workspace);
    expect(heard).toEqual([]);
  });
});
