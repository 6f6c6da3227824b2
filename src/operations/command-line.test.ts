import { describe, expect, it } from 'vitest';
import type { Step } from '../base/step.ts';
import { commandLine } from './offers.ts';

describe('a step, as a command line', () => {
  it.each<[Omit<Step, 'why'>, string | undefined]>([
    [{ operation: 'execute', args: { name: 'prd', kind: 'workflow' } }, 'bmad execute prd'],
    [
      { operation: 'execute', args: { name: 'bmm/prd', run_id: 'prd-1' } },
      'bmad execute bmm/prd --run-id prd-1',
    ],
    [
      { operation: 'execute', args: { message: `say "no", it's ours`, name: 'prd' } },
      String.raw`bmad execute prd 'say "no", it'\''s ours'`,
    ],
    [{ operation: 'read', args: { target: String.raw`C:\xeno` } }, String.raw`bmad read 'C:\xeno'`],
    [{ operation: 'search', open: ['query'] }, 'bmad search …'],
    [{ operation: 'doctor', args: { handshake: false } }, 'bmad doctor --no-handshake'],
    [
      { operation: 'memory_list', args: { all: true, tags: ['a', 'b'] } },
      "bmad memory list --all --tags 'a,b'",
    ],
    [{ operation: 'sources_approve', args: { source: undefined } }, 'bmad sources approve'],
    [{ operation: 'list_prompts' }, undefined],
  ])('%j', (step, expected) => {
    expect(commandLine({ ...step, why: '' })).toBe(expected);
  });
});
