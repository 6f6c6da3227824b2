import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { MemoryStore } from '../../src/services/memory/store.ts';
import { temporaryFolder } from '../support/app.ts';
import { KIT_FILES, writeFiles } from '../support/kit-project.ts';
import { storeIn } from './open-project.ts';
import { keyOf, memory } from './places.ts';
import { rounds } from '../support/how-much.ts';

const LINES = '_bmad/_memory/.bmad-memory';
/** How often each of both writes; what they do on each day is below. */
const DAYS = rounds(4, 6);
const words = (name: string, text: string, more = {}) => memory(name, text, { vector: undefined, ...more });

interface Clone {
  root: string;
  git(...args: string[]): Promise<string>;
  /** As a server that is started, used and ended. */
  use<T>(work: (store: MemoryStore) => Promise<T>): Promise<T>;
  commit(): Promise<void>;
  /** Brings what the others have pushed, and pushes. Fails where there is a conflict. */
  merge(): Promise<void>;
}

/** Two people or more who share their lines by git, each on a machine of their own. */
async function team(...names: string[]): Promise<Clone[]> {
  const folder = await temporaryFolder(onTestFinished);
  const run = async (cwd: string, ...args: string[]): Promise<string> => {
    const as = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org'];
    const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null' };
    return (await promisify(execFile)('git', [...as, ...args], { cwd, env })).stdout;
  };
  await mkdir(join(folder, 'first'));
  await writeFiles(join(folder, 'first'), KIT_FILES);
  await run(join(folder, 'first'), 'init', '-q', '-b', 'main');
  await run(join(folder, 'first'), 'add', '-A');
  await run(join(folder, 'first'), 'commit', '-qm', 'start');
  await run(folder, 'clone', '-q', '--bare', 'first', 'hub.git');
  return Promise.all(
    names.map(async (name) => {
      await run(folder, 'clone', '-q', 'hub.git', name);
      const root = join(folder, name);
      const git = (...args: string[]) => run(root, ...args);
      const clone: Clone = {
        root,
        git,
        async use(work) {
          const user = { state: join(folder, `${name}-state`), cache: join(folder, `${name}-cache`) };
          const store = await storeIn(root, user);
          try {
            return await work(store);
          } finally {
            await store.close();
          }
        },
        async commit() {
          await rm(join(root, LINES, '.gitignore'), { force: true });
          await git('add', '-A');
          await git('commit', '-q', '--allow-empty', '-m', name);
        },
        async merge() {
          await clone.commit();
          await git('fetch', '-q');
          await git('merge', '-q', '--no-edit', 'origin/main');
          await git('push', '-q', 'origin', 'HEAD:main');
        },
      };
      return clone;
    }),
  );
}

const texts = (clone: Clone, filter = {}): Promise<string[]> =>
  clone.use(async (store) =>
    (await store.list(filter, { limit: 200 })).entries.map(({ text }) => text).sort(),
  );

async function bytesOf(...folders: string[]): Promise<string> {
  const parts: string[] = [];
  for (const folder of folders)
    for (const name of await readdir(folder, { recursive: true }))
      parts.push(await readFile(join(folder, name), 'latin1').catch(() => ''));
  return parts.join('\n');
}

