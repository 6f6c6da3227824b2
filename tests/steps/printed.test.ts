import { describe, expect, it } from 'vitest';
import { stepLines, type Step } from '../../src/base/step.ts';
import { asFunctionCall } from '../../src/library/ask.ts';
import { commandLine } from '../../src/operations/offers.ts';
import { toolCall } from '../../src/operations/unified/forms.ts';
import { asRequest } from '../../src/surfaces/http/api/answers.ts';
import {
  stepsForModels,
  stepsForPrograms,
  stepsForRequests,
  stepsForTerminals,
} from '../support/steps/printed.ts';
import { emptySweep, takeSteps } from '../support/steps/sweep.ts';

const steps: readonly Step[] = [
  { operation: 'list', args: { what: 'agents' }, why: 'List the agents' },
  { operation: 'search', open: ['query'], why: 'Search by words' },
  { operation: 'run_checkpoint', args: { run_id: "it's-1", step: 2, produced: ['a b', 'c'] }, why: 'Go on' },
  { operation: 'memory_list', args: { all: true }, why: 'List all' },
];
const lines = (write: Parameters<typeof stepLines>[1]): string =>
  `Nothing (found).\n${stepLines(steps, write).join('\n')}`;

describe('steps that were printed are read back', () => {
  it('for models', () => {
    const found = stepsForModels(lines(toolCall));
    expect(found.map(({ name, args }) => [name, args])).toEqual([
      ['bmad', { operation: 'list', query: 'agents' }],
      ['bmad', { operation: 'search', query: '…' }],
      [
        'manage_project',
        { action: 'run_checkpoint', args: { run_id: "it's-1", step: 2, produced: ['a b', 'c'] } },
      ],
      ['manage_memories', { action: 'list', args: { all: true } }],
    ]);
  });

  it('for models whose host does it by itself', () => {
    const text =
      'A: the tool or the prompt of the agent pm\nB: the prompt of bmm/prd.\nC: the MCP resource bmad://a/b.md.\nD: skills/get {uri:"skill://x"}\nE: bmad sources approve --commit abc (for a person, in a terminal)';
    expect(stepsForModels(text).map(({ kind, name }) => [kind, name])).toEqual([
      ['method', 'skills/get'],
      ['prompt', 'pm'],
      ['prompt', 'bmm/prd'],
      ['resource', 'bmad://a/b.md'],
      ['command', 'sources approve'],
    ]);
  });

  it('for terminals', () => {
    expect(stepsForTerminals(lines(commandLine)).map(({ words }) => words)).toEqual([
      ['list', 'agents'],
      ['search', '…'],
      ['run', 'checkpoint', "it's-1", '--step', '2', '--produced', 'a b,c'],
      ['memory', 'list', '--all'],
    ]);
  });

  it('for requests', () => {
    expect(stepsForRequests(lines(asRequest)).map(({ name, args }) => [name, args])).toEqual([
      ['list', { what: 'agents' }],
      ['search', { query: '…' }],
      ['run_checkpoint', { run_id: "it's-1", step: 2, produced: ['a b', 'c'] }],
      ['memory_list', { all: true }],
    ]);
  });

  it('for programs', () => {
    const functions = { listAgents: 1, search: 1 };
    expect(stepsForPrograms(lines(asFunctionCall), functions).map(({ name, args }) => [name, args])).toEqual([
      ['listAgents', { given: [] }],
      ['search', { given: ['…'] }],
    ]);
  });

  it('and one that leads nowhere is reported', async () => {
    const swept = emptySweep();
    const surface = {
      name: 'a surface',
      stepsIn: stepsForTerminals,
      take: async ({ name }: { name: string }) => (name === 'doctor' ? 'not_found' : undefined),
    };
    await takeSteps(surface, 'Look: bmad doctor\nOr: bmad next', 'list {}', swept);
    expect(swept.taken.size).toBe(2);
    expect(swept.nowhere).toEqual(['a surface: bmad doctor\n  not_found\n  printed by list {}']);
  });
});
