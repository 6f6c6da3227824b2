import { execute } from '../../src/operations/execute.ts';
import { logFailure } from '../../src/operations/project/failures.ts';
import { logHandoff } from '../../src/operations/project/logs.ts';
import { logDecision, logLearning } from '../../src/operations/memory/remember.ts';
import type { AnyOperation } from '../../src/operations/operation.ts';
import { contextIn, testCall } from '../support/app.ts';

/**
 * A process that logs decisions, learnings, failures and handoffs in turn, and says on standard output which it has been
 * told are kept: `log-writer FOLDER NAME COUNT`.
 */
const [folder = '', name = '', count = '0'] = process.argv.slice(2);
const context = await contextIn(folder, { flags: { embedder: 'none' } });

const turns: readonly ((text: string) => [AnyOperation, object])[] = [
  (text) => [logDecision, { text, agent: 'dev' }],
  (text) => [logLearning, { text, agent: 'architect' }],
  (text) => [logFailure, { title: text, category: 'CC-FAIL', severity: 'critical', agent: 'dev' }],
  (text) => [logHandoff, { from: 'dev', to: 'qa', summary: text }],
];

for (let index = 0; index < Number(count); index += 1) {
  const text = `Entry ${index} written by ${name}`;
  const [operation, input] = turns[index % turns.length]?.(text) ?? [logDecision, {}];
  const outcome = await execute(operation, input, context, testCall());
  if (!outcome.ok) throw new Error(`${operation.name}: ${outcome.error.text}`);
  // The entries are alike on purpose; everything else that is told would be a file that was not written.
  const notes = (outcome.data['notes'] as string[]).filter((note) => !/^(?:Near|May)/.test(note));
  if (notes.length > 0) throw new Error(`${operation.name}: ${notes.join(' ')}`);
  process.stdout.write(`${text}\n`);
}
context.close();
