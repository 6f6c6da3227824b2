import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BmadError } from '../../src/base/errors.ts';
import { writeAtomic } from '../../src/base/files/file-state.ts';
import { withLock } from '../../src/base/files/file-lock.ts';
import { kitIn } from '../support/kit.ts';
import type { KitWithMemory } from '../../src/kit/kit.ts';
import { museumIn, museumLog } from '../../src/kit/museum/museum.ts';
import { writeFailure } from '../../src/kit/museum/museum-write.ts';
import { handoffsIn, writeHandoff } from '../../src/kit/session/handoffs.ts';
import { createVocabulary } from '../../src/services/codebase/words.ts';
import { loadIndex, saveIndex, UNWRITTEN } from '../../src/services/codebase/index-file.ts';
import { packOf } from '../../src/services/codebase/pieces.ts';
import { openDecisions } from '../../src/services/decisions/decisions.ts';
import { changePins, Levels, readPins } from '../../src/services/git-sources/lock-files.ts';
import { openUsage } from '../../src/services/ranking/usage.ts';
import { parseGitAddress } from '../../src/sources/git/address.ts';
import { leaveLock } from '../support/dead-holder.ts';
import { gitCacheIn } from '../support/git-cache.ts';
import { makeRepository } from '../support/git-repository.ts';
import { writeFiles } from '../support/kit-project.ts';
import { GRIMOIRE_FILES } from '../support/kit-trees.ts';
import { analyser } from '../memory/words.ts';
import type { Scene, Writer } from './scene.ts';

/** Logs of a project and of its user, the files that hold what was approved, and caches. */

const NOW = new Date('2026-03-01T10:00:00Z');

async function kitOf({ project }: Scene): Promise<KitWithMemory> {
  const kit = await kitIn(project);
  if (kit.memory === undefined) throw new Error('the project has no memory folder');
  return { ...kit, memory: kit.memory };
}

async function decide({ state, project }: Scene, id: string): Promise<void> {
  const said = { kind: 'source', digest: 'd', yes: true, by: 'Ada', via: 'flag' } as const;
  await openDecisions(state)
    .of(project)
    .decide({ ...said, id });
}

const textAt = (...path: string[]): Promise<string> => readFile(join(...path), 'utf8').catch(() => '');

async function logFailure(scene: Scene, what: string): Promise<void> {
  const failure = { title: what, category: 'CC-FAIL', tags: [], agent: 'dev' };
  await writeFailure(await kitOf(scene), { ...failure, severity: 'critical', status: 'open' }, NOW);
}

const museum = '_grimoire/_memory/failure-museum';
const logged = async ({ project }: Scene): Promise<string[]> =>
  museumLog(await textAt(project, `${museum}.jsonl`), '', []).map(({ title }) => title);

/** A user's usage log; what would only be a warning is a failure here. */
function usageOf({ state }: Scene) {
  const log = { error: fail, warn: fail, info: () => undefined, debug: () => undefined };
  let trouble: string | undefined;
  function fail(text: string): void {
    trouble = text;
  }
  const usage = openUsage({ state, root: '/project', reads: true, writes: true, now: () => 1e12, log });
  return {
    usage,
    async note(what: string): Promise<void> {
      usage.note({ kind: 'workflow', moduleName: 'bmm', name: what });
      await usage.settled();
      if (trouble !== undefined) throw new BmadError('unavailable', trouble);
    },
  };
}

const identity = { root: '/project', analyser, embedder: undefined };

async function indexFile({ state }: Scene, what: string): Promise<void> {
  const path = join(state, 'code/project.index');
  const loaded = await loadIndex(path, identity);
  const ready = loaded.state === 'ready';
  const index = ready ? loaded.index : { files: new Map(), vocabulary: createVocabulary(analyser) };
  const file = { path: what, mtimeMs: 1, size: 1, hash: what, language: 'ts', rough: false };
  index.files.set(what, { ...file, ...packOf([], [], []) });
  const written = ready ? loaded.written : UNWRITTEN;
  await saveIndex(path, index, identity, { written, changed: [what], anew: false }, () => undefined);
}

const TAGS = ['first', 'second'];
const PIN = { commit: 'a'.repeat(40), digest: `sha256:${'b'.repeat(64)}` };
const sourceAt = ({ folder }: Scene, tag: string) =>
  parseGitAddress(`git+file://${join(folder, 'remote/team.git')}#${tag}`);

