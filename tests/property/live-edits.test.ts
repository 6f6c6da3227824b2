import { cp, mkdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { execute } from '../../src/operations/execute.ts';
import { sourcesUpdate } from '../../src/operations/git-sources/sources.ts';
import type { Context } from '../../src/operations/context.ts';
import { namedOperation } from '../../src/operations/offers.ts';
import { contextIn, temporaryFolder, testCall, withWatch } from '../support/app.ts';
import { agentText, workflowText, writeTree } from '../support/generated-tree.ts';
import { GitMachine } from '../support/git-machine.ts';

/** A long trial, 100 or 1,000 edits among 2,000 files: `BMAD_TEST_EDITS=1000 npx vitest run --project deep tests/property/live-edits.test.ts`. */
const USUAL = 50;
const EDITS_IN_ALL = Number(process.env['BMAD_TEST_EDITS'] ?? USUAL);
const IS_LONG = EDITS_IN_ALL > USUAL;
const TIMEOUT_MS = 10_000 * Math.max(60, EDITS_IN_ALL);
const WORKFLOWS = IS_LONG ? 960 : 40;
/** Those between two looks. */
const AT_ONCE = IS_LONG ? 10 : 3;

/** Where BMAD is: in a project, or in the home of its user. */
const rootIn = (folder: string): string =>
  join(folder, existsSync(join(folder, '.bmad')) ? '.bmad' : '_bmad', 'bmm');
const flowsIn = (folder: string): string => join(rootIn(folder), 'workflows');
const agentsIn = (folder: string): string => join(rootIn(folder), 'agents');

type Edit = (folder: string, which: number, mark: string) => Promise<unknown>;

const names = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder).sort() : []);
/** A link, which leads to one workflow after the other, and now and then nowhere. */
const LINK = 'linked';
const flowOf = (folder: string, which: number): string => {
  const all = names(flowsIn(folder)).filter((name) => name !== LINK);
  return join(flowsIn(folder), all[which % Math.max(1, all.length)] ?? 'flow-0');
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
    const place = join(flowsIn(folder), `new-${which}`);
    await mkdir(place, { recursive: true });
    await writeFile(join(place, 'workflow.md'), workflowText(`new-${which}`, mark));
  },
  agent: async (folder, which, mark) => {
    await mkdir(agentsIn(folder), { recursive: true });
    await writeFile(join(agentsIn(folder), `agent-${which}.md`), agentText(`agent-${which}`, mark));
  },
  remove: (folder, which) => rm(flowOf(folder, which), { recursive: true, force: true }),
  move: async (folder, which) =>
    rename(flowOf(folder, which), join(flowsIn(folder), `moved-${which}`)).catch(() => undefined),
  async copy(folder, which) {
    const [from, to] = [flowOf(folder, which), join(flowsIn(folder), `copy-${which}`)];
    if (from !== to) await cp(from, to, { recursive: true });
  },
  async link(folder, which) {
    await mkdir(flowsIn(folder), { recursive: true });
    const place = join(flowsIn(folder), LINK);
    await rm(place, { force: true });
    // By its name, so that it leads to the same in a clone.
    await symlink(basename(flowOf(folder, which)), place, 'junction');
  },
  template: (folder, which) => rm(join(flowOf(folder, which), 'template.md'), { force: true }),
  async rename(folder) {
    const from = rootIn(folder);
    const to = `${from}x`;
    await rename(from, to);
    await rename(to, from);
  },
  config: (folder, which) => writeFile(join(rootIn(folder), 'config.yaml'), `user_name: U${which}\n`),
};

async function answers(context: Context, which: number): Promise<string[]> {
  const asked: [string, Record<string, unknown>][] = [
    ['list', { what: 'workflows', limit: 200 }],
    ['list', { what: 'agents', limit: 200 }],
    ['search', { query: 'research of the market' }],
    ['read', { target: `flow-${which}`, kind: 'workflow' }],
    ['execute', { name: `new-${which}` }],
    ['read', { target: `bmad://bmm/workflows/${LINK}/workflow.md` }],
    ['list', { what: 'resources', pattern: 'bmm/**/template.md', limit: 200 }],
  ];
  const all: string[] = [];
  for (const [name, input] of asked) {
    const outcome = await execute(await namedOperation(name), input, context, testCall());
    all.push(outcome.ok ? JSON.stringify(outcome.data) : outcome.error.text);
  }
  return all;
}

/** Where edits are made, and how servers are opened that come to see them. */
interface Edited {
  folder: string;
  open(): Promise<Context>;
  /** What is done before they count. */
  publish(): Promise<unknown>;
}

async function editedTree(kind: 'local' | 'user' | 'git'): Promise<Edited> {
  if (kind === 'git') return editedRepository();
  const [folder, other] = [await temporaryFolder(afterAll), await temporaryFolder(afterAll)];
  await writeTree(folder, WORKFLOWS);
  if (kind === 'user') await rename(join(folder, '_bmad'), join(folder, '.bmad'));
  const flags = { discovery: kind };
  return {
    folder,
    open: () => (kind === 'user' ? contextIn(other, { flags, home: folder }) : contextIn(folder, { flags })),
    publish: async () => undefined,
  };
}

/** Commits count once they have been fetched and approved, which another process does here. */
async function editedRepository(): Promise<Edited> {
  const machine = await GitMachine.make(afterAll);
  const repository = await machine.repository('team');
  await writeTree(repository.work, WORKFLOWS);
  await repository.commit({});
  const place = {
    flags: { discovery: 'strict', git: [repository.source], gitApproval: 'auto' },
    env: machine.env(),
    home: machine.home,
  };
  const publish = async (): Promise<void> => {
    await repository.commit({});
    await machine.ok(sourcesUpdate, {}, place);
    const [pin] = Object.values(await machine.pins());
    expect(pin?.commit, 'what is served').toBe(repository.head);
  };
  await publish();
  return { folder: repository.work, open: () => contextIn(machine.project, place), publish };
}

describe.each(['local', 'user', 'git'] as const)('random edits of a tree of kind %s', (kind) => {
  it(
    'are seen by the next list, read and search as by a server that has just been started',
    async () => {
      const { folder, open, publish } = await editedTree(kind);
      const running = await open();
      const watching = await withWatch(await open(), onTestFinished);
      for (const server of [running, watching])
        expect((await answers(server, 1))[0], 'what is edited is served').toContain('flow-1');
      let done = 0;
      const edit = fc.record({
        what: fc.constantFrom(...Object.keys(EDITS)),
        which: fc.nat(WORKFLOWS),
        mark: fc.constantFrom('Plain', 'Alpha', 'Gamma', 'About the market'),
      });
      await fc.assert(
        fc.asyncProperty(
          fc.array(edit, { minLength: AT_ONCE, maxLength: AT_ONCE }),
          fc.nat(WORKFLOWS),
          async (edits, at) => {
            for (const { what, which, mark } of edits) await EDITS[what]?.(folder, which, mark);
            done += edits.length;
            await publish();
            const { which } = edits[0] ?? { which: at };
            const told = await answers(watching, which);
            const fresh = await answers(await open(), which);
            expect(told, 'with a watch').toEqual(fresh);
            expect(await answers(running, which)).toEqual(fresh);
          },
        ),
        // What is on disk goes on from one to the next: there is nothing to make smaller.
        { numRuns: Math.ceil(EDITS_IN_ALL / AT_ONCE), endOnFailure: true },
      );
      expect(done).toBeGreaterThanOrEqual(EDITS_IN_ALL);
    },
    TIMEOUT_MS,
  );
});
