import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../tests/support/app.ts';
import { isDeep } from '../../tests/support/how-much.ts';
import { childProgram } from '../../tests/support/child-program.ts';
import { type Read, readAll } from '../../tests/support/read-lines.ts';
import { LineFiles } from './files.ts';

const run = promisify(execFile);
const note = (of: string, after: readonly string[] = []) => [{ of, after, do: 'note', data: { text: of } }];

const entities = ({ lines }: Read): string[] =>
  lines.flatMap(({ line }) => line.events.map(({ of }) => of)).sort();

async function place(project?: string) {
  const root = project ?? (await temporaryFolder(onTestFinished));
  const folder = join(root, '_bmad-output', '.state');
  const mirror = await temporaryFolder(onTestFinished);
  const open = (machine = 'k7q2', isPrivate = true): LineFiles =>
    new LineFiles(
      { folder, mirror, project: root, isPrivate },
      { machine: () => Promise.resolve(machine), by: { kind: 'local', name: 'ada' } },
    );
  return { root, folder, mirror, open };
}

describe('lines in files', () => {
  it('are read after a mark, each once, and files that are gone are named', async () => {
    const { folder, mirror, open } = await place();
    const log = open();
    await log.append(note('a/1'));
    const first = await readAll(open('other'));
    expect(entities(first)).toEqual(['a/1']);
    expect(await log.changed(first.mark)).toBe(false);
    await log.append(note('a/2'));
    expect(await log.changed(first.mark)).toBe(true);
    const second = await readAll(log, first.mark);
    expect(entities(second)).toEqual(['a/2']);
    expect(second.gone).toEqual([]);
    const [file] = first.lines.map(({ file: name }) => name);
    expect(await readFile(join(folder, '.gitignore'), 'utf8')).toBe('*\n');
    await rm(folder, { recursive: true });
    // One's own lines are in the mirror still, and come again from there.
    const healed = await readAll(log, second.mark);
    expect(entities(healed)).toEqual(['a/1', 'a/2']);
    expect(healed.gone).toEqual([file]);
    await rm(mirror, { recursive: true });
    const none = await readAll(log, healed.mark);
    expect([entities(none), none.gone]).toEqual([[], [file]]);
  });

  it('begin a new file where another hand changed the last one, or left a line without an end', async () => {
    const { folder, open } = await place();
    const log = open();
    const made = await log.append(note('a/1'));
    const file = 'file' in made ? join(folder, made.file) : '';
    await appendFile(file, '<<<<<<< HEAD\n{"half');
    const next = await log.append(note('a/2'));
    expect('file' in next && join(folder, next.file)).not.toBe(file);
    const read = await readAll(log);
    expect(entities(read)).toEqual(['a/1', 'a/2']);
    expect(log.troubles()).toMatchObject([{ what: 'conflict', count: 1 }]);
  });

  it('tell who was too late, with the lines of the other', async () => {
    const { open } = await place();
    const [one, other] = [open('m1'), open('m2')];
    const root = await one.append(note('task/1'));
    const id = 'line' in root ? root.line.id : '';
    const { mark: since } = await readAll(one);
    const expecting = { since, heads: new Map([['task/1', [id]]]) };
    const both = await Promise.all([
      one.append(note('task/1', [id]), expecting),
      other.append(note('task/1', [id]), expecting),
    ]);
    const lost = both.filter((each) => 'lost' in each);
    expect(lost).toHaveLength(1);
    expect(lost[0]).toMatchObject({ lost: [{ line: { events: [{ of: 'task/1', after: [id] }] } }] });
    // What is about something else stops nobody.
    const third = await one.append(note('task/2'), { since, heads: new Map([['task/2', []]]) });
    expect('line' in third).toBe(true);
  });

  it('refuse more than a line may have, and keep nothing of it', async () => {
    const { open } = await place();
    const log = open();
    const large = [{ of: 'a/1', after: [], do: 'note', data: { text: 'x'.repeat(1_000_001) } }];
    await expect(log.append(large)).rejects.toThrow('at most 1 MB');
    expect(entities(await readAll(log))).toEqual([]);
  });

  it('are passed over by reading only the days that changed', async () => {
    const { folder, open } = await place();
    const log = open();
    await log.append(note('a/1'));
    const day = (await readdir(folder)).find((name) => /^\d/.test(name)) ?? '';
    await rename(join(folder, day), join(folder, '2026-01-02'));
    const first = await readAll(log);
    expect([...first.mark.keys()]).toContain('2026-01-02');
    const [name = ''] = await readdir(join(folder, '2026-01-02'));
    const text = await readFile(join(folder, '2026-01-02', name), 'utf8');
    await writeFile(join(folder, '2026-01-02', 'other-000000000000.jsonl'), text.replaceAll('a/1', 'a/9'));
    const again = await readAll(log, first.mark);
    expect(entities(again)).toEqual(['a/9']);
  });

  it.skipIf(process.platform === 'win32')(
    'survive writers that are killed in the middle: what was acknowledged is there, once',
    async () => {
      const folder = await temporaryFolder(onTestFinished);
      const mirror = await temporaryFolder(onTestFinished);
      const program = await childProgram('tests/support/line-writer.ts');
      const told = new Set<string>();
      await Promise.all(
        Array.from({ length: 6 }, async (_, at) => {
          const writer = spawn(process.execPath, [program, folder, mirror, '1000', `w${at}`]);
          let text = '';
          writer.stdout.setEncoding('utf8');
          writer.stdout.on('data', (part: string) => {
            text += part;
            if (text.split('\n').length > 5 + at * 7) writer.kill('SIGKILL');
          });
          await once(writer, 'close');
          for (const id of text.split('\n').slice(0, -1)) told.add(id);
        }),
      );
      expect(told.size).toBeGreaterThan(30);
      const log = new LineFiles(
        { folder, mirror, isPrivate: true },
        { machine: () => Promise.resolve('r'), by: { kind: 'local', name: '' } },
      );
      const ids = (await readAll(log)).lines.map(({ line }) => line.id);
      expect(new Set(ids).size).toBe(ids.length);
      for (const id of told) expect(ids).toContain(id);
    },
  );
});

