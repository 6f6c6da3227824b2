import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { contractSession, KIT_LIKE_SCRIPT, SCRIPT_PATH } from '../../../tests/support/contract-project.ts';
import { contextIn, homeBeside, testCall } from '../../../tests/support/app.ts';
import { receiptsOf } from '../../../tests/support/kit.ts';
import { saidIn } from '../../../tests/support/operations.ts';
import { ledger, v4Story } from '../../../tests/support/progress-trees/pieces.ts';
import { spec } from '../../../tests/support/progress-trees/reviews.ts';
import { addReceipt } from '../../services/completion/receipts.ts';
import { execute } from '../execute.ts';
import type { Answer } from '../operation.ts';
import { runCompletionContract } from '../completion/completion.ts';
import { activate } from '../activation/activate.ts';
import { next } from './next.ts';

const LEDGER = '_bmad-output/implementation-artifacts/sprint-status.yaml';
const SPEC = '_bmad-output/implementation-artifacts/spec-1-1-setup.md';

const built = {
  [LEDGER]: ledger({ 'epic-1': 'in-progress', '1-1-setup': 'review', '1-2-login': 'backlog' }),
  [SPEC]: spec('done'),
  [SCRIPT_PATH]: KIT_LIKE_SCRIPT,
  '.verify/go': 'go test ./...|tests OK\n',
};
const NOTHING = 'Nothing has been verified: ';
const RUN = 'run_completion_contract {}';
const whole = (answer: Answer): string => `${answer.body}\n${saidIn(answer)}`;

/** A failure as the contract leaves it, without a run of it. */
async function failure(folder: string): Promise<void> {
  const state = join(homeBeside(folder), '.local/state/bmad-mcp-server');
  const now = new Date().toISOString();
  await addReceipt(await receiptsOf(folder, state), {
    status: 'FAIL',
    reason: 'Because',
    contract: { kind: 'builtin', version: 1 },
    directory: '.',
    stack: 'auto',
    stacks: ['go'],
    steps: [],
    timed_out: false,
    started: now,
    ended: now,
    duration_ms: 1,
    tree: { digest: 'c'.repeat(64), files: 1, listed: 'walk', left_out: 0 },
  });
}

