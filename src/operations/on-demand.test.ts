import { describe, expect, it } from 'vitest';
import { ACTIONS, TOOLS } from './declared.prepared.ts';
import { operations } from './index.ts';
import { COMPANIONS } from './unified/manage-project.ts';
import { loadOperation, REACHABLE_NAMES } from './on-demand.ts';

describe('operations on demand', () => {
  it('are the operations themselves, each under its own name', async () => {
    for (const name of REACHABLE_NAMES)
      expect(await loadOperation(name), name).toBe(operations.find((operation) => operation.name === name));
  });

  it('are there for every tool', () => {
    expect(
      TOOLS.map(({ name }) => name).filter((name) => !REACHABLE_NAMES.some((own) => own === name)),
    ).toEqual([]);
  });

  it('refuse a name that nobody has, also one that objects have', async () => {
    await expect(loadOperation('no_such_operation')).rejects.toThrow('no_such_operation');
    await expect(loadOperation('constructor')).rejects.toThrow('constructor');
  });
});

describe('what is said of operations before they are loaded', () => {
  it('is plain data, which is all that can be put into the programs', () => {
    expect(JSON.parse(JSON.stringify(TOOLS))).toEqual(TOOLS);
    expect(JSON.parse(JSON.stringify(ACTIONS))).toEqual(ACTIONS);
  });

  it('is what the operations say, in their order', () => {
    const tools = operations.filter(({ toolset }) => toolset !== undefined);
    expect(TOOLS.map(({ name }) => name)).toEqual(tools.map(({ name }) => name));
    for (const [index, tool] of tools.entries()) {
      const { title, description, effect, toolset, handsOver, runsPrograms } = tool;
      expect(TOOLS[index]).toMatchObject({ title, description, effect, toolset });
      expect(TOOLS[index]?.handsOver).toBe(handsOver);
      expect(TOOLS[index]?.runsPrograms).toBe(runsPrograms);
      expect('writes' in (TOOLS[index] ?? {})).toBe('writes' in tool);
    }
    expect(ACTIONS.map(([name]) => name)).toEqual(COMPANIONS.map(({ name }) => name));
  });
});
