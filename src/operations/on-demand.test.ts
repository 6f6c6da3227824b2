import { describe, expect, it } from 'vitest';
import { TOOLS } from './declared.prepared.ts';
import { operations } from './index.ts';
import { LATE } from './registry.ts';
import { OFFERED } from './offered.ts';
import { loadOperation } from './on-demand.ts';

describe('operations on demand', () => {
  it('are the operations themselves, each under its own name', async () => {
    for (const name of Object.keys(LATE))
      expect(await loadOperation(name), name).toBe(operations.find((operation) => operation.name === name));
  });

  it('are there for every tool, for what is behind one, and for what serves clients', () => {
    const reached = operations.filter(
      ({ toolset, behind, serves }) =>
        toolset !== undefined || behind !== undefined || (serves !== undefined && serves !== 'a2a'),
    );
    expect(Object.keys(LATE)).toEqual(reached.map(({ name }) => name));
  });

  it('refuse a name that nobody has, also one that objects have', async () => {
    await expect(loadOperation('no_such_operation')).rejects.toThrow('no_such_operation');
    await expect(loadOperation('constructor')).rejects.toThrow('constructor');
    await expect(loadOperation('task_approve')).rejects.toThrow('task_approve');
  });
});

describe('what is said of operations before they are loaded', () => {
  it('is plain data, which is all that can be put into the programs', () => {
    expect(JSON.parse(JSON.stringify(TOOLS))).toEqual(TOOLS);
    expect(JSON.parse(JSON.stringify(OFFERED))).toEqual(OFFERED);
  });

  it('is what the operations say, in their order', () => {
    const tools = operations.filter(({ toolset }) => toolset !== undefined);
    expect(TOOLS.map(({ name }) => name)).toEqual(tools.map(({ name }) => name));
    for (const [index, tool] of tools.entries()) {
      const { title, description, effect, toolset, runsPrograms } = tool;
      expect(TOOLS[index]).toMatchObject({ title, description, effect, toolset });
      expect('route' in (TOOLS[index] ?? {})).toBe('route' in tool);
      expect(TOOLS[index]?.runsPrograms).toBe(runsPrograms);
      expect('writes' in (TOOLS[index] ?? {})).toBe('writes' in tool);
    }
    expect(Object.keys(OFFERED)).toEqual(operations.map(({ name }) => name));
  });

  it('knows each word behind a unified tool once', () => {
    const words = operations.flatMap(({ behind = {} }) =>
      Object.entries(behind).map(([tool, word]) => `${tool} ${word}`),
    );
    expect(words).toEqual([...new Set(words)]);
  });
});
