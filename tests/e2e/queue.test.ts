import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/app.ts';
import { startHttpServer } from '../support/http-server.ts';
import { parseMetrics } from '../support/prometheus.ts';
import { rounds } from '../support/how-much.ts';

const COUNT = rounds(30, 100);

it(`makes ${COUNT} changes that come at once, and counts the tasks that are open`, async () => {
  const cwd = await temporaryFolder(onTestFinished);
  await mkdir(join(cwd, '_bmad'));
  const server = await startHttpServer({ cwd, home: await temporaryFolder(onTestFinished) });
  onTestFinished(async () => void (await server.stop()));
  const { origin } = new URL(server.url);
  const figures = async () => parseMetrics(await (await fetch(`${origin}/metrics`)).text());
  expect((await figures()).get('bmad_tasks_open')?.value({})).toBe(0);
  const answers = await Promise.all(
    Array.from({ length: COUNT }, (_, index) =>
      fetch(`${origin}/api/spawn_subagent_task`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ agent: 'dev', task: `Compare ${index}`, output_key: `out-${index}` }),
      }).then(async (answer) => ({ status: answer.status, text: await answer.text() })),
    ),
  );
  expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
  const after = await figures();
  expect(after.get('bmad_tasks_open')?.value({})).toBe(COUNT);
  expect(after.get('bmad_task_oldest_seconds')?.value({})).toBeGreaterThan(0);
  expect(after.get('bmad_changes_waiting')?.value({})).toBe(0);
  const made = { operation: 'spawn_subagent_task', status: 'ok', caller: 'anonymous' };
  expect(after.get('bmad_caller_calls_total')?.value(made)).toBe(COUNT);
});
