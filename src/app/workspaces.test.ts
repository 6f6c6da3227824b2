import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { isSettled } from '../base/files/file-stamps.ts';
import { Keeper } from '../base/files/keeper.ts';
import { Catalogue } from '../catalogue/catalogue.ts';
import { contextIn, homeBeside, temporaryFolder, withWatch } from '../../tests/support/app.ts';
import { writeFiles } from '../../tests/support/folders.ts';
import { fileLooks } from '../../tests/support/looked-at.ts';
import type { Changes, Workspace } from '../operations/context.ts';
import type { Project } from '../sources/project-root.ts';
import type { Opened } from './workspaces.ts';
import { createWorkspaces } from './workspaces.ts';

const agent = (mark: string): string =>
  `---\nname: "architect"\ndescription: "${mark}"\n---\n<agent id="a" name="W" title="Architect" icon="x">\n${mark}\n</agent>\n`;
const workflow = (mark: string): string => `---\nname: ship\ndescription: Ships\n---\n${mark}\n`;

const PROJECT = {
  'bmad/_cfg/manifest.yaml': 'installation:\n  version: 6.0.0-alpha.7\nmodules:\n  - bmm\n',
  'bmad/bmm/agents/architect.md': agent('one'),
  'bmad/bmm/workflows/ship/workflow.md': workflow('one'),
};

async function world(files: Record<string, string> = PROJECT) {
  const folder = await temporaryFolder(afterAll);
  await writeFiles(folder, files);
  const context = await contextIn(folder, { flags: { discovery: 'local' } });
  return { folder, context };
}

const named = ({ added, changed, removed }: Changes): string[][] =>
  [added, changed, removed].map((records) => records.map(({ kind, name }) => `${kind} ${name}`));

describe('refresh', () => {
  it('replaces the workspace whole and says what is different', async () => {
    const { folder, context } = await world();
    const before = await context.workspace();
    await writeFiles(folder, {
      'bmad/bmm/agents/architect.md': agent('two'),
      'bmad/bmm/agents/pm.md': agent('new').replaceAll('architect', 'pm'),
    });
    await rm(join(folder, 'bmad/bmm/workflows'), { recursive: true });
    const changes = await context.refresh();
    expect(named(changes)).toEqual([['agent pm'], ['agent architect'], ['workflow ship']]);
    expect(changes).toMatchObject({ known: true, current: true, lists: ['agent', 'workflow'] });
    const after = await context.workspace();
    expect(after).not.toBe(before);
    expect(before.catalogue.winners.map(({ name }) => name)).toContain('ship');
    expect(after.catalogue.winners.map(({ name }) => name)).not.toContain('ship');
  });

  it('tells a change of the text from a change of the list', async () => {
    const { folder, context } = await world();
    await context.workspace();
    await writeFiles(folder, { 'bmad/bmm/workflows/ship/workflow.md': workflow('two') });
    expect(await context.refresh()).toMatchObject({ changed: [{ name: 'ship' }], lists: [] });
    expect(await context.refresh()).toMatchObject({ known: true, changed: [], lists: [], files: false });
  });

  it('knows whether a list of files that was shown is out of date', async () => {
    const { folder, context } = await world();
    await context.workspace();
    await writeFiles(folder, { 'bmad/bmm/data/notes.md': '# Notes\n' });
    expect(await context.refresh(), 'nobody has seen one').toMatchObject({ files: false });
    await (await context.workspace()).delivery.paths();
    await writeFiles(folder, { 'bmad/bmm/data/more.md': '# More\n' });
    expect(await context.refresh()).toMatchObject({ files: true });
    expect(await context.refresh()).toMatchObject({ files: false });
  });

  it('compares with nothing the first time, and tells nobody', async () => {
    const { context } = await world();
    const heard: Changes[] = [];
    context.onChange((changes) => heard.push(changes));
    expect(await context.refresh()).toMatchObject({ known: false, added: [], lists: [] });
    expect(heard).toEqual([]);
  });

  it('follows the project when a BMAD folder appears above', async () => {
    const folder = await temporaryFolder(afterAll);
    await writeFiles(folder, { 'app/': '' });
    const context = await contextIn(join(folder, 'app'), {
      flags: { discovery: 'local' },
      home: homeBeside(folder),
    });
    expect((await context.workspace()).project.root).toBe(join(folder, 'app'));
    await writeFiles(folder, PROJECT);
    const changes = await context.refresh();
    expect(changes.project.root).toBe(folder);
    expect(changes.added.map(({ name }) => name)).toEqual(['architect', 'ship']);
    expect((await context.workspace()).project.root).toBe(folder);
  });

  it('keeps the old one when the new one cannot be read', async () => {
    const folder = await temporaryFolder(afterAll);
    await writeFiles(join(folder, 'project'), PROJECT);
    const context = await contextIn(folder, {
      flags: { discovery: 'local', project: join(folder, 'project') },
    });
    const before = await context.workspace();
    await rm(join(folder, 'project'), { recursive: true });
    await expect(context.refresh()).rejects.toThrow(/project/);
    expect(await context.workspace()).toBe(before);
  });

  it('shares a refresh that has not begun', async () => {
    const { context } = await world();
    await context.workspace();
    const [first, second] = await Promise.all([context.refresh(), context.refresh()]);
    expect(first).toBe(second);
    expect(await context.refresh()).not.toBe(first);
  });
});

