import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../../tests/support/app.ts';
import { SCRIPT_PATH } from '../../../../tests/support/contract-project.ts';
import { writeFiles } from '../../../../tests/support/folders.ts';
import { bmadHere } from '../../../../tests/support/command-line.ts';
import { textOf } from '../screen/paint.ts';
import { lineWidth } from '../screen/text.ts';
import { choice, isDone, type Key, picker, severalPicker } from './picker.ts';

const cwd = await temporaryFolder(afterAll);
const home = await temporaryFolder(afterAll);
const env = { HOME: home, PATH: process.env['PATH'] ?? '', NO_COLOR: '1', BMAD_EMBEDDER: 'none' };
const run = (args: string[], ...typed: string[]) =>
  bmadHere([...args, '--project', cwd], { cwd, env, terminal: true, typed });
const piped = (...args: string[]) => bmadHere([...args, '--project', cwd], { cwd, env });
const dataOf = async (...args: string[]): Promise<Record<string, never[]>> =>
  JSON.parse((await piped(...args, '--json')).stdout.toString('utf8')) as Record<string, never[]>;

beforeAll(async () => {
  await piped('memory', 'remember', 'decisions', 'architect', 'Use PostgreSQL for orders');
  await piped('memory', 'remember', 'decisions', 'dev', 'Deploy on Tuesdays');
});

describe('a command without the name it needs', () => {
  it('offers what there is, and goes on with what was picked', async () => {
    const { code, asked, screen } = await run(['agent'], 'winston');
    expect(code, screen).toBe(0);
    expect(asked).toMatch(/❯ 🏗️ architect Winston {2}System architect/);
    expect(asked).toContain('? Which agent? ');
    expect(asked).not.toContain('code-review');
    expect(screen).toContain('Winston');
  });

  it('asks for the rest as well', async () => {
    const { code, asked, screen } = await run(['delegate'], 'winston', 'Which queue fits a small shop?');
    expect(code, screen).toBe(0);
    expect(asked).toContain('task: ');
    expect(screen).toContain('Which queue fits a small shop?');
  });

  it('says so where there is nothing to choose from', async () => {
    const { code, stderr } = await run(['delivery', 'validate'], 'x');
    expect(code).toBe(3);
    expect(stderr).toContain('There is nothing to choose from.');
  });

  it('is an error with the usage where nobody sits', async () => {
    const { code, stderr } = await piped('start');
    expect(code).toBe(2);
    expect(stderr).toContain('Usage: bmad start');
  });
});