const GIT = {
  PATH: process.env['PATH'] ?? '',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'T',
  GIT_AUTHOR_EMAIL: 't@example.org',
  GIT_COMMITTER_NAME: 'T',
  GIT_COMMITTER_EMAIL: 't@example.org',
};

/** More for a long trial. */
const STEPS = isDeep ? 300 : 16;

describe('lines that are shared by git', () => {
  const git = async (at: string, ...args: string[]): Promise<string> =>
    (await run('git', args, { cwd: at, env: GIT })).stdout.trim();

  it('never conflict, whatever two clones do, and all of both are found', async () => {
    const parent = await temporaryFolder(onTestFinished);
    await git(parent, 'init', '-q', '--bare', '-b', 'main', 'hub.git');
    await git(parent, 'clone', '-q', 'hub.git', 'forge');
    const forge = join(parent, 'forge');
    await git(forge, 'commit', '-q', '--allow-empty', '-m', 'start');
    await git(forge, 'push', '-q', 'origin', 'HEAD:main');
    const clones = await Promise.all(
      ['one', 'two'].map(async (name) => {
        await git(parent, 'clone', '-q', 'hub.git', name);
        await git(join(parent, name), 'checkout', '-q', '-b', name);
        const { root, folder, open } = await place(join(parent, name));
        await mkdir(folder, { recursive: true });
        return { name, root, log: open(name, false), own: [] as string[] };
      }),
    );
    let seed = 7;
    const pick = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return Math.floor((seed / 2 ** 31) * below);
    };
    let merges = 0;
    for (let step = 0; step < STEPS; step += 1) {
      const clone = clones[pick(2)];
      if (clone === undefined) continue;
      const { name, root, log, own } = clone;
      const write = async (of: string): Promise<void> => {
        await log.append(note(of));
        own.push(of);
      };
      const commit = async (): Promise<void> => {
        await git(root, 'add', '-A');
        await git(root, 'commit', '-q', '--allow-empty', '-m', `${name} ${step}`);
      };
      for (let count = 0; count <= pick(3); count += 1) await write(`${name}/${step}-${count}`);
      const act = pick(5);
      if (act === 0) continue;
      if (act === 1) {
        await git(root, 'add', '-A');
        await git(root, 'stash', '-q');
        await write(`${name}/stashed-${step}`);
        await commit();
        await git(root, 'stash', 'pop', '-q').catch(() => '');
      }
      await commit();
      await git(root, 'fetch', '-q');
      if (act === 2) await git(root, 'rebase', '-q', 'origin/main');
      else await git(root, 'merge', '-q', '--no-edit', 'origin/main');
      merges += 1;
      await git(root, 'push', '-q', '--force', 'origin', `HEAD:${name}`);
      // As a forge does it: a squash forgets what it came from.
      await git(forge, 'fetch', '-q');
      await git(forge, 'reset', '-q', '--hard', 'origin/main');
      await git(forge, 'merge', '-q', ...(pick(2) === 0 ? ['--squash'] : ['--no-edit']), `origin/${name}`);
      await git(forge, 'commit', '-q', '--allow-empty', '-m', `forge ${step}`);
      await git(forge, 'push', '-q', 'origin', 'HEAD:main');
    }
    expect(merges).toBeGreaterThan(STEPS / 2);
    for (const { root, log, own } of clones) {
      await git(root, 'add', '-A');
      await git(root, 'commit', '-q', '--allow-empty', '-m', 'last');
      await git(root, 'fetch', '-q');
      await git(root, 'merge', '-q', '--no-edit', 'origin/main');
      expect(entities(await readAll(log))).toEqual(expect.arrayContaining(own));
      expect(log.troubles()).toEqual([]);
    }
  });
});
