import { cp, mkdir, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { execute } from '../../src/operations/execute.ts';
import type { Context } from '../../src/operations/context.ts';
import { contextIn, temporaryFolder, testCall, withWatch } from '../support/app.ts';
import { agentText, workflowText, writeTree } from '../support/generated-tree.ts';

/** A long trial, 1,000 edits among 2,000 files: `BMAD_TEST_ROUNDS=18 npx vitest run tests/property/live-edits.test.ts`. */
const ROUNDS = Number(process.env['BMAD_TEST_ROUNDS'] ?? 1);
const IS_LONG = ROUNDS > 1;
const TIMEOUT_MS = 300_000 * ROUNDS;
const WORKFLOWS = IS_LONG ? 960 : 40;
const FLOWS = '_bmad/bmm/workflows';
const AGENTS = '_bmad/bmm/agents';

type Edit = (folder: string, which: number, mark: string) => Promise<unknown>;

const names = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder).sort() : []);
const flowOf = (folder: string, which: number): string => {
  const all = names(join(folder, FLOWS));
  return join(folder, FLOWS, all[which % Math.max(1, all.length)] ?? 'flow-0');
};

const EDITS: Record<string, Edit> = {
  write: (folder, which, mark) =>
    writeFile(join(flowOf(folder, which), 'workflow.md'), workflowText(`flow-${which}`, mark)),
  async save(folder, which, mark) {
    const file = join(flowOf(folder, which), 'workflow.md');
    await writeFile(`${file}.new`, workflowText(`flow-${which}`, mark));
    await rename(`${file}.new`, file);
  },
  touch: async (folder, which) => utimes(flowOf(folder, which), 1_000, which),
  async add(folder, which, mark) {
    const place = join(folder, FLOWS, `new-${which}`);
    await mkdir(place, { recursive: true });
    await writeFile(join(place, 'workflow.md'), workflowText(`new-${which}`, mark));
  },
  agent: async (folder, which, mark) => {
    await mkdir(join(folder, AGENTS), { recursive: true });
    await writeFile(join(folder, AGENTS, `agent-${which}.md`), agentText(`agent-${which}`, mark));
  },
  remove: (folder, which) => rm(flowOf(folder, which), { recursive: true, force: true }),
  move: async (folder, which) =>
    rename(flowOf(folder, which), join(folder, FLOWS, `moved-${which}`)).catch(() => undefined),
  copy: async (folder, which) =>
    cp(flowOf(folder, which), join(folder, FLOWS, `copy-${which}`), { recursive: true }),
  template: (folder, which) => rm(join(flowOf(folder, which), 'template.md'), { force: true }),
  async rename(folder) {
    const [from, to] = ['bmm', 'bmx'].map((name) => join(folder, '_bmad', name)) as [string, string];
    await rename(from, to);
    await rename(to, from);
  },
  config: (folder, which) => writeFile(join(folder, '_bmad/bmm/config.yaml'), `user_name: U${which}\n`),
};

async function answers(context: Context, which: number): Promise<string[]> {
  const asked: [string, Record<string, unknown>][] = [
    ['list', { what: 'workflows', limit: 200 }],
    ['list', { what: 'agents', limit: 200 }],
    ['search', { query: 'research of the market' }],
    ['read', { target: `flow-${which}`, kind: 'workflow' }],
    ['execute', { name: `new-${which}` }],
    ['list', { what: 'resources', pattern: 'bmm/**/template.md', limit: 200 }],
  ];
  const all: string[] = [];
  for (const [name, input] of asked) {
    const outcome = await execute(await context.operation(name), input, context, testCall());
    all.push(outcome.ok ? JSON.stringify(outcome.data) : outcome.error.text);
  }
  return all;
}

describe('random edits of a tree', () => {
  it(
    'are seen by the next list, read and search as by a server that has just been started',
    async () => {
      const folder = await temporaryFolder(afterAll);
      await writeTree(folder, WORKFLOWS);
      const outside = { flags: { discovery: 'local' } };
      const running = await contextIn(folder, outside);
      const watching = await withWatch(await contextIn(folder, outside), onTestFinished);
      for (const server of [running, watching]) await answers(server, 1);
      const edit = fc.record({
        kind: fc.constantFrom(...Object.keys(EDITS)),
        which: fc.nat(WORKFLOWS),
        mark: fc.constantFrom('Plain', 'Alpha', 'Gamma', 'About the market'),
      });
      await fc.assert(
        fc.asyncProperty(
          fc.array(edit, { minLength: 1, maxLength: IS_LONG ? 10 : 3 }),
          fc.nat(WORKFLOWS),
          async (edits, at) => {
            for (const { kind, which, mark } of edits) await EDITS[kind]?.(folder, which, mark);
            const { which } = edits[0] ?? { which: at };
            const told = await answers(watching, which);
            const fresh = await answers(await contextIn(folder, outside), which);
            expect(told, 'with a watch').toEqual(fresh);
            expect(await answers(running, which)).toEqual(fresh);
          },
        ),
        // What is on disk goes on from one to the next: there is nothing to make smaller.
        { numRuns: 10 * ROUNDS, endOnFailure: true },
      );
    },
    TIMEOUT_MS,
  );
});