export const LOG_WRITERS: readonly Writer[] = [
  {
    name: 'a failure on a page',
    prepare: ({ project }) => writeFiles(project, { '_bmad/_memory/failure-museum.md': '' }),
    act: logFailure,
    read: async ({ project }) =>
      museumIn(await textAt(project, '_bmad/_memory/failure-museum.md'), '').map(({ title }) => title),
  },
  {
    name: 'a failure in a log with a page',
    prepare: ({ project }) => writeFiles(project, GRIMOIRE_FILES),
    act: logFailure,
    read: logged,
    async wrong(scene) {
      // A line that was cut off is told to whoever writes, and the page stays as it is until somebody repairs the log.
      const cut: string[] = [];
      museumLog(await textAt(scene.project, `${museum}.jsonl`), '', cut);
      if (cut.length > 0) return [];
      const page = museumIn(await textAt(scene.project, `${museum}.md`), '').map(({ title }) => title);
      return page.join() === (await logged(scene)).join() ? [] : [`the page has ${page.join()}`];
    },
  },
  {
    name: 'a handoff',
    prepare: ({ project }) =>
      writeFiles(project, {
        '_bmad/_memory/handoff-log.md':
          '| Date | De → Vers | Description | Statut |\n|---|---|---|---|\n| 2026-02-28 10:00 | dev → qa | before | ⏳ |\n',
      }),
    act: async (scene, text) => writeHandoff(await kitOf(scene), { from: 'dev', to: 'qa', text }, NOW),
    read: async ({ project }) =>
      handoffsIn(await textAt(project, '_bmad/_memory/handoff-log.md')).map(({ text }) => text),
  },
  ...(['before', ''] as const).map((before): Writer => ({
    name: `usage in a log that is ${before === '' ? 'new' : 'there'}`,
    prepare: async (scene) => (before === '' ? undefined : usageOf(scene).note(before)),
    act: (scene, what) => usageOf(scene).note(what),
    read: async (scene) => {
      const { uses, problem } = await usageOf(scene).usage.noted();
      return [
        ...[...uses].map(([name, { uses: times }]) => `${name} ${times}`),
        ...(problem === undefined ? [] : [problem]),
      ].sort();
    },
  })),
  {
    name: 'the lock file of git sources',
    prepare: ({ project, state }) =>
      changePins(join(project, 'bmad.lock.json'), join(state, 'pins.lock'), (pins) => (pins['x'] = PIN)),
    act: ({ project, state }, what) =>
      changePins(join(project, 'bmad.lock.json'), join(state, 'pins.lock'), (pins) => (pins[what] = PIN)),
    read: async ({ project }) => Object.keys(await readPins(join(project, 'bmad.lock.json'))),
  },
  {
    name: 'the list of git sources in a configuration file',
    prepare: ({ project }) => writeFiles(project, { 'bmad.toml': '# ours\ngit = ["x"]\n' }),
    act: ({ project, state }, what) => {
      const user = { config: join(project, 'bmad.toml'), lock: join(project, 'bmad.lock') };
      const levels = new Levels({ user, project: undefined, guards: join(state, 'locks') });
      return levels.changeList('user', (list) => [...list, what]);
    },
    read: async ({ project }) =>
      [...(await textAt(project, 'bmad.toml')).matchAll(/"(\w+)"/g)].map(([, name = '']) => name),
  },
  {
    name: 'the decision of a person',
    prepare: (scene) => decide(scene, 'x'),
    act: decide,
    read: async ({ state, project }) =>
      [...(await openDecisions(state).of(project).all('source')).keys()].sort(),
  },
  {
    name: 'a lock whose holder has died',
    async prepare({ state }) {
      await writeFiles(state, { list: 'before' });
      await leaveLock(join(state, 'x.lock'));
    },
    act: ({ state }, what) =>
      withLock(join(state, 'x.lock'), { waitMs: 30_000 }, async () =>
        writeAtomic(join(state, 'list'), `${await textAt(state, 'list')} ${what}`),
      ),
    read: async ({ state }) => (await textAt(state, 'list')).split(' '),
  },
  {
    name: 'the index of code',
    prepare: (scene) => indexFile(scene, 'before'),
    act: indexFile,
    read: async ({ state }) => {
      const loaded = await loadIndex(join(state, 'code/project.index'), identity);
      return loaded.state === 'ready' ? [...loaded.index.files.keys()] : [loaded.state];
    },
  },
  {
    name: 'a copy of a git source',
    async prepare({ folder }) {
      const team = await makeRepository(join(folder, 'remote'), 'team', { 'agents/ada.md': 'one' });
      for (const tag of TAGS) {
        await team.commit({ 'agents/ada.md': tag });
        await team.git('tag', tag);
      }
      await team.git('push', '--quiet', 'origin', '--tags');
    },
    act: (scene, tag) => gitCacheIn(scene.state).refresh(sourceAt(scene, tag)),
    async read(scene) {
      const cache = gitCacheIn(scene.state);
      const found: string[] = [];
      for (const tag of TAGS) {
        const { commit } = (await cache.sighting(sourceAt(scene, tag))) ?? {};
        const copy = commit === undefined ? undefined : await cache.snapshot(sourceAt(scene, tag), commit);
        if (copy !== undefined) found.push(`${tag} ${await textAt(copy.folder, 'agents/ada.md')}`);
      }
      return found;
    },
    slow: true,
  },
];
