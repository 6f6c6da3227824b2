import { afterAll, describe, expect, it } from 'vitest';
import { writeFiles } from '../support/folders.ts';
import { openSession } from '../support/operations.ts';
import { EPICS, ledger } from '../support/progress-trees/pieces.ts';
import { spec } from '../support/progress-trees/reviews.ts';
import { progressProject } from '../support/progress-project.ts';
import { contextIn, testCall } from '../support/app.ts';
import { execute } from '../../src/operations/execute.ts';
import { activate } from '../../src/operations/activation/activate.ts';

const IMPL = '_bmad-output/implementation-artifacts';
const BASE = 'a1b2c3d4e5f60718293a4b5c6d7e8f9001122334';

const withBase = (text: string): string => text.replace('---\n', `---\nbaseline_commit: '${BASE}'\n`);

describe('the story that a workflow is for', () => {
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
    expect(await inputs('code-review')).toBe(
      `- story: ${IMPL}/spec-1-1-setup.md (review in the ledger, done by its build, compare with baseline_commit ${BASE}); 1 other story is as far`,
    );
    expect(await inputs('code-review', 'Review 1-2-login, please.')).toBe(
      `- story: ${IMPL}/spec-1-2-login.md (review in the ledger, done by its build, no baseline_commit in it: ask what to compare with)`,
    );
    expect(await inputs('build')).toBe(`- story: ${IMPL}/spec-1-3-cart.md (ready-for-dev)`);
    expect(await inputs('build', 'Build story 9.9.')).toContain('none has the number 9.9');
    // What is not there yet is what this one writes.
    expect(await inputs('create-story', 'story 9.9')).not.toContain('none has the number');
    // What is no work on a story has none.
    expect(await inputs('prd')).toBe('none');
    await writeFiles(folder, { [`${IMPL}/sprint-status.yaml`]: ledger({ '1-1-setup': 'done' }) });
    await writeFiles(folder, { [`${IMPL}/spec-1-2-login.md`]: spec('in-review') });
    expect(await inputs('code-review')).toBe('none');
  });
});

describe.each([
  {
    install: '6.0.4' as const,
    files: {
      '_bmad-output/planning-artifacts/epics.md': EPICS,
      [`${IMPL}/sprint-status.yaml`]: ledger({
        'epic-1': 'in-progress',
        '1-1-setup': 'review',
        '1-2-login': 'backlog',
      }),
      [`${IMPL}/1-1-setup.md`]: '# Story 1.1: Setup\n\nStatus: review\n\n## Tasks\n\n- [x] One\n',
    },
    wanted: {
      'code-review': `- story: ${IMPL}/1-1-setup.md (review)`,
      'create-story': '- story: 1-2-login, planned in _bmad-output/planning-artifacts/epics.md:9',
      'dev-story': 'none',
    },
  },
  {
    install: '4.44.3' as const,
    files: {
      'docs/stories/1.1.setup.md': '# Story 1.1: Setup\n\n## Status\n\nReady for Review\n',
      'docs/prd/epic-1-base.md': '# Epic 1: Base\n\n## Story 1.1: Setup\n\n## Story 1.2: Login\n\nText.\n',
    },
    wanted: {
      'review-story': '- story: docs/stories/1.1.setup.md (review)',
      'create-next-story':
        '- story: 1.2, planned in docs/prd/epic-1-base.md:5; write it to docs/stories/1.2.story.md',
    },
  },
])('in a project of $install', async ({ install, files, wanted }) => {
  const { folder, fill } = await progressProject(afterAll, install);
  const context = await contextIn(folder);

  it('is found as next finds it', async () => {
    await fill(files);
    const found: Record<string, string> = {};
    for (const name of Object.keys(wanted)) {
      const outcome = await execute(activate, { name }, context, testCall());
      if (!outcome.ok) throw outcome.error;
      found[name] = /^- story: .*$/m.exec(outcome.answer.body)?.[0] ?? 'none';
    }
    expect(found).toEqual(wanted);
  });
});
