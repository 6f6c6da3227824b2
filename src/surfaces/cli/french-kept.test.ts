import { readdir, readFile, mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { bmadHere } from '../../../tests/support/command-line.ts';
import { FRENCH } from '../../language/french.ts';

/** Texts of people that are texts of ours as well, word for word. */
const WRITTEN = [
  'All stories are done; what follows is optional.',
  'Nothing waits for a person.',
  'Nothing waits for you.',
  'Try again.',
  'There is nothing to repair.',
];

interface Place {
  project: string;
  said(...args: string[]): Promise<string>;
}

/** A project that is worked in from a command line which speaks one language. */
async function place(language: 'en' | 'fr'): Promise<Place> {
  const folder = await temporaryFolder(afterAll);
  const project = join(folder, 'shop');
  const ledger = join(project, '_bmad-output', 'implementation-artifacts');
  await mkdir(join(project, '_bmad', '_memory'), { recursive: true });
  await mkdir(join(project, '_bmad', 'core'), { recursive: true });
  await mkdir(ledger, { recursive: true });
  await writeFile(join(project, '_bmad', 'core', 'config.yaml'), 'communication_language: English\n');
  await writeFile(join(project, 'package.json'), '{"scripts":{"test":"node --version"}}');
  await writeFile(
    join(ledger, 'sprint-status.yaml'),
    'development_status:\n  epic-1: in-progress\n  1-1-count: ready-for-dev\n  1-2-print: backlog\n',
  );
  const env = { HOME: folder, PATH: process.env['PATH'] ?? '', NO_COLOR: '1', BMAD_EMBEDDER: 'none' };
  return {
    project,
    said: async (...args) => (await bmadHere([...args, '--lang', language], { cwd: project, env })).screen,
  };
}

describe('what people wrote, on a French command line', () => {
  it('is never said otherwise, whatever it says (Q-O1)', async () => {
    const known = WRITTEN.filter((text) => FRENCH[text] !== undefined);
    expect(known.length, 'texts that are in the catalogue').toBeGreaterThan(1);
    const { said } = await place('fr');
    const ids: string[] = [];
    for (const text of WRITTEN) {
      await said('memory', 'remember', 'decisions', 'dev', text);
      await said('log', 'handoff', 'dev', 'qa', text);
      const task = await said('task', 'add', 'architect', text, '--output-key', `key-${ids.length}`);
      ids.push(/task-[\w-]+/.exec(task)?.[0] ?? '');
    }
    const shown = {
      list: await said('memory', 'list'),
      tasks: await said('task', 'list'),
      inbox: await said('inbox'),
      context: await said('project', 'context'),
    };
    for (const [index, text] of WRITTEN.entries()) {
      for (const [name, answer] of Object.entries(shown)) expect(answer, name).toContain(text);
      expect(await said('memory', 'recall', text)).toContain(text);
      expect(await said('task', 'show', ids[index] ?? '')).toContain(text);
    }
    // Of what waits, "next" names the oldest.
    expect(await said('next', '--detail', 'full')).toContain(`"${WRITTEN[0] ?? ''}"`);
  });
});

/** Ids, digests, times and the folder differ from one run to the next. */
const plain = (text: string, { project }: Place): string =>
  text
    .replaceAll(join(project, '..'), '<folder>')
    .replaceAll(/\d{4}-\d{2}-\d{2}(?:T[\d:.]+(?:Z|[+-]\d{2}:\d{2})?)?/g, '<time>')
    .replaceAll(/\b\d{2}:\d{2}(?::\d{2})?\b/g, '<time>')
    .replaceAll(/\b\d{8}-\d{6}-[\da-f]+/g, '<id>')
    .replaceAll(/\b01[\da-z]{18}\b/g, '<id>')
    .replaceAll(/("machine":"|<time>\/)[\da-z]{6}\b/g, '$1<machine>')
    .replaceAll(/\b[\da-f]{6,}(?:-[\da-f]+)*\b/g, '<id>')
    .replaceAll(/"(?:duration_ms|ms|ranAt|seq_time|[a-z_]*_ms)": ?[\d.]+/g, '<ms>');

async function filesOf(own: Place): Promise<Record<string, string[]>> {
  const entries = await readdir(own.project, { recursive: true, withFileTypes: true });
  const files: Record<string, string[]> = {};
  for (const entry of entries.filter((each) => each.isFile())) {
    const path = join(entry.parentPath, entry.name);
    if (/\.(?:sqlite|db|gz|lock)(?:-\w+)?$/.test(path)) continue;
    const name = plain(relative(own.project, path), own);
    (files[name] ??= []).push(plain(await readFile(path, 'utf8'), own));
  }
  for (const texts of Object.values(files)) texts.sort();
  return files;
}

/** Everything that a person may write down from a command line. */
async function work(own: Place): Promise<void> {
  const { said } = own;
  const idIn = (text: string): string => /(?:task|bmad-prd)-[\w-]+/.exec(text)?.[0] ?? '';
  await said('memory', 'remember', 'decisions', 'dev', 'Sessions live in Redis.');
  await said('log', 'decision', 'The API is versioned in its path.', 'architect');
  await said(
    'log',
    'failure',
    'The import lost rows',
    '--what-happened',
    'It stopped',
    '--severity',
    'micro',
  );
  await said('log', 'handoff', 'dev', 'qa', 'Please test the import.');
  await said('log', 'session', 'dev', '--next', 'Write the tests');
  const run = idIn(await said('run', 'open', 'prd'));
  await said('run', 'checkpoint', run, '--step', '2');
  await said('run', 'finish', run, 'paused');
  await said('session', 'create', 'spike');
  const first = idIn(await said('task', 'add', 'architect', 'Look at the API', '--output-key', 'api'));
  const other = idIn(await said('task', 'add', 'dev', 'Look at the database', '--output-key', 'database'));
  for (const id of [first, other]) {
    const claimed = await said('task', 'claim', id, '--worker', 'me');
    const claim = /(?:claim|charge) ([\w-]+)/.exec(claimed)?.[1] ?? '';
    await said('task', 'complete', id, claim, '{"vote":"yes"}');
  }
  await said('task', 'merge', 'vote', '--output-keys', 'api,database');
  await said(
    'task',
    'cancel',
    idIn(await said('task', 'add', 'qa', 'Look at the tests', '--output-key', 'tests')),
  );
  await said('delivery', 'create', 'dev', 'qa', '--artefacts', 'package.json', '--signed-by', 'me');
  await said('story', 'status', '1-1-count', 'in-progress');
  await said('log', 'memlog', '_bmad-output', 'An idea', '--by', 'dev');
  await said('trust', '.', '--yes');
  await said('contract', 'run');
}

describe('what a French command line writes into a project', () => {
  it('is what an English one writes', async () => {
    const [english, french] = [await place('en'), await place('fr')];
    await work(english);
    await work(french);
    const [expected, found] = [await filesOf(english), await filesOf(french)];
    expect(Object.keys(expected).length).toBeGreaterThan(8);
    expect(found).toEqual(expected);
  });
});
