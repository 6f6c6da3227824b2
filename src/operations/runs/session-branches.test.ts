import { readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { branchFile, kitState } from '../../../tests/support/run-project.ts';
import { runSession } from '../../../tests/support/run-session.ts';
import {
  listSessions,
  sessionArchive,
  sessionCreate,
  sessionDiff,
  sessionMerge,
  sessionSwitch,
} from './sessions.ts';
import { runFinish } from './run-operations.ts';

const RUNS = '_bmad-output/.runs';

describe('session_create and session_switch', () => {
  it('make a branch as the kit does, and the one that is meant from then on', async () => {
    const session = await runSession(onTestFinished);
    await session.ok(sessionCreate, { name: 'feature-auth', purpose: 'Auth with JWT' });
    expect(JSON.parse(await session.text(`${RUNS}/feature-auth/branch.json`))).toMatchObject({
      branch: 'feature-auth',
      purpose: 'Auth with JWT',
      parent_branch: 'main',
      status: 'active',
    });
    expect((await session.ok(listSessions)).data['current']).toBe('main');
    const { answer } = await session.ok(sessionSwitch, { name: 'feature-auth' });
    expect(answer.body).toContain('it was main');
    const run_id = await session.open('prd');
    expect(await session.text(`${RUNS}/feature-auth/${run_id}/state.json`)).toContain('feature-auth');
    await session.ok(sessionSwitch, { name: 'main' });
    expect((await session.ok(listSessions)).data['current']).toBe('main');
  });

  it('refuse names that cannot be, or are taken', async () => {
    const session = await runSession(onTestFinished);
    for (const name of [
      'archive',
      'Archive',
      '../x',
      'a/b',
      '.hidden',
      '-x',
      'a b',
      'é',
      'nul',
      'x'.repeat(65),
    ])
      expect((await session.fail(sessionCreate, { name })).code, name).toBe('invalid_input');
    expect((await session.fail(sessionCreate, { name: 'main' })).steps).toMatchObject([
      { operation: 'session_switch', args: { name: 'main' } },
    ]);
    expect((await session.fail(sessionCreate, { name: 'MAIN' })).code).toBe('conflict');
    expect((await session.fail(sessionSwitch, { name: 'nowhere' })).hint).toContain('main');
    expect((await session.fail(sessionSwitch, { name: 'explore-graphql-20261114' })).code).toBe('not_found');
  });
});

describe('session_merge', () => {
  it('copies runs, renames what collides, and leaves the manifest of the target alone', async () => {
    const session = await runSession(onTestFinished, {
      files: {
        [`${RUNS}/main/branch.json`]: branchFile('main'),
        [`${RUNS}/main/r-1/state.json`]: kitState({ run_id: 'r-1', agent_notes: 'of main' }),
        [`${RUNS}/main/notes.md`]: 'main\n',
        [`${RUNS}/side/branch.json`]: branchFile('side', { extra: 'kept' }),
        [`${RUNS}/side/r-1/state.json`]: kitState({
          run_id: 'r-1',
          session_branch: 'side',
          agent_notes: 'of side',
          status: 'completed',
        }),
        [`${RUNS}/side/r-3/state.json`]: kitState({
          run_id: 'r-3',
          session_branch: 'side',
          status: 'completed',
        }),
        [`${RUNS}/side/r-2/state.json`]: kitState({ run_id: 'r-2', session_branch: 'side' }),
        [`${RUNS}/side/r-2/artefacts/a.md`]: 'a\n',
        [`${RUNS}/side/bad/state.json`]: '{',
        [`${RUNS}/side/notes.md`]: 'side\n',
        [`${RUNS}/side/docs/x.md`]: 'x\n',
      },
    });
    const manifest = await session.text(`${RUNS}/main/branch.json`);
    const { data, answer } = await session.ok(sessionMerge, { name: 'side', force: true });
    expect(data).toMatchObject({
      copied: ['bad', 'r-3'],
      moved: ['r-2'],
      renamed: [{ from: 'r-1', to: 'r-1-from-side' }],
      files: ['docs/x.md'],
      left: ['notes.md'],
    });
    expect(answer.body).toContain('r-1 is now r-1-from-side');
    expect(await session.text(`${RUNS}/main/branch.json`)).toBe(manifest);
    expect(await session.text(`${RUNS}/main/r-1/state.json`)).toContain('of main');
    expect(JSON.parse(await session.text(`${RUNS}/main/r-1-from-side/state.json`))).toMatchObject({
      run_id: 'r-1-from-side',
      session_branch: 'main',
      agent_notes: 'of side',
    });
    expect(await session.text(`${RUNS}/main/r-2/artefacts/a.md`)).toBe('a\n');
    expect(await session.text(`${RUNS}/main/bad/state.json`)).toBe('{');
    expect(await session.text(`${RUNS}/main/notes.md`)).toBe('main\n');
    expect(JSON.parse(await session.text(`${RUNS}/side/branch.json`))).toMatchObject({
      branch: 'side',
      status: 'merged',
      merged_into: 'main',
      extra: 'kept',
    });
    // A second time, also after the copy went on, nothing is copied again.
    await session.ok(runFinish, { run_id: 'r-3', branch: 'main', status: 'failed', notes: 'went on' });
    expect((await session.ok(sessionMerge, { name: 'side' })).data).toMatchObject({
      copied: [],
      moved: [],
      renamed: [],
      already: ['bad', 'r-1-from-side', 'r-3'],
    });
    // What went on in the branch is another run by now.
    await session.ok(runFinish, { run_id: 'r-3', branch: 'side', status: 'failed', notes: 'otherwise' });
    expect((await session.ok(sessionMerge, { name: 'side' })).data).toMatchObject({
      renamed: [{ from: 'r-3', to: 'r-3-from-side' }],
    });
  });

  it('refuses itself, what is not there, and links that lead out', async () => {
    const session = await runSession(onTestFinished, {
      files: {
        [`${RUNS}/side/r-1/state.json`]: kitState({ run_id: 'r-1' }),
        [`${RUNS}/side/branch.json`]: '{',
      },
    });
    expect((await session.fail(sessionMerge, { name: 'side', into: 'side' })).code).toBe('invalid_input');
    expect((await session.fail(sessionMerge, { name: 'nowhere' })).code).toBe('not_found');
    expect((await session.fail(sessionMerge, { name: 'side', into: 'nowhere' })).code).toBe('not_found');
    const outside = await temporaryFolder(onTestFinished);
    await symlink(outside, join(session.folder, RUNS, 'main'));
    expect((await session.fail(sessionMerge, { name: 'side', force: true })).code).toBe('forbidden');
    expect(await readdir(outside)).toEqual([]);
    await session.ok(sessionCreate, { name: 'target' });
    const { data } = await session.ok(sessionMerge, { name: 'side', into: 'target', force: true });
    expect(data).toMatchObject({ moved: ['r-1'] });
    expect((data['notes'] as string[]).join()).toContain('branch.json is not valid JSON');
    expect(await session.text(`${RUNS}/side/branch.json`)).toBe('{');
  });
});

describe('session_merge of runs that are not over', () => {
  it('is refused, and with force takes them along, so that each is in one branch', async () => {
    const session = await runSession(onTestFinished, {
      files: {
        [`${RUNS}/side/branch.json`]: branchFile('side'),
        [`${RUNS}/side/r-1/state.json`]: kitState({ run_id: 'r-1', session_branch: 'side' }),
        [`${RUNS}/side/r-1/artefacts/a.md`]: 'a\n',
        [`${RUNS}/side/r-2/state.json`]: kitState({ run_id: 'r-2', status: 'paused', agent_notes: 'side' }),
        [`${RUNS}/main/r-2/state.json`]: kitState({ run_id: 'r-2', agent_notes: 'main' }),
      },
    });
    const error = await session.fail(sessionMerge, { name: 'side' });
    expect(error).toMatchObject({ code: 'conflict' });
    expect(error.message).toContain('unfinished runs: r-1, r-2');
    expect(error.steps).toMatchObject([
      { operation: 'run_finish', args: { run_id: 'r-1' } },
      { operation: 'session_merge', args: { name: 'side', force: true } },
    ]);
    expect(await session.text(`${RUNS}/side/branch.json`)).not.toContain('merged');
    const { data } = await session.ok(sessionMerge, { name: 'side', force: true });
    expect(data).toMatchObject({
      copied: [],
      moved: ['r-1', 'r-2-from-side'],
      renamed: [{ from: 'r-2', to: 'r-2-from-side' }],
      notes: ['Unfinished, and therefore continued in main: r-1, r-2-from-side.'],
    });
    expect(await readdir(join(session.folder, RUNS, 'side'))).toEqual(['branch.json']);
    expect(await session.text(`${RUNS}/main/r-1/artefacts/a.md`)).toBe('a\n');
    // Without a branch the id is plain again, and it says where it is now.
    await session.ok(runFinish, { run_id: 'r-1' });
    expect(JSON.parse(await session.text(`${RUNS}/main/r-1/state.json`))).toMatchObject({
      run_id: 'r-1',
      session_branch: 'main',
      status: 'completed',
    });
  });

  it('leaves one of two copies that an earlier merge has made, and keeps links', async () => {
    const state = kitState({ run_id: 'r-1', session_branch: 'side' });
    const session = await runSession(onTestFinished, {
      files: {
        [`${RUNS}/side/branch.json`]: branchFile('side'),
        [`${RUNS}/side/r-1/state.json`]: state,
        [`${RUNS}/main/r-1/state.json`]: state,
        [`${RUNS}/side/r-2/state.json`]: kitState({ run_id: 'r-2' }),
      },
    });
    await symlink('state.json', join(session.folder, RUNS, 'side/r-2/link.json'));
    const { data } = await session.ok(sessionMerge, { name: 'side', force: true });
    expect(data).toMatchObject({ copied: [], moved: ['r-1', 'r-2'], renamed: [], already: [] });
    expect(await readdir(join(session.folder, RUNS, 'side'))).toEqual(['branch.json']);
    expect(await readdir(join(session.folder, RUNS, 'main/r-2'))).toContain('link.json');
  });
});

describe('session_diff', () => {
  it('tells what only one has, and what differs', async () => {
    const session = await runSession(onTestFinished, {
      files: {
        [`${RUNS}/main/r-1/state.json`]: kitState({ run_id: 'r-1' }),
        [`${RUNS}/main/r-2/state.json`]: kitState({ run_id: 'r-2' }),
        [`${RUNS}/side/r-1/state.json`]: kitState({ run_id: 'r-1', agent_notes: 'x' }),
        [`${RUNS}/side/r-3/state.json`]: kitState({ run_id: 'r-3' }),
        [`${RUNS}/side/branch.json`]: branchFile('side'),
      },
    });
    const { data } = await session.ok(sessionDiff, { name: 'side' });
    expect(data).toMatchObject({
      only_here: ['r-3/state.json'],
      only_there: ['r-2/state.json'],
      different: ['r-1/state.json'],
    });
    expect((await session.ok(sessionDiff, { name: 'main' })).answer.body).toBe(
      'main and main have the same content.',
    );
    expect((await session.fail(sessionDiff, { name: 'nowhere' })).code).toBe('not_found');
  });
});

describe('session_archive', () => {
  it('puts a branch away whole, and goes back to main', async () => {
    const session = await runSession(onTestFinished);
    await session.ok(sessionCreate, { name: 'side' });
    await session.ok(sessionSwitch, { name: 'side' });
    const run_id = await session.open('prd');
    expect((await session.fail(sessionArchive, { name: 'side' })).message).toContain(run_id);
    await session.ok(runFinish, { run_id });
    const { data } = await session.ok(sessionArchive, { name: 'side' });
    expect(data['folder']).toMatch(/archive\/side-\d{8}$/);
    expect(data['notes']).toEqual(['It was the current session branch; now that is "main" again.']);
    const { data: listed } = await session.ok(listSessions, { status: 'completed' });
    expect((listed['sessions'] as { name: string; archive?: string }[]).map(({ name }) => name)).toContain(
      'side',
    );
    expect((await session.fail(runFinish, { run_id })).code).toBe('conflict');
    await session.ok(sessionCreate, { name: 'side' });
    expect((await session.ok(sessionArchive, { name: 'side' })).data['folder']).toMatch(
      /archive\/side-\d{8}-2$/,
    );
  });

  it('leaves main, what is not there, and what a link would take away', async () => {
    const session = await runSession(onTestFinished, {
      files: { [`${RUNS}/side/branch.json`]: branchFile('side') },
    });
    expect((await session.fail(sessionArchive, { name: 'main' })).message).toContain('cannot be archived');
    expect((await session.fail(sessionArchive, { name: 'nowhere' })).code).toBe('not_found');
    const outside = await temporaryFolder(onTestFinished);
    await symlink(outside, join(session.folder, RUNS, 'archive'));
    expect((await session.fail(sessionArchive, { name: 'side' })).code).toBe('forbidden');
    expect(await readdir(outside)).toEqual([]);
    await writeFile(join(session.folder, 'x'), '');
    expect(await session.text(`${RUNS}/side/branch.json`)).toContain('side');
  });
});
