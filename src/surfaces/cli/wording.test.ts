import { describe, expect, it } from 'vitest';
import { operations } from '../../operations/index.ts';
import { inTerminalWords } from './wording.ts';

describe('answers in a terminal', () => {
  it.each([
    ['Start it with {operation:"execute", workflow:"prd"}.', 'Start it with "bmad execute prd".'],
    ['{operation:"execute", workflow:"bmm/prd", run_id:"prd-1"}', '"bmad execute bmm/prd --run-id prd-1"'],
    [
      '{operation:"execute", agent:"dev", message:"*review-qa docs/1.2.md"}',
      '"bmad execute dev \'*review-qa docs/1.2.md\'"',
    ],
    [
      String.raw`{operation:"execute", message:"say \"no\", it's ours", workflow:"prd"}`,
      String.raw`"bmad execute prd 'say "no", it'\''s ours'"`,
    ],
    [String.raw`{operation:"read", uri:"C:\xeno"}`, String.raw`"bmad read 'C:\xeno'"`],
    ['task_claim takes it, then task_complete.', '"bmad task claim" takes it, then "bmad task complete".'],
    ['run_open opens one; list_sessions shows all.', '"bmad run open" opens one; list_sessions shows all.'],
    [
      'Now delivery_accept {contract_id:"vision-to-build-2026-11-15", by:"Ada Field"}.',
      'Now "bmad delivery accept vision-to-build-2026-11-15 --by \'Ada Field\'".',
    ],
    ['Do reconcile_ledgers {apply:true, proposal:"a1"}', 'Do "bmad project reconcile --apply --proposal a1"'],
    ['task_list {status:"all"} shows them.', '"bmad task list --status all" shows them.'],
    ['Go on with cursor "t1-2".', 'Go on with --cursor t1-2.'],
    [
      'NOT EXECUTED: the client offers no model to ask (no sampling). To queue it: spawn_subagent_task.',
      'NOT EXECUTED: a terminal has no model to ask. To queue it: "bmad task add".',
    ],
    ['my_task_claimed run_id', 'my_task_claimed run_id'],
  ])('%s', (text, expected) => {
    expect(inTerminalWords(text)).toBe(expected);
  });

  it('name every companion by its command', () => {
    const companions = operations.filter(
      ({ toolset, command }) => toolset === undefined && command?.includes(' '),
    );
    expect(companions.length).toBeGreaterThan(30);
    for (const { name, command } of companions.filter((operation) => operation.name.includes('_')))
      expect(inTerminalWords(`Use ${name}.`)).toBe(`Use "bmad ${command ?? ''}".`);
  });
});
