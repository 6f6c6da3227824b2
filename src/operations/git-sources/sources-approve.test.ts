import { readFile } from 'node:fs/promises';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { agentFile, type TestRepository } from '../../../tests/support/git-repository.ts';
import { GitMachine } from '../../../tests/support/git-machine.ts';
import { activate } from '../activation/activate.ts';
import { sourcesApprove, sourcesDiff } from './sources-review.ts';
import { sourcesUpdate } from './sources.ts';

let machine: GitMachine;
let team: TestRepository;
let first: string;

beforeEach(async () => {
  machine = await GitMachine.make((cleanUp) => onTestFinished(cleanUp));
  team = await machine.repository('team', { 'agents/ada.md': agentFile('ada', 'First', 'Version one.') });
  first = team.head;
  await machine.write(machine.config, `git = ["${team.source}#main"]\n`);
  await machine.ok(sourcesUpdate);
});

/** A second version that waits for approval; answers with its commit. */
async function waiting(text = 'Version two.'): Promise<string> {
  const commit = await team.commit({ 'agents/ada.md': agentFile('ada', 'Next', text) });
  await machine.ok(sourcesUpdate);
  return commit;
}

const short = (commit: string): string => commit.slice(0, 12);
const ada = async (): Promise<string> => String((await machine.ok(activate, { name: 'ada' })).data['text']);

describe('sources approve', () => {
  it('serves what waited, and writes its commit and digest into the lock file', async () => {
    const second = await waiting();
    expect(await ada()).toContain('Version one.');
    const { data, answer } = await machine.ok(sourcesApprove, { commit: second });
    expect(data).toEqual({
      approved: [{ source: `${team.source}#main`, from: first, to: second, lockFile: machine.lock }],
    });
    expect(answer).toEqual({
      body: `- ${team.source}#main: ${short(first)} → ${short(second)} in ${machine.lock}`,
      note: 'Running servers serve it from the next call.',
    });
    expect(await ada()).toContain('Version two.');
    expect(await readFile(machine.lock, 'utf8')).toMatch(
      new RegExp(
        `^\\{\n  "version": 1,\n  "sources": \\{\n    ".*#main": \\{\n      "commit": "${second}",\n      "digest": "sha256:[0-9a-f]{64}",\n      "kind": "branch"\n    \\}\n  \\}\n\\}\n$`,
      ),
    );
  });

  it('says that nothing waits', async () => {
    const { data, answer } = await machine.ok(sourcesApprove);
    expect(data).toEqual({ approved: [] });
    expect(answer).toEqual({
      body: 'Nothing is waiting for approval.',
      steps: [{ operation: 'sources_update', why: 'Ask the remotes' }],
    });
  });

  it('approves only the commit that was reviewed', async () => {
    const second = await waiting();
    const third = await waiting('Version three.');
    expect(await machine.fail(sourcesApprove, { commit: second.slice(0, 14) })).toMatchObject({
      code: 'not_found',
      message: `${team.source}#main: ${short(third)} is waiting for approval, not "${second.slice(0, 14)}".`,
      steps: [{ operation: 'sources_diff', why: 'Review it again' }],
    });
    expect(await ada()).toContain('Version one.');
    await machine.ok(sourcesApprove, { source: 'team', commit: third.slice(0, 12) });
    expect(await ada()).toContain('Version three.');
  });

  it('approves nothing without being told the commit, whatever was looked at (X-09)', async () => {
    const second = await waiting();
    const { answer } = await machine.ok(sourcesDiff);
    const args = { source: `${team.source}#main`, commit: short(second) };
    expect(answer.steps).toMatchObject([{ operation: 'sources_approve', args }]);
    expect(await machine.fail(sourcesApprove)).toMatchObject({
      code: 'invalid_input',
      message: `${team.source}#main: ${short(second)} is waiting. Name the commit that you approve.`,
      steps: [{ operation: 'sources_diff' }, { operation: 'sources_approve', args }],
    });
    await waiting('Version three.');
    expect((await machine.fail(sourcesApprove, args)).code).toBe('not_found');
    expect(await ada()).toContain('Version one.');
  });

  it('does not take a commit for approved when nothing waits', async () => {
    expect(await machine.fail(sourcesApprove, { source: 'team', commit: 'abcdef012345' })).toMatchObject({
      code: 'not_found',
      message: 'Nothing is waiting for approval, so "abcdef012345" cannot be approved.',
      steps: [{ operation: 'sources_update' }],
    });
    expect((await machine.ok(sourcesApprove, { commit: first.slice(0, 12) })).data).toEqual({ approved: [] });
  });

  it.each(['xyz', 'HEAD', 'abcdef0', '--all'])('refuses %s as a commit', async (commit) => {
    expect(await machine.fail(sourcesApprove, { commit })).toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining('"commit" is not valid') as string,
    });
  });

  it('leaves other sources waiting when one is named', async () => {
    const other = await machine.repository('other', { 'agents/kim.md': agentFile('kim') });
    await machine.write(machine.config, `git = ["${other.source}", "${team.source}#main"]\n`);
    await machine.ok(sourcesUpdate);
    const commit = await other.commit({ 'agents/kim.md': agentFile('kim', 'Next') });
    await waiting();
    const { data } = await machine.ok(sourcesApprove, { source: 'other', commit });
    expect(data['approved']).toMatchObject([{ source: other.source }]);
    expect(await ada()).toContain('Version one.');
  });

  it('leaves a lock file alone that cannot be understood', async () => {
    await waiting();
    await machine.write(machine.lock, 'version 1');
    expect((await machine.fail(sourcesApprove)).message).toContain(
      `The lock file ${machine.lock} is not valid`,
    );
    expect(await readFile(machine.lock, 'utf8')).toBe('version 1');
  });
});
