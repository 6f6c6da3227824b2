import { describe, expect, it, onTestFinished } from 'vitest';
import { compileContext } from '../../src/operations/activation/compile-context.ts';
import { logLearning } from '../../src/operations/memory/remember.ts';
import { type ContextData, getProjectContext } from '../../src/operations/project/project-context.ts';
import { next } from '../../src/operations/project/next.ts';
import { getWorkflowStatus } from '../../src/operations/runs/workflow-status.ts';
import { KIT_FILES } from '../support/kit-project.ts';
import { GRIMOIRE_FILES, WEB_CONTEXT } from '../support/kit-trees.ts';
import { memorySession } from '../support/memory-session.ts';
import { TEXT } from '../support/progress-trees/pieces.ts';
import { RUN_FILES } from '../support/run-project.ts';

interface Next {
  actions: { what: string; says?: string }[];
}

const DOCUMENTS = { '_bmad-output/planning-artifacts/architecture.md': `# Architecture\n\n${TEXT}` };
const PROJECTS: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ['the kit', { ...KIT_FILES, ...DOCUMENTS, '_bmad/_memory/shared-context.md': WEB_CONTEXT }],
  ['the other family', { ...GRIMOIRE_FILES, ...DOCUMENTS }],
  ['a project with runs', { ...RUN_FILES, ...DOCUMENTS }],
];

describe('what exists in a project', () => {
  it.each(PROJECTS)('is the same in all answers about %s (M-47, M-51, M-59)', async (_, files) => {
    const session = await memorySession(onTestFinished, { files });
    const learned = 'Pagination of the invoices starts at one';
    await session.ok(logLearning, { agent: 'dev', text: learned });
    await session.remember('decisions', 'architect', 'Orders are kept in one table');
    const known = (await session.ok(getProjectContext)).data as unknown as ContextData;
    const told = (await session.ok(next)).data as unknown as Next;
    const open = [...(known.agents?.requests ?? []), ...(known.agents?.handoffs ?? [])];
    const begun = (start: string) => told.actions.filter(({ what }) => what.startsWith(start));
    expect(begun('Settle request ').map(({ what }) => what.split(' ')[2])).toEqual(
      open.filter(({ done }) => !done).map(({ id }) => id),
    );
    expect(begun('Continue from the last session')[0]?.says).toEqual(known.session?.next);
    expect(known.decisions?.map(({ text }) => text)).toContain('Orders are kept in one table');
    expect(known.documents).toContainEqual({
      kind: 'architecture',
      path: '_bmad-output/planning-artifacts/architecture.md',
      state: 'complete',
    });
    const given = await session.ok(compileContext, { name: 'dev', message: 'Orders', budget: 9_000 });
    for (const text of [learned, 'Orders are kept in one table', 'sells plants'])
      expect(given.answer.body).toContain(text);
    const { run } = (await session.ok(getWorkflowStatus)).data as {
      run?: { run_id: string; status: string; aside?: unknown };
    };
    const resumed = told.actions.some(({ what }) => what === `Resume run ${run?.run_id ?? ''}`);
    expect(resumed).toBe(run?.status === 'running' && run.aside === undefined);
  });
});