describe('what a project remembers', () => {
  it.each(['with a watch', 'without one'])(
    'is not content: to write it reads nothing again, %s (F-03)',
    async (how) => {
      const folder = await temporaryFolder(afterAll);
      await writeFiles(folder, {
        '_bmad/_config/manifest.yaml': 'installation:\n  version: 6.0.4\nmodules:\n  - bmm\n',
        '_bmad/bmm/agents/architect.md': agent('one'),
        '_bmad/_memory/memories.json': '[]',
      });
      const context = await contextIn(folder, { flags: { discovery: 'local' } });
      if (how === 'with a watch') await withWatch(context, onTestFinished);
      await expect.poll(async () => (await context.workspace()) === (await context.workspace())).toBe(true);
      const before = await context.workspace();
      await before.delivery.paths();
      for (const name of ['memories.json', 'more.md', '.bmad-memory/lines/a.jsonl']) {
        await writeFiles(folder, { [`_bmad/_memory/${name}.draft`]: name });
        await rename(join(folder, `_bmad/_memory/${name}.draft`), join(folder, '_bmad/_memory', name));
        expect(await context.workspace(), name).toBe(before);
      }
    },
  );
});

describe('a call that comes while the content is read', () => {
  async function readings(edit: (folder: string) => Promise<unknown>) {
    const folder = await temporaryFolder(onTestFinished);
    await writeFiles(folder, { early: 'one', late: 'one' });
    // What was written in the last moment counts as changed, whatever it says.
    await expect.poll(async () => isSettled(statSync(join(folder, 'late')).ctimeMs)).toBe(true);
    const catalogue = new Catalogue({
      records: [],
      modules: [],
      problems: [],
      sources: [],
      files: new Map(),
    });
    const texts: string[] = [];
    let begun = (): void => undefined;
    const beginning = new Promise<void>((resolve) => (begun = resolve));
    let goOn = (): void => undefined;
    const gate = new Promise<void>((resolve) => (goOn = resolve));
    const read = (places: Keeper, name: string): string => {
      places.look(join(folder, name));
      return readFileSync(join(folder, name), 'utf8');
    };
    const workspaces = createWorkspaces({
      find: async () => ({ root: folder }) as Project,
      async open(_, places) {
        const early = read(places, 'early');
        begun();
        await gate;
        texts.push(`${early} ${read(places, 'late')}`);
        return { workspace: { catalogue } as Workspace, renewed: async () => undefined };
      },
      version: async () => '',
      tell: () => undefined,
    });
    const compared = vi.spyOn(Keeper.prototype, 'changed');
    onTestFinished(() => compared.mockRestore());
    const first = workspaces.get();
    await beginning;
    await edit(folder);
    const second = workspaces.get();
    // A call waits for two turns before it looks at anything.
    for (let turns = 0; turns < 5; turns += 1) await new Promise(setImmediate);
    goOn();
    await Promise.all([first, second]);
    const comparisons = compared.mock.contexts.filter((places) => (places as Keeper).size > 1).length;
    return { texts, comparisons };
  }

  it('does not look again at what was read after it came', async () => {
    expect(await readings(async () => undefined)).toEqual({ texts: ['one one'], comparisons: 0 });
    const late = (folder: string): Promise<void> => writeFiles(folder, { late: 'two' });
    expect((await readings(late)).texts).toEqual(['one two']);
  });

  it('is not answered from what was read before', async () => {
    const early = (folder: string): Promise<void> => writeFiles(folder, { early: 'two' });
    expect((await readings(early)).texts).toEqual(['one one', 'two one']);
  });
});

