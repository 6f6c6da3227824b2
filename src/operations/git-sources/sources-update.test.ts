import { rename } from 'node:fs/promises';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { agentFile, type TestRepository } from '../../../tests/support/git-repository.ts';
import { GitMachine } from '../../../tests/support/git-machine.ts';
import { activate } from '../activation/activate.ts';
import { sourcesUpdate } from './sources.ts';

let machine: GitMachine;
let team: TestRepository;
let first: string;

beforeEach(async () => {
  machine = await GitMachine.make((cleanUp) => onTestFinished(cleanUp));
  team = await machine.repository('team', { 'agents/ada.md': agentFile('ada', 'First', 'Version one.') });
  first = team.head;
  await machine.write(machine.config, `git = ["${team.source}#main"]\n`);
});

const short = (commit: string): string => commit.slice(0, 12);
const lineOf = async (): Promise<string> => (await machine.ok(sourcesUpdate)).answer.body;
const ada = async (): Promise<string> => String((await machine.ok(activate, { name: 'ada' })).data['text']);

describe('sources update', () => {
  it('pins a new source, then says that nothing has changed', async () => {
    const { data, answer, failed } = await machine.ok(sourcesUpdate);
    expect(data).toMatchObject({
      ok: true,
      results: [{ outcome: 'pinned', source: { commit: first, state: 'served' } }],
    });
    expect(answer.body).toBe(`- ${team.source}#main: pinned to ${short(first)}, 1 file`);
    expect(answer.note).toBe('Running servers serve it from the next call.');
    expect(failed).toBe(false);
    expect(await lineOf()).toBe(`- ${team.source}#main: unchanged at ${short(first)}`);
  });

  it('fetches what is new and keeps serving what is approved', async () => {
    await machine.ok(sourcesUpdate);
    const second = await team.commit({ 'agents/ada.md': agentFile('ada', 'Second', 'Version two.') });
    const { data, answer } = await machine.ok(sourcesUpdate);
    expect(data).toMatchObject({
      ok: true,
      results: [
        {
          outcome: 'pending',
          before: first,
          source: {
            state: 'update waits',
            commit: first,
            pending: { commit: second, relation: 'continued' },
          },
        },
      ],
    });
    expect(answer.body).toBe(
      `- ${team.source}#main: ${short(second)} WAITS FOR APPROVAL (new commits); ${short(first)} is served`,
    );
    expect(answer.steps).toMatchObject([{ operation: 'sources_diff' }]);
    expect(await ada()).toContain('Version one.');
  });

  it('takes another commit with the same content for what is approved', async () => {
    await machine.ok(sourcesUpdate);
    const second = await team.commit({}, 'Nothing but a message');
    expect(await lineOf()).toBe(
      `- ${team.source}#main: now at ${short(second)}, with the same content as ${short(first)}`,
    );
    expect((await machine.pins())[`${team.source}#main`]?.commit).toBe(second);
  });

  it('tells a rewritten history and a moved tag from new commits', async () => {
    await team.git('tag', 'v1');
    await team.git('push', '--quiet', 'origin', '--tags');
    await machine.write(machine.config, `git = ["${team.source}#main", "${team.source}#v1"]\n`);
    await machine.ok(sourcesUpdate);
    await team.git('checkout', '--quiet', '--orphan', 'other');
    const forced = await team.commit({ 'agents/ada.md': agentFile('ada', 'Forced', 'Version three.') });
    await team.git('push', '--quiet', '--force', 'origin', 'HEAD:main');
    await team.git('tag', '--force', 'v1');
    await team.git('push', '--quiet', '--force', 'origin', 'v1');
    expect((await lineOf()).split('\n')).toEqual([
      `- ${team.source}#main: ${short(forced)} WAITS FOR APPROVAL (HISTORY REWRITTEN since the approved commit); ${short(first)} is served`,
      `- ${team.source}#v1: ${short(forced)} WAITS FOR APPROVAL (TAG MOVED since it was approved); ${short(first)} is served`,
    ]);
    // Asking again, after the remote went back to what is approved, finds nothing left to approve.
    await team.git('push', '--quiet', '--force', 'origin', `${first}:main`);
    expect((await lineOf()).split('\n')[0]).toBe(`- ${team.source}#main: unchanged at ${short(first)}`);
  });

  it('approves by itself with gitApproval auto, but never a rewritten history', async () => {
    const outside = { flags: { gitApproval: 'auto' } };
    await machine.ok(sourcesUpdate, {}, outside);
    await team.commit({ 'agents/ada.md': agentFile('ada', 'Second', 'Version two.') });
    expect((await machine.ok(sourcesUpdate, {}, outside)).data).toMatchObject({
      results: [{ outcome: 'approved' }],
    });
    await team.git('reset', '--quiet', '--hard', first);
    await team.commit({ 'agents/ada.md': agentFile('ada', 'Third', 'Version three.') });
    expect((await machine.ok(sourcesUpdate, {}, outside)).data).toMatchObject({
      results: [{ outcome: 'pending', source: { pending: { relation: 'rewritten' } } }],
    });
    expect(await ada()).toContain('Version two.');
  });

  it('asks a remote that fails once, goes on with the others, and ends as failed', async () => {
    const gone = team.source.replace('team', 'gone');
    await machine.write(machine.config, `git = ["${gone}", "${team.source}#main"]\n`);
    const { env, calls } = await machine.loggingGit();
    const { data, answer, failed } = await machine.ok(sourcesUpdate, {}, { env: machine.env(env) });
    expect(failed).toBe(true);
    expect(data).toMatchObject({ ok: false, results: [{ outcome: 'failed' }, { outcome: 'pinned' }] });
    expect(answer.body).toMatch(
      /gone\.git: FAILED: .*no such repository.*\. Check the address; for a private repository/,
    );
    expect((await calls()).filter((call) => call.includes('gone.git'))).toHaveLength(1);
  });

  it('asks only for the one that is named', async () => {
    await machine.write(
      machine.config,
      `git = ["${team.source}#main", "${team.source.replace('team', 'gone')}"]\n`,
    );
    expect((await machine.ok(sourcesUpdate, { source: 'team' })).data).toMatchObject({
      ok: true,
      results: [{ outcome: 'pinned' }],
    });
    expect(await machine.fail(sourcesUpdate, { source: 'goner' })).toMatchObject({
      code: 'not_found',
      suggestions: expect.arrayContaining(['gone']) as string[],
    });
  });

  it('pins anew what a lost cache had, without asking for approval again', async () => {
    await machine.ok(sourcesUpdate);
    const second = await team.commit({ 'agents/ada.md': agentFile('ada', 'Second', 'Version two.') });
    await rename(machine.cache, `${machine.cache}.lost`);
    expect((await machine.ok(sourcesUpdate)).data).toMatchObject({
      results: [{ outcome: 'pending', source: { commit: first, pending: { commit: second } } }],
    });
    expect(await ada()).toContain('Version one.');
  });

  it('says how to begin when there is no source', async () => {
    await machine.write(machine.config, '');
    expect(await machine.fail(sourcesUpdate)).toMatchObject({
      code: 'not_found',
      message: 'No git sources are configured.',
      steps: [{ operation: 'sources_add' }],
    });
  });
});
