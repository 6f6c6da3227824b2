import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import type { Context } from '../../src/operations/context.ts';
import { contextIn, temporaryFolder, withWatch } from '../support/app.ts';
import { writeFiles } from '../support/folders.ts';
import { agentText, workflowText, writeTree } from '../support/generated-tree.ts';
import { rounds } from '../support/how-much.ts';

const run = promisify(execFile);
const IDENTITY = ['-c', 'user.name=Test', '-c', 'user.email=test@example.org', '-c', 'commit.gpgsign=false'];

/** How many files are other ones on the other branch: a third is new, a third gone, and a third has another text. */
const CHANGED = rounds(150, 1_000);

/** A project with two branches, whose content has so many files that are not the same. */
async function project(): Promise<{ folder: string; checkout(branch: string): Promise<unknown> }> {
  const folder = await temporaryFolder(afterAll);
  const git = (...args: string[]) => run('git', [...IDENTITY, ...args], { cwd: folder });
  const third = Math.ceil(CHANGED / 3);
  await writeTree(folder, 2 * third);
  await git('init', '--quiet', '--initial-branch=main');
  await git('add', '.');
  await git('commit', '--quiet', '--message=one');
  await git('checkout', '--quiet', '-b', 'other');
  const flow = (at: number): string => `_bmad/bmm/workflows/flow-${at}`;
  const files: Record<string, string> = { '_bmad/bmm/agents/agent-0.md': agentText('agent-0', 'Other') };
  for (let at = 0; at < third; at += 1) {
    files[`${flow(at)}/workflow.md`] = workflowText(`flow-${at}`, 'Other');
    files[`_bmad/bmm/workflows/new-${at}/workflow.md`] = workflowText(`new-${at}`, 'New');
    await rm(join(folder, flow(third + at), 'workflow.md'));
  }
  await writeFiles(folder, files);
  await git('add', '--all');
  await git('commit', '--quiet', '--message=two');
  return { folder, checkout: (branch) => git('checkout', '--quiet', branch) };
}

async function served(context: Context): Promise<string[]> {
  const { catalogue } = await context.workspace();
  const files = await catalogue.files.all();
  return [
    ...catalogue.winners.map(({ kind, name, description }) => `${kind} ${name} ${description}`),
    ...files.keys(),
  ];
}

it('the call after a checkout of many files is answered from that branch, with a watch and without', async () => {
  const { folder, checkout } = await project();
  const flags = { discovery: 'local' };
  const running = await contextIn(folder, { flags });
  const watching = await withWatch(await contextIn(folder, { flags }), onTestFinished);
  for (const branch of ['main', 'other', 'main', 'other']) {
    await checkout(branch);
    const told = [await served(watching), await served(running)];
    const fresh = await served(await contextIn(folder, { flags }));
    expect(fresh.some((one) => one.includes('new-0'))).toBe(branch === 'other');
    for (const one of told) expect(one, branch).toEqual(fresh);
  }
});