describe('a call that comes while another one has a changed file read again', () => {
  it.each(['alone', 'with everything'])('is not answered from before the change, %s', async (how) => {
    const folder = await temporaryFolder(onTestFinished);
    await writeFiles(folder, { file: 'one' });
    await expect.poll(async () => isSettled(statSync(join(folder, 'file')).ctimeMs)).toBe(true);
    let begun = (): void => undefined;
    const beginning = new Promise<void>((resolve) => (begun = resolve));
    let goOn = (): void => undefined;
    const gate = new Promise<void>((resolve) => (goOn = resolve));
    const catalogue = new Catalogue({
      records: [],
      modules: [],
      problems: [],
      sources: [],
      files: new Map(),
    });
    const opened = (keeper: Keeper): Opened => {
      keeper.look(join(folder, 'file'));
      const warnings = [readFileSync(join(folder, 'file'), 'utf8')];
      return {
        workspace: { catalogue, warnings } as unknown as Workspace,
        async renewed() {
          begun();
          await gate;
          return how === 'alone' ? opened(keeper) : undefined;
        },
      };
    };
    const workspaces = createWorkspaces({
      find: async () => ({ root: folder }) as Project,
      open: async (_, keeper) => opened(keeper),
      version: async () => '',
      tell: () => undefined,
    });
    const said = async (): Promise<readonly string[]> => (await workspaces.get()).warnings;
    expect(await said()).toEqual(['one']);
    await writeFiles(folder, { file: 'two' });
    const first = said();
    await beginning;
    const second = said();
    for (let turns = 0; turns < 20; turns += 1) await new Promise(setImmediate);
    goOn();
    expect(await Promise.all([first, second])).toEqual([['two'], ['two']]);
  });
});

describe('listeners', () => {
  it('hear of other projects too, until they leave; a bad one harms nobody', async () => {
    const { context } = await world();
    const { folder: other } = await world();
    const heard: boolean[] = [];
    context.onChange(() => {
      throw new Error('a bad listener');
    });
    const leave = context.onChange(({ current }) => heard.push(current));
    await context.workspace();
    await context.workspace(other);
    await context.refresh(other);
    await context.refresh();
    leave();
    await context.refresh();
    expect(heard).toEqual([false, true]);
    expect(context.written.join('')).toContain('a bad listener');
  });
});

describe.runIf(process.platform === 'linux')('a watch', () => {
  it('spares calls the comparison of all places until something has happened, and after it is over', async () => {
    const flows = Array.from({ length: 50 }, (_, at) => [
      `bmad/bmm/workflows/w${at}/workflow.md`,
      workflow(''),
    ]);
    const { folder, context } = await world({
      ...PROJECT,
      ...(Object.fromEntries(flows) as Record<string, string>),
    });
    await withWatch(context, onTestFinished);
    const looks = async (asked: typeof context): Promise<number> =>
      (await fileLooks(() => asked.workspace())).count;
    const without = await contextIn(folder, { flags: { discovery: 'local' } });
    await expect.poll(async () => (await without.workspace()) === (await without.workspace())).toBe(true);
    const all = await looks(without);
    const isSpared = async (): Promise<boolean> => (await looks(context)) < all / 2;
    await expect.poll(isSpared).toBe(true);
    const file = join(folder, 'bmad/bmm/agents/architect.md');
    for (const mark of ['two', 'three']) {
      writeFileSync(file, agent(mark));
      const { catalogue } = await context.workspace();
      expect(catalogue.winners.find(({ name }) => name === 'architect')?.description).toBe(mark);
      await expect.poll(isSpared).toBe(true);
    }
  });

  it('is not begun where it is switched off, is asked to poll, or would be told too late', async () => {
    const folder = await temporaryFolder(afterAll);
    await writeFiles(folder, PROJECT);
    for (const outside of [
      { flags: { watch: 'off' } },
      { flags: { watch: 'poll' } },
      { platform: 'darwin' as const },
    ]) {
      const context = await contextIn(folder, outside);
      vi.useFakeTimers({ toFake: ['setTimeout'] });
      onTestFinished(() => void vi.useRealTimers());
      context.stay();
      await context.workspace();
      await context.workspace();
      expect(vi.getTimerCount(), JSON.stringify(outside)).toBe(0);
      vi.useRealTimers();
      expect(context.watching()).toBeUndefined();
    }
  });
});