describe('lines that two clones share by git', () => {
  it('merge both ways without a conflict, and all of both is found, changed and forgotten (F-02, D-10)', async () => {
    const [ada, bob] = (await team('ada', 'bob')) as [Clone, Clone];
    await ada.use((store) =>
      store.upsert([words('common', 'Agreed before'), words('gone', 'Given up later')]),
    );
    await ada.merge();
    await bob.merge();
    // A day's work of each, with commits in between.
    for (let at = 0; at < DAYS; at++)
      for (const [name, clone] of [
        ['ada', ada],
        ['bob', bob],
      ] as const) {
        await clone.use(async (store) => {
          await store.upsert([words(`${name}${at}`, `Decision ${at} of ${name}`)]);
          if (at === 1)
            await store.update(words('common', ''), {
              text: `As ${name} says`,
              at: `2026-03-0${name.length}`,
            });
          if (at === 2 && name === 'bob') await store.forget([keyOf(words('gone', ''))], '2026-03-05');
          if (at === 3) await store.upsert([words('same', 'Found out by both')]);
        });
        if (at % 2 === 0) await clone.commit();
      }
    for (const clone of [ada, bob, ada]) await clone.merge();
    const all = [
      ...['ada', 'bob'].flatMap((name) =>
        Array.from({ length: DAYS }, (_, at) => `Decision ${at} of ${name}`),
      ),
      'Found out by both',
    ];
    const [ours, theirs] = [await texts(ada), await texts(bob)];
    expect(ours).toEqual(theirs);
    expect(ours).toEqual(expect.arrayContaining(all));
    expect(ours).toHaveLength(all.length + 1);
    // Both texts of what both have changed are found, until somebody has said how it is.
    for (const clone of [ada, bob])
      for (const name of ['ada', 'bob'])
        expect(
          await clone.use((store) => store.search({ terms: ['says', name], filter: {}, limit: 5 })),
        ).not.toEqual([]);
    await bob.use(async (store) => {
      expect((await store.get(words('common', '')))?.others).toHaveLength(1);
      await store.update(words('common', ''), { text: 'As both say', at: '2026-03-07' });
      await store.update(words('ada1', ''), { text: 'Changed by bob', at: '2026-03-07' });
    });
    await ada.use((store) => store.forget([keyOf(words('bob1', ''))], '2026-03-07'));
    for (const clone of [ada, bob, ada]) await clone.merge();
    for (const clone of [ada, bob]) {
      const found = await texts(clone);
      expect(found).toEqual(expect.arrayContaining(['As both say', 'Changed by bob']));
      expect(found).not.toContain('Decision 1 of bob');
      expect(await clone.use((store) => store.health())).toMatchObject({ degraded: false });
      expect(await clone.git('status', '--porcelain')).toBe('');
    }
  });

  it('keep forgotten what either side has forgotten, on older branches and in an index made again too', async () => {
    const [ada, bob] = (await team('ada', 'bob')) as [Clone, Clone];
    const [one, two] = [words('one', 'The first plan'), words('two', 'The second plan')];
    await ada.use((store) => store.upsert([one, two, words('other', 'It stays')]));
    for (const clone of [ada, bob]) await clone.merge();
    await bob.git('branch', 'older');
    // Each forgets one of them, which the other one changes without knowing of it.
    await ada.use((store) => store.forget([keyOf(one)], '2026-03-05'));
    await bob.use((store) => store.update(one, { text: 'The first plan, improved', at: '2026-03-06' }));
    await bob.use((store) => store.forget([keyOf(two)], '2026-03-05'));
    await ada.use((store) => store.update(two, { text: 'The second plan, improved', at: '2026-03-06' }));
    for (const clone of [ada, bob, ada]) await clone.merge();
    for (const clone of [ada, bob]) expect(await texts(clone)).toEqual(['It stays']);
    await bob.git('checkout', '-q', 'older');
    await bob.use((store) => store.upsert([words('late', 'Said on the older branch')]));
    await bob.commit();
    await bob.git('checkout', '-q', 'main');
    await bob.git('merge', '-q', '--no-edit', 'older');
    for (const clone of [bob, ada]) {
      await clone.merge();
      await rm(`${clone.root}-cache`, { recursive: true });
      expect(await texts(clone)).toEqual(['It stays', 'Said on the older branch']);
    }
    // One who knows that it was forgotten brings it back, for both.
    await bob.use((store) => store.restore([keyOf(two)]));
    for (const clone of [bob, ada]) await clone.merge();
    expect(await texts(ada)).toEqual(await texts(bob));
    expect(await texts(ada)).toContain('The second plan, improved');
  });

  it('do not bring back what was removed for good, and lose its text where they are met', async () => {
    const [ada, bob, old] = (await team('ada', 'bob', 'old')) as [Clone, Clone, Clone];
    const secret = words('secret', 'The xylophone is under the stairs');
    await ada.use((store) => store.upsert([secret, words('other', 'It stays')]));
    for (const clone of [ada, bob, old]) await clone.merge();
    await bob.use((store) =>
      store.update(secret, { text: 'The xylophone is in the attic', at: '2026-03-02' }),
    );
    await old.use((store) => store.update(secret, { text: 'The xylophone was sold', at: '2026-03-03' }));
    for (const clone of [bob, ada]) await clone.merge();
    await ada.use(async (store) => {
      await store.forget([keyOf(secret)], '2026-04-01');
      expect(await store.purge([keyOf(secret)])).toHaveLength(1);
    });
    const own = (clone: Clone) => [join(clone.root, LINES), `${clone.root}-state`, `${clone.root}-cache`];
    expect(await bytesOf(...own(ada))).not.toContain('xylophone');
    await ada.commit();
    // One who knows nothing of it pushes what was written before, and then both meet.
    await old.merge();
    await ada.merge();
    expect(await texts(ada, { includeForgotten: true })).toEqual(['It stays']);
    expect(await bytesOf(...own(ada))).not.toContain('xylophone');
    for (const clone of [bob, old]) {
      await clone.merge();
      expect(await texts(clone, { includeForgotten: true })).toEqual(['It stays']);
      expect(await bytesOf(...own(clone))).not.toContain('xylophone');
      await rm(`${clone.root}-cache`, { recursive: true });
      expect(await texts(clone, { includeForgotten: true })).toEqual(['It stays']);
      expect(await bytesOf(...own(clone))).not.toContain('xylophone');
    }
  });
});
