import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createTurns } from '../../src/base/http/turns.ts';
import { execute } from '../../src/operations/execute.ts';
import { namedOperation } from '../../src/operations/offers.ts';
import { contextIn, temporaryFolder, testCall } from '../support/app.ts';
import { writeFiles } from '../support/folders.ts';
import { rounds } from '../support/how-much.ts';

const workflows = Array.from({ length: rounds(100, 300) }, (_, index) => [
  `_bmad/bmm/workflows/make-${index}/workflow.md`,
  `---\nname: make-${index}\ndescription: "Makes thing ${index}: a plan, a review and a test of it"\n---\n\n# Make\n`,
]);

it('a polite call is answered while twenty searches of another caller wait (R-03)', async () => {
  const folder = await temporaryFolder(afterAll);
  await writeFiles(join(folder, 'project'), {
    '_bmad/_config/manifest.yaml': 'installation:\n  version: 6.0.4\nmodules:\n  - bmm\n',
    ...(Object.fromEntries(workflows) as Record<string, string>),
  });
  const context = { ...(await contextIn(join(folder, 'project'))), turn: createTurns().call };
  const [search, start] = [await namedOperation('search'), await namedOperation('execute')];
  const order: string[] = [];
  const asks = async (caller: string, words: string): Promise<void> => {
    const outcome = await execute(search, { query: words }, context, { ...testCall(), caller });
    order.push(outcome.ok ? caller : outcome.error.code);
  };
  const starts = async (): Promise<void> => {
    const call = { ...testCall(), caller: 'polite' };
    const { ok } = await execute(start, { name: 'make-7', kind: 'workflow' }, context, call);
    order.push(ok ? 'polite' : 'refused');
  };
  await asks('first', 'plan');
  await starts();
  order.length = 0;
  const searches = Array.from({ length: 20 }, (_, index) => asks('greedy', `review thing ${index}`));
  await Promise.all([...searches, starts()]);
  expect(order.filter((name) => name === 'greedy')).toHaveLength(20);
  // Behind what had begun, not behind all that was asked.
  expect(order.indexOf('polite')).toBeLessThan(10);
});

it('a first search that was cancelled stops, and the next one finds all there is (R-07)', async () => {
  const folder = await temporaryFolder(afterAll);
  await writeFiles(join(folder, 'project'), {
    '_bmad/_config/manifest.yaml': 'installation:\n  version: 6.0.4\nmodules:\n  - bmm\n',
    ...(Object.fromEntries(workflows) as Record<string, string>),
  });
  const context = await contextIn(join(folder, 'project'));
  const search = await namedOperation('search');
  await context.workspace();
  const leaving = new AbortController();
  const given = execute(search, { query: 'review of a plan' }, context, {
    ...testCall(),
    signal: leaving.signal,
  });
  setImmediate(() => leaving.abort());
  expect(await given).toMatchObject({ ok: false, error: { code: 'cancelled' } });
  const found = await execute(search, { query: 'make-7', limit: 1 }, context, testCall());
  expect(found).toMatchObject({ ok: true, data: { items: [{ name: 'make-7' }] } });
});