describe.skipIf(process.platform === 'win32')('what next says of verification', () => {
  it('is that there was none, until the contract has run, and then what it said', async () => {
    const { ok, folder } = await contractSession(afterAll, built);
    const before = await ok(next);
    expect(before.answer.body).toContain(`${NOTHING}the completion contract has not been run.`);
    expect(before.answer.body).toContain(
      'A story is done when its review passes, and proven when the completion contract passes.',
    );
    expect(whole(before.answer)).toContain(RUN);
    expect((await ok(next, { detail: 'brief' })).answer.body).toContain(NOTHING);
    await failure(folder);
    const failed = await ok(next);
    expect(failed.answer.body).toMatch(
      /The last verification failed \(\S+\): repair it and run the contract again\./,
    );
    expect(whole(failed.answer)).toContain(RUN);
    await ok(runCompletionContract);
    const after = await ok(next);
    expect(after.data['verification']).toMatchObject({ verdict: 'PASS' });
    expect(after.answer.body).not.toMatch(/verified|verification/i);
    expect((await ok(next, { detail: 'full' })).answer.body).toContain(': contract PASS (');
  });

  it('names the person it waits for, and the one step that person takes', async () => {
    const { ok, folder } = await contractSession(afterAll, built, { flags: { trustProject: 'false' } });
    const { answer, data } = await ok(next);
    expect(answer.body).toContain(`${NOTHING}only the user can allow the completion contract, so tell them.`);
    expect(data['verification']).toMatchObject({ contract: 'waits for a person' });
    expect(answer.steps).toContainEqual({
      operation: 'trust',
      args: { folder },
      why: 'To allow it, for the user; then call this again',
    });
    expect(saidIn(answer)).not.toContain(RUN);
    // At a command line the reader may be that person.
    const typed = await execute(next, {}, await contextIn(folder, { env: { PATH: process.env['PATH'] } }), {
      ...testCall(),
      typed: true,
    });
    if (!typed.ok) throw typed.error;
    expect(typed.answer.body).toContain(`${NOTHING}only a person can allow the completion contract.`);
    expect(saidIn(typed.answer)).not.toContain('tell them');
    // Where the host can ask the user, the call itself does.
    const context = await contextIn(folder, { env: { PATH: process.env['PATH'] } });
    const call = { ...testCall(), confirm: () => Promise.resolve({ yes: true as const }) };
    const asked = await execute(next, {}, context, call);
    if (!asked.ok) throw asked.error;
    expect(asked.answer.body).toContain('the user is asked when the completion contract is called');
    expect(whole(asked.answer)).toContain(RUN);
  });

  it('tells what forbids it, and where there is nothing to run', async () => {
    const { ok } = await contractSession(afterAll, built, {
      flags: { trustProject: 'false', trust: 'never' },
    });
    const forbidden = await ok(next);
    expect(forbidden.answer.body).toContain('the setting trust is "never"');
    expect(saidIn(forbidden.answer)).not.toContain(RUN);
    const { [LEDGER]: rows = '', [SPEC]: text = '' } = built;
    const empty = await contractSession(afterAll, { [LEDGER]: rows, [SPEC]: text });
    expect((await empty.ok(next)).answer.body).toContain(
      `${NOTHING}there is no contract script, and no stack`,
    );
  });

  it('is one rule for a story whose gate has passed: it is set to done, and proven by PASS', async () => {
    const gated = {
      '.bmad-core/core-config.yaml': 'qa:\n  qaLocation: docs/qa\ndevStoryLocation: docs/stories\n',
      'docs/stories/1.1.setup.md': v4Story('1.1', 'Ready for Review'),
      'docs/qa/gates/1.1-setup.yml': 'schema: 1\nstory: "1.1"\ngate: PASS\n',
      [SCRIPT_PATH]: KIT_LIKE_SCRIPT,
      '.verify/go': 'go test ./...|tests OK\n',
    };
    const may = await (await contractSession(afterAll, gated)).ok(next);
    const rule =
      "By BMAD's own rule, the gate PASS of story 1.1 is enough to set it to Done; it is proven when the completion contract passes.";
    expect(may.answer.body).toContain(rule);
    const waits = await contractSession(afterAll, gated, { flags: { trustProject: 'false' } });
    const { answer, data } = await waits.ok(next);
    expect(answer.body).toContain(rule);
    expect(answer.body).toContain('Set story 1.1 to Done: its gate says PASS');
    expect(answer.body).not.toMatch(/waiting for review|first the review|unticked/);
    expect(data['totals']).toMatchObject({ stories: 1, done: 0, waiting_for_review: 0 });
  });

  it('names what a review has left open, though its gate has passed', async () => {
    const { ok } = await contractSession(afterAll, {
      '.bmad-core/core-config.yaml': 'qa:\n  qaLocation: docs/qa\ndevStoryLocation: docs/stories\n',
      'docs/stories/1.1.setup.md': `${v4Story('1.1', 'Review')}\n## QA Results\n\n- [x] Tests\n- [ ] \`add\` writes no id\n`,
      'docs/qa/gates/1.1-setup.yml': 'schema: 1\nstory: "1.1"\ngate: PASS\n',
    });
    expect((await ok(next)).answer.body).toContain(
      'but the review left 1 item unticked; settle that first\n   Once the owner agrees: manage_project {action:"story_status", args:{story:"1.1", status:"Done"}}',
    );
  });

  it('is nothing while no story is built', async () => {
    const { ok } = await contractSession(afterAll, {
      [LEDGER]: ledger({ 'epic-1': 'in-progress', '1-1-setup': 'ready-for-dev' }),
    });
    const { data, answer } = await ok(next);
    expect(data['verification']).toBeUndefined();
    expect(answer.body).not.toMatch(/verified|verification/i);
  });

  it('is before that only what the user can allow already, and that there is no story where code is built without one', async () => {
    const planned = {
      ...built,
      [LEDGER]: ledger({ 'epic-1': 'backlog', '1-1-setup': 'backlog' }),
      [SPEC]: '',
    };
    const { ok, folder } = await contractSession(afterAll, planned, { flags: { trustProject: 'false' } });
    const { answer } = await ok(next);
    expect(answer.body).toContain(
      'Only the user can allow the completion contract, which proves that a story is done, so tell them now.',
    );
    expect(answer.steps).toContainEqual(expect.objectContaining({ operation: 'trust', args: { folder } }));
    expect(answer.body).not.toContain(NOTHING);
    const alone = await contractSession(afterAll, {
      '_bmad-output/implementation-artifacts/spec-greeting.md': spec('done'),
    });
    expect((await alone.ok(next)).answer.body).toMatch(/^implementation complete\n/);
  });

  it('is said by next, and put before no text of BMAD', async () => {
    const asked = await contractSession(afterAll, built, { flags: { trustProject: 'false' } });
    expect((await asked.ok(next)).answer.body).toContain('proven when the completion contract passes');
    for (const name of ['code-review', 'bmad-help'])
      expect((await asked.ok(activate, { name })).answer.body).toMatch(/^# /);
  });
});
