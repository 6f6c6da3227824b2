import { afterAll, describe, expect, it } from 'vitest';
import { writeFiles } from '../support/folders.ts';
import { openSession } from '../support/operations.ts';
import { ledger } from '../support/progress-trees/pieces.ts';
import { spec } from '../support/progress-trees/reviews.ts';
import { activate } from '../../src/operations/activation/activate.ts';

const IMPL = '_bmad-output/implementation-artifacts';
const BASE = 'a1b2c3d4e5f60718293a4b5c6d7e8f9001122334';

const withBase = (text: string): string => text.replace('---\n', `---\nbaseline_commit: '${BASE}'\n`);

describe('the story that a message names', () => {
  it('is an input of the review, with what to compare with', async () => {
    const { ok, folder } = await openSession(afterAll);
    const inputs = async (name: string, message?: string): Promise<string> => {
      const { answer } = await ok(activate, { name, ...(message === undefined ? {} : { message }) });
      return /^- story: .*$/m.exec(answer.body)?.[0] ?? 'none';
    };
    await writeFiles(folder, {
      [`${IMPL}/sprint-status.yaml`]: ledger({
        'epic-1': 'in-progress',
        '1-1-setup': 'review',
        '1-2-login': 'review',
        '1-3-cart': 'ready-for-dev',
        '1-4-pay': 'backlog',
      }),
      [`${IMPL}/spec-1-1-setup.md`]: withBase(spec('done')),
      [`${IMPL}/spec-1-2-login.md`]: spec('done'),
      [`${IMPL}/spec-1-3-cart.md`]: spec('ready-for-dev'),
    });
    expect(await inputs('code-review', '1.1')).toBe(
      `- story: ${IMPL}/spec-1-1-setup.md (review in the ledger, done by its build, compare with baseline_commit ${BASE})`,
    );
    expect(await inputs('code-review', 'Review 1-2-login, please.')).toBe(
      `- story: ${IMPL}/spec-1-2-login.md (review in the ledger, done by its build, it names no baseline_commit: ask what to compare with)`,
    );
    expect(await inputs('build', '1-3-cart')).toBe(`- story: ${IMPL}/spec-1-3-cart.md (ready-for-dev)`);
    expect((await ok(activate, { name: 'build', message: '1.3' })).answer.body).toContain(
      '- `story_key`: 1-3-cart\n',
    );
    expect(await inputs('build', 'Build story 9.9.')).toContain('no story has the number 9.9');
    // What is not there yet is what this one writes.
    expect(await inputs('create-story', 'story 9.9')).not.toContain('no story has the number');
    // What is no work on a story has none.
    expect(await inputs('prd', '1.1')).toBe('none');
  });

  it('is no other than that, and none where the message names none (J-E1)', async () => {
    const { ok, folder } = await openSession(afterAll);
    await writeFiles(folder, {
      [`${IMPL}/sprint-status.yaml`]: ledger({ 'epic-1': 'in-progress', '1-1-log-in': 'ready-for-dev' }),
      [`${IMPL}/spec-1-1-log-in.md`]: spec('ready-for-dev'),
    });
    for (const message of [
      undefined,
      'fix the typo in README.md',
      'add a search command',
      'gh-47 crash on empty file',
      'rewrite the tool in Rust',
      'fix the log in page',
    ])
      for (const name of ['build', 'code-review', 'create-story']) {
        const { answer } = await ok(activate, { name, ...(message === undefined ? {} : { message }) });
        expect(answer.body, message).not.toMatch(/^- (?:story|`story_key`): /m);
      }
  });
});
