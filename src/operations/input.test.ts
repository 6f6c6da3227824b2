import { describe, expect, it } from 'vitest';
import { BmadError } from '../base/errors.ts';
import { operations } from './index.ts';
import { checkedInput } from './input.ts';
import { logDecision } from './memory/remember.ts';
import { search } from './catalogue/search.ts';
import { recallStructured } from './memory/recall-structured.ts';
import { runCheckpoint, saveSession } from './runs/run-operations.ts';
import { executeWorkflow } from './activation/activate.ts';
import type { AnyOperation } from './operation.ts';

function complaintOf(operation: AnyOperation, raw: unknown): string {
  try {
    checkedInput(operation, raw);
    return '';
  } catch (error) {
    if (error instanceof BmadError) return error.message;
    throw error;
  }
}

describe('what is wrong with an argument', () => {
  it.each([
    [recallStructured, { query: '' }, 'recall_structured: "query" must not be empty.'],
    [recallStructured, { query: 'x', limit: 400 }, 'recall_structured: "limit" must be at most 50, not 400.'],
    [recallStructured, { query: 'x', limit: 0 }, 'recall_structured: "limit" must be at least 1, not 0.'],
    [recallStructured, { query: 3 }, 'recall_structured: "query" must be text, not 3.'],
    [recallStructured, {}, 'recall_structured: "query" is missing.'],
    [recallStructured, { query: 'x', size: 1 }, 'recall_structured: there is no argument "size".'],
    [recallStructured, 'x', 'recall_structured: the arguments must be an object, not "x".'],
    [
      runCheckpoint,
      { run_id: 'x', step: 'two' },
      'run_checkpoint: "step" is not valid: "two". Expected a whole number, or the name of a step such as "step-02b-vision".',
    ],
    [
      runCheckpoint,
      { run_id: 'x', step: 1, notes: { a: 1 } },
      'run_checkpoint: "notes" is not valid: an object. Expected a text, or a list of texts.',
    ],
    [
      runCheckpoint,
      { run_id: 'x', total_steps: 'two' },
      'run_checkpoint: "total_steps" must be a number, not "two".',
    ],
    [
      runCheckpoint,
      { run_id: 'x', total_steps: 1.5 },
      'run_checkpoint: "total_steps" must be a whole number, not 1.5.',
    ],
  ])('is said in a plain sentence (M-33): %#', (operation, raw, message) => {
    expect(complaintOf(operation, raw)).toBe(message);
  });

  it('names a few of very many names, and checks none of them (S-09)', () => {
    const many = Object.fromEntries(Array.from({ length: 300_000 }, (_, at) => [`k${at}`, at]));
    // Had they been checked, the argument that is missing would have been named.
    expect(complaintOf(recallStructured, many)).toBe(
      'recall_structured: there is no argument "k0", "k1", "k2", "k3", "k4" and 299995 more.',
    );
  });

  it('names the values that are possible', () => {
    expect(complaintOf(recallStructured, { query: 'x', type: 'decisons' })).toMatch(
      /^recall_structured: "type" must be one of .*decisions.*, not "decisons"\.$/,
    );
  });

  it.each([
    ['decision', 'decisions'],
    ['Story', 'stories'],
    ['learning', 'agent-learnings'],
    ['shared context', 'shared-context'],
  ])('takes %s for %s, the one choice that is the same word (M-60)', (said, meant) => {
    expect(checkedInput(recallStructured, { query: 'x', type: said })['type']).toBe(meant);
  });

  it.each([
    ['999', '"limit" must be at most 200, not 999'],
    ['0', '"limit" must be at least 1, not 0'],
    ['1.5', 'whole'],
    ['many', 'number'],
  ])('says of the number %s what is wrong with it, also where it came as text (D-7)', (limit, said) => {
    expect(complaintOf(search, { query: 'x', limit })).toContain(said);
    expect(complaintOf(search, { query: 'x', limit })).not.toMatch(/be a number, not "\d/);
  });

  it('is headed by the name that was called', () => {
    expect(() => checkedInput(executeWorkflow, {}, { name: 'start' })).toThrow(
      /^start: "workflow_name" is missing/,
    );
  });
});

describe('arguments by other names', () => {
  const takesAgent = operations.filter(({ input: { shape } }) => 'agent' in shape || 'agent_id' in shape);

  it.each(takesAgent.map((operation) => [operation.name, operation] as const))(
    'are understood by %s, whether it says agent or agent_id (M-34)',
    (_name, operation) => {
      const other = 'agent' in operation.input.shape ? 'agent_id' : 'agent';
      expect(complaintOf(operation, { [other]: 'dev' })).not.toMatch(/"agent/);
    },
  );

  it.each([
    [logDecision, { decision: 'PostgreSQL' }, { text: 'PostgreSQL' }],
    [runCheckpoint, { run_id: 'x', step: 1, step_name: 'Discovery' }, { step: 1, notes: 'Discovery' }],
    [saveSession, { agent: 'dev', done: ['a'], next_step: 'b' }, { work: ['a'], next: 'b' }],
  ])('are understood where models are known to guess them (M-60): %#', (operation, raw, own) => {
    expect(checkedInput(operation, raw)).toMatchObject(own);
  });
});
