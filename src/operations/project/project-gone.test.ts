import { rm, stat } from 'node:fs/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { writeFiles } from '../../../tests/support/folders.ts';
import { KIT_FILES } from '../../../tests/support/kit-project.ts';
import { openSession } from '../../../tests/support/operations.ts';
import { runCompletionContract } from '../completion/completion.ts';
import { recallStructured } from '../memory/recall-structured.ts';
import { rememberStructured } from '../memory/remember.ts';
import { runOpen } from '../runs/run-operations.ts';
import { spawnSubagentTask } from '../tasks/tasks.ts';
import { logFailure } from './failures.ts';
import type { AnyOperation } from '../operation.ts';

const CALLS: [AnyOperation, object][] = [
  [runCompletionContract, {}],
  [rememberStructured, { type: 'decisions', agent: 'dev', text: 'Written into nothing at all' }],
  [recallStructured, { query: 'anything' }],
  [runOpen, { workflow: 'create-prd' }],
  [spawnSubagentTask, { agent: 'dev', task: 'Review the cart', output_key: 'review' }],
  [logFailure, { category: 'CC-FAIL', title: 'It broke', description: 'It broke at work' }],
];

describe('a project folder that is deleted while it is served', () => {
  it.each(CALLS.map(([operation, input]) => [operation.name, operation, input] as const))(
    'is not made again by %s, which says so (R-10)',
    async (_name, operation, input) => {
      const session = await openSession(afterAll, {
        flags: { embedder: 'none' },
        home: '/nonexistent-home',
      });
      await writeFiles(session.folder, KIT_FILES);
      await session.ok(recallStructured, { query: 'Redis' });
      await rm(session.folder, { recursive: true });
      const error = await session.fail(operation, input);
      expect(error.message).toBe(`The project folder ${session.folder} no longer exists.`);
      expect(error.hint).toContain('Restore the folder');
      await expect(stat(session.folder)).rejects.toThrow('ENOENT');
      session.close();
    },
  );
});