describe('before programs of a project may run', () => {
  it('all of what would run is shown as it is', async () => {
    const project = await temporaryFolder(afterAll);
    const script = `#!/bin/bash\nrm -rf /_x_/*.log \\*a* \`b\`\necho ${'long '.repeat(40)}end\n`;
    await writeFiles(project, { [SCRIPT_PATH]: script });
    const { asked, screen } = await bmadHere(['trust', '--project', project], {
      cwd: project,
      env,
      terminal: true,
      columns: 60,
      typed: ['n'],
    });
    expect(asked).toContain('[y/N]');
    for (const line of script.trim().split('\n')) expect(screen).toContain(`${line}\n`);
    expect(screen).toMatch(/^ {4}#!\/bin\/bash$/m);
    expect(screen).not.toContain('```');
  });
});

describe('before something is removed', () => {
  it('what it is about is shown, and only a yes is one', async () => {
    const refused = await run(['memory', 'forget'], 'postgres', 'n');
    expect(refused.code).toBe(130);
    expect(refused.screen).toContain('Use PostgreSQL for orders');
    expect(refused.asked).toContain('Forget this memory? [y/N]');
    expect(await dataOf('memory', 'count')).toMatchObject({ count: 2 });
    const { code } = await run(['memory', 'forget'], 'postgres', 'y');
    expect(code).toBe(0);
    expect(await dataOf('memory', 'count')).toMatchObject({ count: 1 });
  });

  it('nobody is asked with --yes, and none in a script', async () => {
    expect(await run(['usage', 'clear', '--yes'])).toMatchObject({ code: 0, asked: '' });
    expect((await piped('cache', 'clear')).code).toBe(0);
  });
});

describe('what waits for a person', () => {
  it('is decided one after the other, by exactly what was shown', async () => {
    for (const [key, task] of [
      ['one', 'Delete the *old* tables'],
      ['two', 'Rename the cart'],
    ] as const)
      await piped('task', 'add', 'dev', task, '--output-key', key, '--needs-approval', 'it cannot be undone');
    const first = await run(['task', 'approve', '--by', 'Ada'], 'a');
    // They have left at the second one.
    expect(first.code, first.screen).toBe(130);
    expect(first.stderr).toContain('The rest is unchanged.');
    expect(first.stderr).not.toContain('Nothing was changed');
    expect(first.screen).toContain('Delete the *old* tables');
    expect(first.asked).toContain('[a] Approve exactly this  [r] Refuse  [q] Quit  [s] Skip');
    const { tasks } = (await dataOf('task', 'list')) as unknown as {
      tasks: { status: string; approval?: string }[];
    };
    expect(tasks.map(({ status }) => status)).toEqual(['queued', 'needs_approval']);
    expect(tasks[0]?.approval).toContain('decided by Ada');
    expect((await run(['task', 'approve'], 'q')).code).toBe(0);
    const inbox = await run(['inbox'], 'y', 'r', 'Not now');
    expect(inbox.screen).toContain('Rename the cart');
    expect(await dataOf('inbox')).toMatchObject({ items: [] });
  });
});

describe('a contract that is named', () => {
  it('is shown before it is accepted, by whom it was said', async () => {
    await writeFiles(cwd, {
      'docs/prd.md': '# Shop\n\nIt sells plants.\n',
      '_bmad-output/README.md': 'Output\n',
    });
    const args = ['--signed-by', 'Ada', '--artefacts', 'docs/prd.md', '--json'];
    const made = JSON.parse(
      (await piped('delivery', 'create', 'vision', 'build', ...args)).stdout.toString(),
    ) as {
      contract: { contract_id: string; file: string };
    };
    const { contract_id: id, file } = made.contract;
    const left = await run(['delivery', 'accept', id], 'q');
    expect(left.screen).toContain('`docs/prd.md`');
    expect(await readFile(join(cwd, file), 'utf8')).toContain('status: pending-acceptance');
    const { code, screen } = await run(['delivery', 'accept', id, '--by', 'Bob'], 'a', 'y');
    expect(code, screen).toBe(0);
    expect(await readFile(join(cwd, file), 'utf8')).toMatch(/Bob/);
  });
});

describe('a list to pick from', () => {
  const offers = Array.from({ length: 10_000 }, (_offer, at) => ({
    value: `task-${at}`,
    about: at === 7 ? 'Café à emporter עגלה 注文' : 'Does something',
  }));
  const prompt = picker('Which task?', offers);

  it('finds by words without accents, among ten thousand, and fits any width', () => {
    let state = prompt.start;
    for (const text of 'cafe emporter') {
      const next = prompt.press(state, { text });
      if (!isDone(next)) state = next;
    }
    for (const width of [20, 80, 400]) {
      const { lines } = prompt.draw(state, { width, height: 24 });
      expect(lines).toHaveLength(3);
      for (const each of lines) expect(lineWidth(each), textOf(each)).toBeLessThan(width);
      expect(textOf(lines[0] ?? [])).toContain('cafe emporter');
    }
    expect(prompt.press(state, { name: 'return' })).toEqual({ done: 'task-7' });
  });

  it('moves within its bounds, and shows no more than the screen has', () => {
    let state = prompt.start;
    const press = (name: string): void => {
      const next = prompt.press(state, { name });
      if (!isDone(next)) state = next;
    };
    press('up');
    expect(state.at).toBe(0);
    press('pagedown');
    press('down');
    expect(prompt.draw(state, { width: 80, height: 6 }).lines).toHaveLength(5);
    expect(prompt.press(state, { name: 'return' })).toEqual({ done: 'task-11' });
  });

  it('stays open where nothing is called that', () => {
    const state = { ...prompt.start, typed: 'nowhere' };
    expect(prompt.press(state, { name: 'return' })).toBe(state);
    expect(textOf(prompt.draw(state, { width: 80, height: 24 }).lines.at(-1) ?? [])).toContain(
      'Nothing is called',
    );
  });
});

describe('a list of which several are chosen (N-08)', () => {
  const prompt = severalPicker('Which hosts?', [
    { value: 'a', name: 'Alpha', about: 'here', on: true },
    { value: 'b', name: 'Beta', on: false },
    { value: 'c', name: 'Gamma', on: false },
  ]);
  const after = (...keys: Key[]) => {
    let state = prompt.start;
    for (const key of keys) {
      const next = prompt.press(state, key);
      if (isDone(next)) return next.done;
      state = next;
    }
    return state;
  };

  it('moves with the arrows, changes with the space bar, and takes all that are on', () => {
    const [down, space, enter] = [{ name: 'down' }, { name: 'space', text: ' ' }, { name: 'return' }];
    expect(after(enter)).toEqual(['a']);
    expect(after(down, space, enter)).toEqual(['a', 'b']);
    expect(after(space, down, down, space, enter)).toEqual(['c']);
    // What was found by its letters is changed too, and what is not shown stays chosen.
    expect(after({ text: 'g' }, { text: 'a' }, space, enter)).toEqual(['a', 'c']);
    expect(after(space, enter)).toEqual([]);
  });

  it('shows what is on, in any width', () => {
    for (const width of [20, 80]) {
      const { lines } = prompt.draw(prompt.start, { width, height: 24 });
      expect(textOf(lines[1] ?? [])).toMatch(/^❯ \[✓\] Alpha/);
      expect(textOf(lines[2] ?? [])).toMatch(/^ {2}\[ \] Beta/);
      for (const each of lines) expect(lineWidth(each), textOf(each)).toBeLessThan(width);
    }
  });
});

describe('a few ways to go on', () => {
  it('have a letter each, and Enter changes nothing', () => {
    const ways = choice([
      { label: 'Reject', value: 1 },
      { label: 'Refuse', value: 2 },
      { label: 'Skip', value: 0 },
    ]);
    expect(ways.press('open', { text: 'e' })).toEqual({ done: 2 });
    expect(ways.press('open', { text: 'x' })).toBe('open');
    expect(ways.press('open', { name: 'return' })).toEqual({ done: 0 });
  });
});
