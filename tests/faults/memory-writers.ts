import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Memory } from '../../src/services/memory/memory.ts';
import { KIT_FILES, writeFiles } from '../support/kit-project.ts';
import { openProject } from '../memory/open-project.ts';
import { memory } from '../memory/places.ts';
import { openLines, type IndexKind } from '../memory/processes.ts';
import type { Scene, Writer } from './scene.ts';

/** Nothing in common, so that none is taken for another. */
const TEXTS: Readonly<Record<string, string>> = {
  before: 'Giraffes are fed at noon',
  first: 'The queue is drained before midnight',
  second: 'Backups lie in another building',
};
const textOf = (what: string): string => TEXTS[what] ?? what;

/** The memory of a project: the store, and the copies in the files of the project. */
function ofProject(engine: IndexKind): Writer[] {
  const within = async <T>({ project }: Scene, work: (memory: Memory) => Promise<T>): Promise<T> => {
    const opened = await openProject(project, { engine, background: true });
    try {
      return await work(opened);
    } finally {
      await opened.close();
    }
  };
  const remember = (what: string) => (opened: Memory) =>
    opened.remember({ type: 'decisions', agent: 'dev', text: textOf(what) });
  const read = (scene: Scene): Promise<string[]> =>
    within(scene, async (opened) => {
      const { entries } = await opened.list({}, { limit: 100 });
      const { degraded, notes } = await opened.status();
      const trouble = notes.filter((note) => !/that cannot be read/.test(note));
      return [...entries.map(({ text }) => text).sort(), ...(degraded ? trouble : [])];
    });
  /** Every memory that is there has its line and its entry once, and none has one that is not there. */
  const wrong = async (scene: Scene): Promise<string[]> => {
    const there = await read(scene);
    const found: string[] = [];
    for (const name of ['decisions-log.md', 'memories.json']) {
      const text = await readFile(join(scene.project, '_bmad/_memory', name), 'utf8');
      for (const each of Object.values(TEXTS)) {
        const times = text.split(each).length - 1;
        if (times !== (there.includes(each) ? 1 : 0)) found.push(`${name} has "${each}" ${times} times`);
      }
    }
    return found;
  };
  const prepare = async (scene: Scene, ...more: string[]): Promise<void> => {
    await writeFiles(scene.project, KIT_FILES);
    for (const what of ['before', ...more]) await within(scene, remember(what));
  };
  return [
    {
      name: `a memory with the index ${engine}`,
      prepare: (scene) => prepare(scene),
      act: (scene, what) => within(scene, remember(what)),
      read,
      wrong,
      slow: true,
    },
    {
      name: `a memory that is forgotten with the index ${engine}`,
      prepare: (scene) => prepare(scene, 'first', 'second'),
      act: (scene, what) =>
        within(scene, async (opened) => {
          const { entries } = await opened.list({}, { limit: 100 });
          const entry = entries.find(({ text }) => text === textOf(what));
          if (entry !== undefined) await opened.forget(entry.id);
        }),
      read,
      wrong,
      slow: true,
    },
  ];
}

/** The store alone, without the files of a project around it. */
function ofStore(engine: IndexKind): Writer[] {
  const within = async <T>(
    { state }: Scene,
    work: (store: Awaited<ReturnType<typeof openLines>>) => Promise<T>,
  ): Promise<T> => {
    const store = await openLines(engine, state);
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  };
  const put = (what: string) => (store: Awaited<ReturnType<typeof openLines>>) =>
    store.upsert([memory(what, textOf(what))]);
  const read = (scene: Scene): Promise<string[]> =>
    within(scene, async (store) => {
      const { entries } = await store.list({ includeForgotten: true }, { limit: 100 });
      return entries.map(({ text }) => text).sort();
    });
  return [
    {
      name: `an entry of lines with the index ${engine}`,
      prepare: (scene) => within(scene, put('before')),
      act: (scene, what) => within(scene, put(what)),
      read,
    },
    {
      name: `an entry that is purged from lines with the index ${engine}`,
      prepare: (scene) =>
        within(scene, async (store) => {
          for (const what of Object.keys(TEXTS)) await put(what)(store);
          await store.forget([memory('first', ''), memory('second', '')], '2026-04-01');
        }),
      act: (scene, what) => within(scene, (store) => store.purge([memory(what, '')])),
      read,
    },
  ];
}

export const MEMORY_WRITERS: readonly Writer[] = [
  ...ofStore('memory'),
  ...ofStore('sqlite'),
  ...ofProject('memory'),
  ...ofProject('sqlite'),
];
